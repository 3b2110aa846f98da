package sim

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

// pairFamily is operations of which every two are tried against each other.
type pairFamily struct {
	ops    []genOp
	others []genOp // of the other task; nil: the same
	setup  func(e *genWorld)
	opts   []Option
	timed  bool // what fires timers when nothing else can go on is a step of its own for the searches alone
	most   int  // executions of a search of all programs of two operations
}

// programs are the programs of two tasks: every two operations, and every two in one task against every third.
func (f pairFamily) programs() (pairs, triples []genProgram) {
	others := f.others
	if others == nil {
		others = f.ops
	}
	for i, a := range f.ops {
		for j, b := range others {
			if f.others != nil || j <= i {
				pairs = append(pairs, genProgram{tasks: [][]genOp{{a}, {b}}, setup: f.setup})
			}
			for _, c := range f.ops {
				triples = append(triples, genProgram{tasks: [][]genOp{{a, c}, {b}}, setup: f.setup})
			}
			for _, c := range f.others {
				triples = append(triples, genProgram{tasks: [][]genOp{{a}, {b, c}}, setup: f.setup})
			}
		}
	}
	return pairs, triples
}

// pairFamilies are those of the generated programs, and some that only stand here.
func pairFamilies() map[string]pairFamily {
	all := map[string]pairFamily{
		"timer":    {ops: timerOps, setup: makeTimer, timed: true},
		"early":    {ops: timerOps, setup: makeTimer, timed: true, opts: []Option{EarlyTimeouts()}},
		"fault":    {ops: faultOps, opts: []Option{Faults(1)}},
		"node":     {ops: operatorOps, others: nodeOps, setup: makeNode, timed: true},
		"external": {ops: externalOps},
		"cell":     {ops: cellOps, opts: []Option{WithoutRaces()}},
		"watched":  {ops: watchedOps, setup: watchBoth},
		"owned":    {ops: watchedOps[:3], setup: ownBoth},
		"left arm": {ops: leftOps},
		"jump":     {ops: operatorOps[2:5], others: stampOps, setup: makeNode, timed: true, opts: []Option{EarlyTimeouts()}},
	}
	for name, ops := range genFamilies {
		all[name] = pairFamily{ops: ops, timed: name == "time"}
	}
	for name, most := range pairMost {
		f := all[name]
		f.most = most
		all[name] = f
	}
	return all
}

// pairMost is how many executions a search needs for all programs of two operations of a family. More are needed when something conflicts that
// did not: then say why. Fewer are progress, as every outcome is seen: then lower it.
var pairMost = map[string]int{
	"atomic": 40, "buffered": 33, "cell": 14, "cond": 23, "early": 169, "external": 11, "fault": 49, "group": 46, "mutex": 37, "node": 72, "notify": 62,
	"rendezvous": 39, "rwmutex": 28, "scope": 38, "select": 48, "semaphore": 65, "time": 88, "timer": 58, "values": 53, "watched": 47,
	"owned": 10, "left arm": 18, "jump": 17,
}

var timerOps = []genOp{
	{"reset 1", func(e *genWorld, _ int) string { e.timer.Reset(time.Second); return "" }},
	{"reset 3", func(e *genWorld, _ int) string { e.timer.Reset(3 * time.Second); return "" }},
	{"stop", func(e *genWorld, _ int) string { return show(e.timer.Stop()) }},
	{"fired", func(e *genWorld, _ int) string {
		got := sched.Select2(e.timer.Fired(), e.scope.Done())
		return show(got.Index) + e.s.Now().Sub(epoch).String()
	}},
	{"fire", func(e *genWorld, _ int) string { return show(e.w.Fire("timer")) }},
	{"cancel", func(e *genWorld, _ int) string { e.scope.Cancel(nil); return "" }},
	{"sleep 2", func(e *genWorld, _ int) string { return show(e.s.Sleep(nil, "two", 2*time.Second)) }},
	{"now", func(e *genWorld, _ int) string { e.s.Yield(); return e.s.Now().Sub(epoch).String() }},
}

func makeTimer(e *genWorld) { e.timer = sched.NewTimer(e.s, "timer", 4*time.Second) }

var faultOps = []genOp{
	{"fault", func(e *genWorld, _ int) string { e.s.Yield(); return show(e.w.Fault("here", "kind")) }},
	{"two faults", func(e *genWorld, _ int) string {
		return show(e.w.Fault("here", "kind")) + show(e.w.Fault("there", "kind", "other"))
	}},
	{"stop", func(e *genWorld, _ int) string { e.s.Yield(); e.w.StopFaults(); return "" }},
	{"x.add", func(e *genWorld, _ int) string { return show(e.x.Add(1)) }},
}

// operatorOps are what somebody outside does to a node on which the other task runs.
var operatorOps = []genOp{
	{"pause", func(e *genWorld, _ int) string { e.node.Pause(); return "" }},
	{"resume", func(e *genWorld, _ int) string { e.node.Resume(); return "" }},
	{"jump", func(e *genWorld, _ int) string { e.node.JumpClock(time.Hour); return "" }},
	{"crash", func(e *genWorld, _ int) string { e.node.Crash(); return "" }},
	{"x.load", func(e *genWorld, _ int) string { return show(e.x.Load()) }},
	{"c1.send", func(e *genWorld, self int) string { e.c1.Send(self); return "" }},
	{"c0.trysend", func(e *genWorld, self int) string { return show(e.c0.TrySend(self)) }},
	{"sleep 2", func(e *genWorld, _ int) string { return show(e.s.Sleep(nil, "two", 2*time.Second)) }},
}

