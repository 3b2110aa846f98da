package ack

import (
	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/value"
)

// Call is one call that a test makes: a share that is held is resolved, or shares are attached.
type Call struct {
	Name   string // ack, fail or attach
	Shares int    // to attach
}

// Shares is how many shares the tree of the sequences is made with.
const Shares = 2

// Sequences returns sequences of calls that together take every edge of the graph that whole calls span in Ack, from a tree with
// two shares and a receiver to which more are attached, five in all.
func Sequences() (*trace.Plan[Call], error) {
	spec, err := protocol.Spec()
	if err != nil {
		return nil, err
	}
	event := func(action string, args ...value.Value) trace.Event { return trace.Event{Action: action, Args: args} }
	var urgent trace.Urgent
	for _, fail := range []bool{false, true} {
		urgent = append(urgent, event("Lower", value.Bool(fail)))
	}
	for _, action := range []string{"Enter", "Keep", "Leave", "Notify", "Retire"} {
		urgent = append(urgent, event(action))
	}
	calls := []Call{{Name: "ack"}, {Name: "fail"}}
	moves := []trace.Move{
		{Name: "ack", Events: []trace.Event{event("Take", value.Bool(true), value.Bool(false))}},
		{Name: "fail", Events: []trace.Event{event("Take", value.Bool(true), value.Bool(true))}},
	}
	for n := 1; n <= 2; n++ {
		args := value.MakeInt(int64(n))
		urgent = append(urgent, event("Reserve", args), event("Refuse", args))
		calls = append(calls, Call{"attach", n})
		moves = append(moves, trace.Move{Name: "attach", Events: []trace.Event{event("Raise", args)}})
	}
	shown := newBinding(spec).state(ack.Words{Left: Shares, Active: Shares, Receiver: true}, true)
	return trace.Cover(spec, shown, calls, moves, urgent, 20_000, 12)
}
