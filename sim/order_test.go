package sim

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

// act is one step of a history.
type act func(e *orderWorld)

// told is a step and who takes it. Actors are tasks with one-letter names.
type told struct {
	who string
	do  act
}

// history is steps in the order in which they happen: one execution. A step that waits is done as soon as it can be.
type history []told

// orderWorld is what the steps of a history use.
type orderWorld struct {
	w       *World
	s       sched.Scheduler
	what    sched.Cell[int]
	flag    [2]sched.Int64
	gate    *sched.Chan[int] // leads on from the taker, who may be waited for
	atomics atomicSet
	m       sched.Mutex
	rw      sched.RWMutex
	c       [3]*sched.Chan[int] // by capacity
	d       *sched.Chan[int]    // another one without a buffer
	wg      sched.WaitGroup
	note    sched.Notify
	sem     sched.Semaphore
	cond    sched.Cond
	watch   sched.Watch[int]
	watcher *sched.Watcher[int]
	once    sched.Once
	written sched.WriteOnce[int]
	scope   *sched.Scope
	below   *sched.Scope
	fast    *sched.Timer
	slow    *sched.Timer
	held    *sched.Notified
	node    *Node
	story   history
	done    []bool
	started bool // every actor
}

func newOrderWorld(w *World, story history) *orderWorld {
	s := w.Scheduler()
	e := &orderWorld{w: w, s: s, story: story, done: make([]bool, len(story))}
	e.what = sched.NewCell(s, "what", 0)
	for i := range e.flag {
		e.flag[i] = sched.NewInt64(s, fmt.Sprint("flag", i), 0)
	}
	e.atomics = newAtomicSet(s)
	e.m, e.rw, e.wg = sched.NewMutex(s, "m"), sched.NewRWMutex(s, "rw"), sched.NewWaitGroup(s, "wg")
	for i := range e.c {
		e.c[i] = sched.NewChan[int](s, fmt.Sprint("c", i), i)
	}
	e.d, e.gate = sched.NewChan[int](s, "d", 0), sched.NewChan[int](s, "gate", 1)
	e.note, e.sem, e.cond = sched.NewNotify(s, "note"), sched.NewSemaphore(s, "sem", 2), sched.NewCond(s, "cond", &e.m)
	e.watch, e.once, e.written = sched.NewWatch(s, "watch", 0), sched.NewOnce(s, "once"), sched.NewWriteOnce[int](s, "written")
	e.watcher = e.watch.Subscribe()
	e.scope = s.NewScope("scope")
	e.below = e.scope.Child("below")
	e.fast, e.slow = sched.NewTimer(s, "fast", time.Hour), sched.NewTimer(s, "slow", 2*time.Hour)
	e.fast.Stop()
	return e
}

// actor is the task that takes the steps of one letter.
func (e *orderWorld) actor(who string) func() {
	return func() {
		for i, x := range e.story {
			if x.who == who {
				e.s.Yield()
				x.do(e)
				e.done[i] = true
			}
		}
	}
}

// tells is the body of a check that is one history: its actors are started at the beginning, but for those that a step starts.
func (h history) tells(born string) func(*World) {
	return func(w *World) {
		e := newOrderWorld(w, h)
		w.strategy.(*scripted).e = e
		seen := born + body
		for _, x := range h {
			if !strings.Contains(seen, x.who) {
				seen += x.who
				w.Go(x.who, e.actor(x.who))
			}
		}
		e.started = true
		e.actor(body)()
	}
}

// body is the actor that the check's own task is.
const body = "M"

// scripted lets the task go on whose next step is the earliest one of the history that is not done.
type scripted struct{ e *orderWorld }

func (s *scripted) begin(w *World, _ uint64) { s.e, w.always = nil, true }

func (s *scripted) pick(w *World, n int) int {
	if s.e == nil {
		return 0
	}
	best, index := len(s.e.story)+1, 0
	for i := range n {
		if k := s.place(w.candidate(i)); k < best {
			best, index = k, i
		}
	}
	return index
}

// place is where in the history a task is. Who takes no part in it goes first: it starts actors, or ends the scope after all.
func (s *scripted) place(t *task) int {
	if t == nil {
		return len(s.e.story)
	}
	mine, name := false, t.name
	if name == "main" && s.e.started {
		name = body
	}
	for i, x := range s.e.story {
		if x.who == name {
			if !s.e.done[i] {
				return i
			}
			mine = true
		}
	}
	if mine {
		return len(s.e.story)
	}
	return -1
}

