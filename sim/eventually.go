package sim

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"github.com/millrace-dev/millrace/core/sched"
)

// Eventually demands that p becomes true in every fair continuation, from here on. p is evaluated after every step and reads
// with Peek. An execution that ends without it fails as "assertion ID". One that could go on for ever without it fails as
// "livelock ID": the same state came back, every task that could go on in between did, and repeating exactly those steps
// brought the state back many times. A step bound alone proves neither.
//
// The state is where every task stands (its stack and what it is about to do), what primitives hold or wait for, the timers, and what
// the pointers in state lead to. What is in none of these, such as a local counter, can make a state look the same that is
// not; the repetitions are there for it. So name what the loop in question reads, and keep the world small.
func (w *World) Eventually(id string, p func() bool, state ...any) {
	l := &liveness{w: w, id: id, p: p, state: state, seen: map[uint64]visits{}, tried: map[uint64]bool{}}
	w.Invariant(id, l.step)
	w.Finally(func() {
		if !l.met && !p() {
			w.Require(false, id, "every task has ended, and it never came true")
		}
	})
}

const (
	livelockRounds = 50   // of a short cycle
	livelockSteps  = 4000 // of the repetition of a long one, but three rounds at least
	stateDepth     = 8
	stateItems     = 256
)

// liveness watches one promise.
type liveness struct {
	w     *World
	id    string
	p     func() bool
	state []any
	met   bool

	past  []moment
	seen  map[uint64]visits // by state
	tried map[uint64]bool   // states whose cycle did not repeat
	// The last step at which a task could go on and at which it did, by id.
	able, ran []int

	cycle cycle
}

// visits are the first and the last time that a state was there, as indices of past.
type visits struct{ first, last int }

// moment is the state after one step.
type moment struct {
	state uint64
	task  int32 // who took the step
	op    sched.Op
	h     *sched.Hook
	fires int // timers fired so far
}

// cycle is a part of the past that is being repeated: its steps are past[from+1 : from+1+size].
type cycle struct {
	from, size int
	at         int // steps of the repetition so far
	rounds     int // that it must last
}

// step is evaluated like an invariant, after each step.
func (l *liveness) step() error {
	if l.met {
		return nil
	}
	if l.met = l.p(); l.met {
		l.release()
		return nil
	}
	l.note()
	if l.cycle.size > 0 {
		return l.repeat()
	}
	now := len(l.past) - 1
	state := l.past[now].state
	back, ok := l.seen[state]
	if ok && !l.tried[state] && (l.fair(back.last) || l.fair(back.first)) {
		l.cycle = cycle{from: back.first, size: now - back.first}
		if l.fair(back.last) {
			l.cycle = cycle{from: back.last, size: now - back.last}
		}
		l.cycle.rounds = min(max(livelockSteps/l.cycle.size, 3), livelockRounds)
		l.force()
	}
	if !ok {
		back.first = now
	}
	back.last = now
	l.seen[state] = back
	return nil
}

// note records the state, and who can go on in it.
func (l *liveness) note() {
	w := l.w
	t := w.current
	if t == nil || t.id < 0 {
		t = &w.clockTask
	} else if t.state == running {
		t.stand = standing()
	}
	l.past = append(l.past, moment{w.stateHash(l.state), t.id, t.op, t.h, w.fires})
	now := len(l.past) - 1
	for len(l.able) < len(w.tasks) {
		l.able, l.ran = append(l.able, -1), append(l.ran, -1)
	}
	if t.id >= 0 {
		l.ran[t.id] = now
	}
	for i := 0; ; i++ {
		c := w.candidate(i)
		if c == nil {
			break
		}
		l.able[c.id] = now
	}
}

// fair reports whether everybody who could go on since then did, the clock included: a schedule that starves somebody is
// no fault of the program.
func (l *liveness) fair(since int) bool {
	for id := range l.able {
		if l.able[id] > since && l.ran[id] <= since {
			return false
		}
	}
	return len(l.w.timers) == 0 || l.w.fires > l.past[since].fires
}

// repeat compares the step that was taken with the one that the cycle has in its place.
func (l *liveness) repeat() error {
	c := &l.cycle
	now, then := l.past[len(l.past)-1], l.past[c.from+1+c.at%c.size]
	if now.task != then.task || now.state != then.state || now.op != then.op {
		l.tried[l.past[c.from].state] = true
		l.release()
		return nil
	}
	if c.at++; c.at < c.size*c.rounds {
		return nil
	}
	l.w.fail("livelock", l.id, l.explain())
	l.release()
	return sched.Broken(l.id, "livelock")
}

func (l *liveness) explain() string {
	var b strings.Builder
	c := l.cycle
	fmt.Fprintf(&b, "it can stay false for ever: these %d steps lead back to the same state, starve nobody, and were repeated %d times", c.size, c.rounds)
	for i, m := range l.past[c.from+1 : c.from+1+c.size] {
		if i == maxCycleShown {
			fmt.Fprintf(&b, "\n  … %d more", c.size-i)
			break
		}
		name := "clock"
		if m.task >= 0 {
			name = l.w.tasks[m.task].name
		}
		fmt.Fprintf(&b, "\n  task %d %q goes on to %s", m.task, name, strings.TrimSpace(m.op.String()+" "+objectName(m.h)))
	}
	return b.String()
}

