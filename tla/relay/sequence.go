package relay

import (
	"slices"

	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/value"
)

// Call is one call that a test makes of a queue whose capacity is 1 in the beginning: call N of Push or TryPush begins, or its scope
// ends; the consumer begins to receive, or its scope ends; the queue is closed, or gets the capacity N.
type Call struct {
	Name string // push, try, giveUp, receive, stop, close or resize
	N    int
}

// pushes is how many calls of Push TraceRelay-sequences.cfg has.
const pushes = 3

// Sequences returns sequences of calls that together take every edge of the graph that they span in Relay: a call goes on until it
// has ended or waits, and who it wakes goes on too. Of two calls that all are woken at once, which comes first is not said, so the
// capacity is changed while one waits at most.
func Sequences() (*trace.Plan[Call], error) {
	spec, err := protocol.Sequences("Sequence")
	if err != nil {
		return nil, err
	}
	p := &planner{}
	for n := 1; n <= pushes; n++ {
		p.pushes(n)
		p.wakes(n)
	}
	p.receives()
	p.closes()
	for capacity := 1; capacity <= 2; capacity++ {
		p.add("resize", capacity, on("Resize", capacity), on("ResizeReadsWaiting", false))
	}
	first := newBinding(spec, nil).shown(relay.Words{Capacity: 1})
	return p.Cover(spec, first, nil, 20_000, 16)
}

type planner struct{ trace.Planner[Call] }

func (p *planner) add(name string, n int, parts ...[]trace.Event) {
	p.Add(name, Call{name, n}, slices.Concat(parts...)...)
}

// on is an event, with numbers and what it finds.
func on(action string, args ...any) []trace.Event {
	e := trace.Event{Action: action}
	for _, a := range args {
		switch a := a.(type) {
		case int:
			e.Args = append(e.Args, value.MakeInt(int64(a)))
		case bool:
			e.Args = append(e.Args, value.Bool(a))
		}
	}
	return []trace.Event{e}
}

// each is several events with the same arguments.
func each(args []any, actions ...string) (all []trace.Event) {
	for _, a := range actions {
		all = append(all, on(a, args...)...)
	}
	return all
}

// What several calls tell: call n finds no room, joins the list, goes on with a place that it waited for, or sleeps again.
func refused(n int, closed bool) []trace.Event {
	return append(each([]any{n}, "ReadCapacity", "NoRoom"), on("ReadClosed", n, closed)...)
}

func links(n int, idle bool) []trace.Event {
	return append(each([]any{n}, "Swap", "Link"), on("ReadIdle", n, idle)...)
}

func getsIn(n int) (all []trace.Event) {
	all = append(each([]any{n}, "Wake", "Register", "ReadCapacity", "Add"), on("Drop", n, false)...)
	return append(append(all, on("LowerWaiting", n)...), links(n, false)...)
}

func staysOut(n int) []trace.Event {
	return append(each([]any{n}, "Wake", "Register"), refused(n, false)...)
}

// takes and finds are what the consumer tells of an item, and of an empty queue.
func takes(waiting bool) []trace.Event {
	return append(each(nil, "Take", "FreePlace"), on("ReadWaiting", waiting)...)
}

func finds(drained bool) []trace.Event {
	all := append(each(nil, "Look", "RaiseIdle", "LookAgain"), on("ReadDrained", drained)...)
	if drained {
		all = append(all, on("LowerIdle")...)
	}
	return all
}

// pushes are the calls that begin, and end by themselves.
func (p *planner) pushes(n int) {
	begins, takesPlace := on("Publish", n), each([]any{n}, "ReadCapacity", "Add")
	p.add("push", n, begins, takesPlace, links(n, false))
	p.add("push", n, begins, takesPlace, links(n, true), on("WakeConsumer", n), each(nil, "Woken", "LowerIdle"), takes(false))
	p.add("push", n, begins, refused(n, true))
	p.add("push", n, begins, refused(n, false), each([]any{n}, "RaiseWaiting", "Register"), refused(n, false))
	p.add("try", n, begins, refused(n, false))
	p.add("giveUp", n, on("Drop", n, true), on("LowerWaiting", n))
}

// wakes are the calls that wake call n.
func (p *planner) wakes(n int) {
	for _, goesOn := range [][]trace.Event{getsIn(n), staysOut(n)} {
		p.add("receive", 0, takes(true), on("WakeOne"), goesOn)
		for capacity := 1; capacity <= 2; capacity++ {
			p.add("resize", capacity, on("Resize", capacity), on("ResizeReadsWaiting", true), on("ResizeWakesAll", 1), goesOn)
		}
	}
	p.add("close", 0, closesOn(1), sentAway(n), on("CloseReadsIdle", false))
	for m := n + 1; m <= pushes; m++ {
		p.add("close", 0, closesOn(2), sentAway(n), sentAway(m), on("CloseReadsIdle", false))
	}
}

func closesOn(waiting int) []trace.Event {
	all := append(on("Close"), on("CloseReadsWaiting", true)...)
	return append(all, on("CloseWakesAll", waiting)...)
}

func sentAway(n int) []trace.Event {
	all := append(each([]any{n}, "Wake", "Register"), refused(n, true)...)
	return append(append(all, on("Drop", n, false)...), on("LowerWaiting", n)...)
}

func (p *planner) receives() {
	p.add("receive", 0, takes(false))
	p.add("receive", 0, finds(false))
	p.add("receive", 0, finds(true))
	p.add("stop", 0, each(nil, "StopSleeping", "LowerIdle"))
}

func (p *planner) closes() {
	begins := append(on("Close"), on("CloseReadsWaiting", false)...)
	p.add("close", 0, begins, on("CloseReadsIdle", false))
	p.add("close", 0, begins, on("CloseReadsIdle", true), each(nil, "CloseWakesConsumer", "Woken", "LowerIdle"), finds(true))
}