var nodeOps = []genOp{
	{"x.add", func(e *genWorld, _ int) string { return show(e.x.Add(1)) }},
	{"now", func(e *genWorld, _ int) string { e.s.Yield(); return e.s.Now().Sub(epoch).String() }},
	{"c1.recv", func(e *genWorld, _ int) string { v, ok := e.c1.Receive(); return show(v) + show(ok) }},
	{"c0.recv", func(e *genWorld, _ int) string { v, ok := e.c0.Receive(); return show(v) + show(ok) }},
	{"sleep 1", func(e *genWorld, _ int) string { return show(e.s.Sleep(nil, "one", time.Second)) }},
}

func makeNode(e *genWorld) { e.node = e.w.Node("n") }

var externalOps = []genOp{
	{"external", func(e *genWorld, _ int) (v string) {
		e.s.External("x", func() { e.plain++; v = show(e.plain) })
		return v
	}},
	{"x.add", func(e *genWorld, _ int) string { return show(e.x.Add(1)) }},
	{"x.load", func(e *genWorld, _ int) string { return show(e.x.Load()) }},
}

var cellOps = []genOp{
	{"view", func(e *genWorld, _ int) string { e.s.Yield(); return show(*e.cell.View()) }},
	{"edit", func(e *genWorld, self int) string {
		e.s.Yield()
		*e.cell.Edit() = 10*(*e.cell.Peek()) + self + 1
		return ""
	}},
	{"x.load", func(e *genWorld, _ int) string { return show(e.x.Load()) }},
	{"x.add", func(e *genWorld, _ int) string { return show(e.x.Add(1)) }},
}

var watchedOps = []genOp{
	{"x.add", func(e *genWorld, _ int) string { return show(e.x.Add(1)) }},
	{"y.add", func(e *genWorld, _ int) string { return show(e.y.Add(1)) }},
	{"y.load", func(e *genWorld, _ int) string { return show(e.y.Load()) }},
	{"c1.trysend", func(e *genWorld, self int) string { return show(e.c1.TrySend(self)) }},
	{"edit", func(e *genWorld, _ int) string {
		e.m.Lock()
		*e.cell.Edit()++
		e.m.Unlock()
		return ""
	}},
	{"edit alone", func(e *genWorld, _ int) string { e.s.Yield(); *e.cell.Edit() += 10; return "" }},
}

// ownBoth is the same as an owner's, which reads what belongs to it.
func ownBoth(e *genWorld) {
	last := ""
	e.s.Own("T9", &struct{ x, y *sched.Uint64 }{&e.x, &e.y}, func() error {
		if now := fmt.Sprint(e.x.Peek(), e.y.Peek()); now != last {
			last = now
			e.states += now + ";"
		}
		return nil
	})
}

// leftOps make a task that waits on two channels leave one of them, on which others try to meet it.
var leftOps = []genOp{
	{"recv c0|recv c1", func(e *genWorld, _ int) string { return show(sched.Select2(e.c0.OnReceive(), e.c1.OnReceive())) }},
	{"send d0|recv c1", func(e *genWorld, self int) string { return show(sched.Select2(e.d0.OnSend(self), e.c1.OnReceive())) }},
	{"c0.trysend", func(e *genWorld, self int) string { return show(e.c0.TrySend(self)) }},
	{"d0.tryrecv", func(e *genWorld, _ int) string { return fmt.Sprint(e.d0.TryReceive()) }},
	{"c1.send", func(e *genWorld, self int) string { e.c1.Send(self); return "" }},
}

// stampOps read a time that a timer of the node noted when it fired.
var stampOps = []genOp{
	{"stamp", func(e *genWorld, _ int) string {
		t := sched.NewTimer(e.s, "t", time.Second)
		return sched.Select2(t.Fired(), e.scope.Done()).A.Sub(epoch).String()
	}},
	{"x.add", func(e *genWorld, _ int) string { return show(e.x.Add(1)) }},
}

// watchBoth is an invariant that reads several objects: the states in between are part of the outcome.
func watchBoth(e *genWorld) {
	last := ""
	e.w.Invariant("states", func() error {
		if now := fmt.Sprint(e.x.Peek(), e.y.Peek(), e.c1.PeekLen(), *e.cell.Peek()); now != last {
			last = now
			e.states += now + ";"
		}
		return nil
	})
}

// What any operation does to any other of its kind shows: the searches see every outcome of every two of them, also where another one
// came before or after, and each trace once. An operation that a footprint leaves out, or that is taken to commute and does not, misses one.
func TestSearchSeesEveryPair(t *testing.T) {
	families := pairFamilies()
	for _, name := range slices.Sorted(maps.Keys(families)) {
		t.Run(name, func(t *testing.T) {
			f := families[name]
			pairs, triples := f.programs()
			needed := 0
			for i, p := range append(pairs, triples...) {
				brute := enumerate(p, true, plainLimit, f.opts...)
				if !brute.complete {
					t.Fatalf("more than %d executions:\n%s", plainLimit, p)
				}
				for search, s := range map[string]judged{"dfs": &search{}, "dpor": &dpor{}} { //order:each is judged alone
					r := compareWith(t, p, brute, search, s, f.opts...)
					if !f.timed && !brute.cut && r.executions != len(brute.traces) {
						t.Errorf("%s: %d executions, and there are %d traces\n%s", search, r.executions, len(brute.traces), p)
					}
					if i < len(pairs) && search == "dpor" {
						needed += r.executions
					}
				}
				if t.Failed() {
					return
				}
			}
			if needed > f.most {
				t.Errorf("%d executions of %d programs of two operations, and not %d", needed, len(pairs), f.most)
			}
		})
	}
}
