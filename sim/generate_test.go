package sim

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

// genOp is one operation of a generated program, with its name for messages. It returns what it observed.
type genOp struct {
	name string
	do   func(e *genWorld, self int) string
}

// genProgram is a small program over one world of primitives: the operations of each task.
type genProgram struct {
	tasks [][]genOp
	setup func(e *genWorld) // what it needs beyond the usual
}

func (p genProgram) String() string {
	var b strings.Builder
	for i, ops := range p.tasks {
		names := make([]string, len(ops))
		for j := range ops {
			names[j] = ops[j].name
		}
		fmt.Fprintf(&b, "task %d: %s\n", i, strings.Join(names, "; "))
	}
	return b.String()
}

// genWorld holds one primitive of each kind, made for one execution.
type genWorld struct {
	w       *World
	s       sched.Scheduler
	x, y    sched.Uint64
	m, m2   sched.Mutex
	rw      sched.RWMutex
	c1, c0  *sched.Chan[int]
	d0      *sched.Chan[int]
	note    sched.Notify
	sem     sched.Semaphore
	cond    sched.Cond
	watch   sched.Watch[int]
	once    sched.Once
	written sched.WriteOnce[int]
	wg      sched.WaitGroup
	scope   *sched.Scope
	below   *sched.Scope
	node    *Node
	timer   *sched.Timer
	cell    sched.Cell[int]
	plain   int // what nobody announces
	states  string
	logs    []string
}

func newGenWorld(w *World, tasks int) *genWorld {
	s := w.Scheduler()
	e := &genWorld{w: w, s: s, logs: make([]string, tasks)}
	e.x, e.y = sched.NewUint64(s, "x", 0), sched.NewUint64(s, "y", 0)
	e.m, e.m2 = sched.NewMutex(s, "m"), sched.NewMutex(s, "m2")
	e.rw = sched.NewRWMutex(s, "rw")
	e.c1, e.c0, e.d0 = sched.NewChan[int](s, "c1", 1), sched.NewChan[int](s, "c0", 0), sched.NewChan[int](s, "d0", 0)
	e.note, e.sem = sched.NewNotify(s, "note"), sched.NewSemaphore(s, "sem", 2)
	e.cond, e.watch = sched.NewCond(s, "cond", &e.m), sched.NewWatch(s, "watch", 0)
	e.once, e.written = sched.NewOnce(s, "once"), sched.NewWriteOnce[int](s, "written")
	e.wg, e.scope = sched.NewWaitGroup(s, "wg"), s.NewScope("scope")
	e.below = e.scope.Child("below")
	e.cell = sched.NewCell(s, "cell", 0)
	return e
}

// body returns the check; final receives the outcome's parts when the execution is over.
func (p genProgram) body(current **genWorld) func(*World) {
	return func(w *World) {
		e := newGenWorld(w, len(p.tasks))
		*current = e
		if p.crashes() {
			e.node = w.Node("n")
		}
		if p.setup != nil {
			p.setup(e)
		}
		for i, ops := range p.tasks {
			run := func() {
				for _, op := range ops {
					e.logs[i] += op.do(e, i) + " "
				}
				e.logs[i] += "end"
			}
			if e.node != nil && i > 0 {
				e.node.Go(fmt.Sprint("t", i), run)
			} else {
				w.Go(fmt.Sprint("t", i), run)
			}
		}
	}
}

func (p genProgram) crashes() bool {
	for _, op := range p.tasks[0] {
		if op.name == "crash" {
			return true
		}
	}
	return false
}

// outcome is everything that a program's tasks could tell apart. A verdict that ends an execution early leaves the other tasks
// wherever they are, so only a verdict that nothing can go on is combined with their progress.
func (e *genWorld) outcome(w *World) string {
	if w.failed && w.verdict.kind != "deadlock" && w.verdict.kind != "leak" {
		return w.verdict.String()
	}
	now := w.now.String()
	if w.opts.early {
		now = "?" // whether a timer fired that nobody waited for
	}
	return fmt.Sprintf("%s | %s | x=%d y=%d len=%d free=%d now=%s%s", w.verdict.kind, strings.Join(e.logs, " / "), e.x.Peek(), e.y.Peek(),
		e.c1.PeekLen(), e.sem.Free(), now, e.states)
}