func (s *scripted) draw(_ *World, _ uint64) uint64 { return 0 }

// teller runs histories in one world, one after the other, so that what an execution leaves behind is seen by the next.
type teller struct {
	t *testing.T
	w *World
}

func newTeller(t *testing.T) *teller {
	o := newOptions([]Option{Steps(2000)})
	w := newWorld("history", nil, &o)
	t.Cleanup(w.drain)
	return &teller{t, w}
}

// expect runs one history. It must race on the Cell, or must not.
func (k *teller) expect(name, born string, races bool, h history) {
	k.t.Helper()
	k.w.body = h.tells(born)
	s := &scripted{}
	execute(k.w, s, 0)
	if s.e != nil && !k.w.failed && s.e.node == nil {
		for i, done := range s.e.done {
			if !done {
				k.t.Errorf("%s: step %d of %s was never taken", name, i, h[i].who)
			}
		}
	}
	switch got := k.w.verdict.String(); {
	case races && got != "race what":
		k.t.Errorf("%s: not ordered by anything, but verdict %q", name, got)
	case !races && k.w.failed:
		k.t.Errorf("%s: ordered, but verdict %q: %s", name, got, k.w.verdict.message)
	}
}

// edge is how one task may hand over to another: A gives, B takes.
type edge struct {
	name    string
	before  []told
	give    act
	between []told
	take    act
	waits   bool // B begins to take before A gives
	twoWay  bool // what the taker did before is ordered before what the giver does after
	none    bool // it looks like a hand-over, and orders nothing
}

func write(e *orderWorld) { *e.what.Edit()++ }
func read(e *orderWorld)  { _ = *e.what.View() }

// story is one history of the edge: the given steps before and after A gives, and around B's taking.
func (x edge) story(beforeGive, afterGive, beforeTake, afterTake history) history {
	h := append(history{}, x.before...)
	h = append(h, beforeTake...)
	if x.waits {
		h = append(h, told{"B", x.take})
	}
	h = append(append(h, beforeGive...), told{"A", x.give})
	h = append(append(h, afterGive...), x.between...)
	if !x.waits {
		h = append(h, told{"B", x.take})
	}
	return append(h, afterTake...)
}

// tell runs the histories of one edge. What A did before it gave is ordered before what B does after it took, for each kind of access, and
// so is what came to A, and where it goes from B. Nothing else is.
func (x edge) tell(k *teller) {
	k.t.Helper()
	aw, bw, ar, br := told{"A", write}, told{"B", write}, told{"A", read}, told{"B", read}
	k.expect(x.name+": write, write", "", x.none, x.story(history{aw}, nil, nil, history{bw}))
	k.expect(x.name+": write, read", "", x.none, x.story(history{aw}, nil, nil, history{br}))
	k.expect(x.name+": read, write", "", x.none, x.story(history{ar}, nil, nil, history{bw}))
	k.expect(x.name+": read, read", "", false, x.story(history{ar}, nil, nil, history{br}))
	k.expect(x.name+": after it gave", "", true, x.story(nil, history{aw}, nil, history{bw}))
	k.expect(x.name+": after it was taken", "", true, x.story(nil, nil, nil, history{bw, aw}))
	k.expect(x.name+": back", "", !x.twoWay, x.story(nil, nil, history{bw}, history{aw}))
	come := history{{"Z", write}, {"Z", func(e *orderWorld) { e.flag[0].Store(1) }}, {"A", func(e *orderWorld) { e.flag[0].Load() }}}
	gone := history{{"B", func(e *orderWorld) { e.gate.Send(1) }}, {"C", func(e *orderWorld) { e.gate.Receive() }}, {"C", write}}
	k.expect(x.name+": through", "", x.none, x.story(come, nil, nil, gone))
}

// Each rule by which one thing happens before another orders what it must, and nothing more.
func TestHappensBefore(t *testing.T) {
	k := newTeller(t)
	groups := [][]edge{chanEdges, rendezvousEdges, lockEdges, waiterEdges, valueEdges, scopeEdges}
	for _, group := range append(groups, atomicEdges()...) {
		for _, x := range group {
			x.tell(k)
		}
	}
	for _, x := range stories {
		k.expect(x.name, x.born, x.races, x.history)
	}
}