// maxCycleShown bounds the steps of a cycle that a verdict lists.
const maxCycleShown = 40

// force lets the steps of the cycle be chosen again, by a strategy that can be overruled: one that follows a recorded schedule
// or visits all of them goes its own way, and is only watched.
func (l *liveness) force() {
	w := l.w
	if _, ok := w.strategy.(unforced); ok {
		return
	}
	f := &forced{l: l, under: w.strategy, random: w.random, quick: w.quick, always: w.always}
	w.strategy, w.random, w.quick, w.always = f, nil, false, true
}

// release gives the choice back.
func (l *liveness) release() {
	l.cycle.size = 0
	if f, ok := l.w.strategy.(*forced); ok && f.l == l {
		w := l.w
		w.strategy, w.random, w.quick, w.always = f.under, f.random, f.quick, f.always
	}
}

// unforced is a strategy that a repetition must not overrule.
type unforced interface{ unforced() }

func (s *replay) unforced() {}
func (s *search) unforced() {}

// forced repeats a cycle.
type forced struct {
	l      *liveness
	under  strategy
	random *ahead
	quick  bool
	always bool
}

func (f *forced) begin(*World, uint64) {}

func (f *forced) pick(w *World, n int) int {
	c := f.l.cycle
	if c.size > 0 {
		want := f.l.past[c.from+1+c.at%c.size].task
		for i := range n {
			if candidateID(w, i) == want {
				return i
			}
		}
	}
	f.l.release()
	if n == 1 {
		return 0
	}
	return f.under.pick(w, n)
}

func (f *forced) draw(w *World, n uint64) uint64 { return f.under.draw(w, n) }

// standing is where the calling task stands.
func standing() uint64 {
	var pcs [32]uintptr
	h := uint64(1)
	for _, pc := range pcs[:runtime.Callers(4, pcs[:])] {
		h = mix(h, uint64(pc), 0)
	}
	return h
}

// nameHash names an object by kind and name: ids depend on the schedule.
func nameHash(h *sched.Hook) uint64 {
	if h == nil {
		return 0
	}
	return hashText(uint64(h.Kind), h.Name)
}

// stateHash is the state as far as it can be seen.
func (w *World) stateHash(roots []any) uint64 {
	h := uint64(2)
	for _, t := range w.tasks {
		if t.state < ended {
			h = mix(mix(h, t.stand, uint64(t.op)), uint64(t.state), nameHash(t.h))
			h = mix(h, hashText(12, t.name), uint64(len(t.arms)))
		}
	}
	for _, o := range w.objects {
		if o.n != 0 || o.writing || o.intent || o.holder != nil || o.closed && o.hook.Kind == sched.KindChan {
			holder := uint64(0)
			if o.holder != nil {
				holder = uint64(o.holder.id) + 1
			}
			h = mix(mix(h, nameHash(&o.hook), uint64(o.n)), holder, flags(o.writing, o.intent, o.closed))
		}
	}
	for _, t := range w.timers {
		h = mix(h, nameHash(&t.o.hook), uint64(t.when-w.now))
	}
	for _, r := range roots {
		h = mix(h, valueHash(reflect.ValueOf(r), 0), 0)
	}
	return h
}

func flags(bits ...bool) uint64 {
	x := uint64(0)
	for _, b := range bits {
		x <<= 1
		if b {
			x |= 1
		}
	}
	return x
}

// valueHash is a value's contents, never an address. What it cannot see it leaves out.
func valueHash(v reflect.Value, depth int) uint64 {
	if !v.IsValid() || depth > stateDepth {
		return 0
	}
	switch v.Kind() {
	case reflect.Bool:
		return flags(true, v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return mix(3, uint64(v.Int()), 0)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return mix(4, v.Uint(), 0)
	case reflect.String:
		return hashText(13, v.String())
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return 5
		}
		if v.Type() == reflect.TypeFor[*sched.Hook]() {
			return 6
		}
		return mix(7, valueHash(v.Elem(), depth+1), 0)
	case reflect.Slice, reflect.Array:
		h := mix(8, uint64(v.Len()), 0)
		for i := range min(v.Len(), stateItems) {
			h = mix(h, valueHash(v.Index(i), depth+1), 0)
		}
		return h
	case reflect.Struct:
		h := uint64(9)
		for i := range v.NumField() {
			h = mix(h, valueHash(v.Field(i), depth+1), uint64(i))
		}
		return h
	case reflect.Map:
		h := mix(10, uint64(v.Len()), 0)
		for it := v.MapRange(); it.Next(); { //order:a sum
			h += mix(valueHash(it.Key(), depth+1), valueHash(it.Value(), depth+1), 0)
		}
		return h
	default:
		return 11
	}
}