var errBelow = errors.New("below")

func show[T any](v T) string { return fmt.Sprint(v) }

// Families of operations. A program draws from one to three of them, so that its tasks meet.
var genFamilies = map[string][]genOp{
	"atomic": {
		{"x.load", func(e *genWorld, _ int) string { return show(e.x.Load()) }},
		{"y.load", func(e *genWorld, _ int) string { return show(e.y.Load()) }},
		{"x.store", func(e *genWorld, self int) string { e.x.Store(uint64(self) + 5); return "" }},
		{"y.store", func(e *genWorld, self int) string { e.y.Store(uint64(self) + 5); return "" }},
		{"x.add", func(e *genWorld, _ int) string { return show(e.x.Add(1)) }},
		{"x.cas", func(e *genWorld, _ int) string { return show(e.x.CompareAndSwap(1, 2)) }},
		{"y.swap", func(e *genWorld, self int) string { return show(e.y.Swap(uint64(self))) }},
	},
	"mutex": {
		{"lock+x", func(e *genWorld, _ int) string {
			e.m.Lock()
			v := e.x.Add(1)
			e.m.Unlock()
			return show(v)
		}},
		{"lock", func(e *genWorld, _ int) string { e.m.Lock(); e.m.Unlock(); return "" }},
		{"trylock", func(e *genWorld, _ int) string {
			if !e.m.TryLock() {
				return "busy"
			}
			e.m.Unlock()
			return "got"
		}},
		{"nest", func(e *genWorld, _ int) string {
			e.m.Lock()
			e.m2.Lock()
			e.m2.Unlock()
			e.m.Unlock()
			return ""
		}},
		{"nest back", func(e *genWorld, _ int) string {
			e.m2.Lock()
			e.m.Lock()
			e.m.Unlock()
			e.m2.Unlock()
			return ""
		}},
	},
	"rwmutex": {
		{"rlock+x", func(e *genWorld, _ int) string {
			e.rw.RLock()
			v := e.x.Load()
			e.rw.RUnlock()
			return show(v)
		}},
		{"wlock+x", func(e *genWorld, _ int) string {
			e.rw.Lock()
			v := e.x.Add(1)
			e.rw.Unlock()
			return show(v)
		}},
		{"tryrlock", func(e *genWorld, _ int) string {
			if !e.rw.TryRLock() {
				return "busy"
			}
			e.rw.RUnlock()
			return "got"
		}},
		{"trywlock", func(e *genWorld, _ int) string {
			if !e.rw.TryLock() {
				return "busy"
			}
			e.rw.Unlock()
			return "got"
		}},
	},
	"buffered": {
		{"c1.send", func(e *genWorld, self int) string { e.c1.Send(self); return "" }},
		{"c1.recv", func(e *genWorld, _ int) string { v, ok := e.c1.Receive(); return show(v) + show(ok) }},
		{"c1.trysend", func(e *genWorld, self int) string { return show(e.c1.TrySend(self)) }},
		{"c1.tryrecv", func(e *genWorld, _ int) string {
			v, ok, ready := e.c1.TryReceive()
			return fmt.Sprint(v, ok, ready)
		}},
		{"c1.len", func(e *genWorld, _ int) string { return show(e.c1.Len()) }},
		{"c1.close", func(e *genWorld, _ int) string { e.c1.Close(); return "" }},
	},
	"rendezvous": {
		{"c0.send", func(e *genWorld, self int) string { e.c0.Send(self); return "" }},
		{"c0.recv", func(e *genWorld, _ int) string { v, ok := e.c0.Receive(); return show(v) + show(ok) }},
		{"c0.trysend", func(e *genWorld, self int) string { return show(e.c0.TrySend(self)) }},
		{"c0.tryrecv", func(e *genWorld, _ int) string {
			v, ok, ready := e.c0.TryReceive()
			return fmt.Sprint(v, ok, ready)
		}},
		{"x.load", func(e *genWorld, _ int) string { return show(e.x.Load()) }},
		{"x.store", func(e *genWorld, self int) string { e.x.Store(uint64(self) + 5); return "" }},
		{"c0.close", func(e *genWorld, _ int) string { e.c0.Close(); return "" }},
	},
	"select": {
		{"recv c0|send d0", func(e *genWorld, self int) string {
			return show(sched.Select2(e.c0.OnReceive(), e.d0.OnSend(self)))
		}},
		{"send c0|recv d0", func(e *genWorld, self int) string {
			return show(sched.Select2(e.c0.OnSend(self), e.d0.OnReceive()))
		}},
		{"recv c1|send c0", func(e *genWorld, self int) string {
			return show(sched.Select2(e.c1.OnReceive(), e.c0.OnSend(self)))
		}},
		{"send c1|recv c0", func(e *genWorld, self int) string {
			return show(sched.Select2(e.c1.OnSend(self), e.c0.OnReceive()))
		}},
		{"recv c1|done", func(e *genWorld, _ int) string {
			return show(sched.Select2(e.c1.OnReceive(), e.scope.Done()))
		}},
		{"c0.send", func(e *genWorld, self int) string { e.c0.Send(self); return "" }},
		{"d0.recv", func(e *genWorld, _ int) string { v, ok := e.d0.Receive(); return show(v) + show(ok) }},
		{"cancel", func(e *genWorld, _ int) string { e.scope.Cancel(nil); return "" }},
	},
	"notify": {
		{"one", func(e *genWorld, _ int) string { e.note.One(); return "" }},
		{"all", func(e *genWorld, _ int) string { e.note.All(); return "" }},
		{"wait", func(e *genWorld, _ int) string { return show(e.note.Wait(nil)) }},
		{"wait in scope", func(e *genWorld, _ int) string { return show(e.note.Wait(e.scope)) }},
		{"drop", func(e *genWorld, _ int) string { e.note.Register().Drop(); return "" }},
		{"cancel", func(e *genWorld, _ int) string { e.scope.Cancel(nil); return "" }},
		{"x.load", func(e *genWorld, _ int) string { return show(e.x.Load()) }},
		{"x.add", func(e *genWorld, _ int) string { return show(e.x.Add(1)) }},
	},
	"semaphore": {
		{"acquire 1", func(e *genWorld, _ int) string { return show(e.sem.Acquire(e.scope, 1)) }},
		{"acquire 2", func(e *genWorld, _ int) string { return show(e.sem.Acquire(nil, 2)) }},
		{"with 1", func(e *genWorld, _ int) string {
			if err := e.sem.Acquire(e.scope, 1); err != nil {
				return "ended"
			}
			v := e.x.Add(1)
			e.sem.Release(1)
			return show(v)
		}},
		{"with 2", func(e *genWorld, _ int) string {
			if err := e.sem.Acquire(e.scope, 2); err != nil {
				return "ended"
			}
			e.sem.Release(2)
			return "had"
		}},
		{"try 1", func(e *genWorld, _ int) string {
			if !e.sem.TryAcquire(1) {
				return "busy"
			}
			e.sem.Release(1)
			return "got"
		}},
		{"cancel", func(e *genWorld, _ int) string { e.scope.Cancel(nil); return "" }},
	},
	"cond": {
		{"await x", func(e *genWorld, _ int) string {
			e.m.Lock()
			defer e.m.Unlock()
			for range 3 {
				if e.x.Load() > 0 {
					return show(e.x.Load())
				}
				e.cond.Wait()
			}
			return "late"
		}},
		{"x+signal", func(e *genWorld, _ int) string {
			e.m.Lock()
			e.x.Add(1)
			e.m.Unlock()
			e.cond.Signal()
			return ""
		}},
		{"x+broadcast", func(e *genWorld, _ int) string {
			e.m.Lock()
			e.x.Add(1)
			e.cond.Broadcast()
			e.m.Unlock()
			return ""
		}},
		{"signal", func(e *genWorld, _ int) string { e.cond.Signal(); return "" }},
	},
	"values": {
		{"watch.set", func(e *genWorld, self int) string { e.watch.Set(self + 1); return "" }},
		{"watch.get", func(e *genWorld, _ int) string { return show(e.watch.Get()) }},
		{"watch.changed", func(e *genWorld, _ int) string {
			r := e.watch.Subscribe()
			err := r.Changed(e.scope)
			return show(err) + show(r.Get())
		}},
		{"written.set", func(e *genWorld, self int) string { return show(e.written.Set(self)) }},
		{"written.get", func(e *genWorld, _ int) string { v, ok := e.written.Get(); return show(v) + show(ok) }},
		{"written.wait", func(e *genWorld, _ int) string { v, err := e.written.Wait(e.scope); return show(v) + show(err) }},
		{"once", func(e *genWorld, self int) string {
			e.once.Do(func() { e.x.Store(uint64(self) + 1) })
			return show(e.x.Load())
		}},
		{"cancel", func(e *genWorld, _ int) string { e.scope.Cancel(nil); return "" }},
	},
	"group": {
		{"wg.add", func(e *genWorld, _ int) string { e.wg.Add(1); return "" }},
		{"wg.done", func(e *genWorld, _ int) string { e.wg.Done(); return "" }},
		{"wg.wait", func(e *genWorld, _ int) string { e.wg.Wait(); return show(e.x.Load()) }},
		{"x.add", func(e *genWorld, _ int) string { return show(e.x.Add(1)) }},
		{"go", func(e *genWorld, self int) string {
			e.s.Go(e.scope, "child", func() { e.x.Store(uint64(self) + 3) })
			return ""
		}},
		{"join", func(e *genWorld, _ int) string { e.scope.Join(); return show(e.x.Load()) }},
	},
	"scope": {
		{"cancel", func(e *genWorld, _ int) string { e.scope.Cancel(nil); return "" }},
		{"cancel below", func(e *genWorld, _ int) string { e.below.Cancel(errBelow); return "" }},
		{"err below", func(e *genWorld, _ int) string { return show(e.below.Err()) }},
		{"err", func(e *genWorld, _ int) string { return show(e.scope.Err()) }},
		{"x.add", func(e *genWorld, _ int) string { return show(e.x.Add(1)) }},
		{"wait below", func(e *genWorld, _ int) string { return show(e.note.Wait(e.below)) }},
		{"one", func(e *genWorld, _ int) string { e.note.One(); return "" }},
	},
	"time": {
		{"sleep 1", func(e *genWorld, _ int) string { return show(e.s.Sleep(e.scope, "one", time.Second)) }},
		{"sleep 2", func(e *genWorld, _ int) string { return show(e.s.Sleep(nil, "two", 2*time.Second)) }},
		{"timeout", func(e *genWorld, _ int) string {
			k := e.scope.ChildTimeout("k", time.Second)
			err := e.note.Wait(k)
			k.Close()
			return show(err)
		}},
		{"timer", func(e *genWorld, _ int) string {
			t := sched.NewTimer(e.s, "t", time.Second)
			got := sched.Select2(t.Fired(), e.c1.OnReceive())
			t.Stop()
			return show(got.Index)
		}},
		{"fire", func(e *genWorld, _ int) string { return show(e.w.Fire("one")) }},
		{"now", func(e *genWorld, _ int) string { return e.s.Now().Sub(epoch).String() }},
		{"one", func(e *genWorld, _ int) string { e.note.One(); return "" }},
		{"c1.send", func(e *genWorld, self int) string { e.c1.Send(self); return "" }},
		{"cancel", func(e *genWorld, _ int) string { e.scope.Cancel(nil); return "" }},
		{"x.add", func(e *genWorld, _ int) string { return show(e.x.Add(1)) }},
	},
}

var crashOp = genOp{"crash", func(e *genWorld, _ int) string { e.node.Crash(); return "" }}

// generate draws a program: up to three tasks, few operations each. A crash is the last word of task 0, whose victims are the
// others.
func generate(r *rng, families []string, crash bool) genProgram {
	var pool []genOp
	for range 1 + r.below(2) {
		pool = append(pool, genFamilies[families[r.below(len(families))]]...)
	}
	p := genProgram{tasks: make([][]genOp, 2+r.below(2))}
	for i := range p.tasks {
		for range 1 + r.below(3) {
			p.tasks[i] = append(p.tasks[i], pool[r.below(len(pool))])
		}
	}
	if crash {
		p.tasks[0] = append(p.tasks[0], crashOp,
			genOp{"x.load", func(e *genWorld, _ int) string { return show(e.x.Load()) }})
	}
	return p
}
