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
	var plan trace.Planner[Call]
	plan.Add("ack", Call{Name: "ack"}, event("Take", value.Bool(true), value.Bool(false)))
	plan.Add("fail", Call{Name: "fail"}, event("Take", value.Bool(true), value.Bool(true)))
	for n := 1; n <= 2; n++ {
		args := value.MakeInt(int64(n))
		urgent = append(urgent, event("Reserve", args), event("Refuse", args))
		plan.Add("attach", Call{"attach", n}, event("Raise", args))
	}
	shown := newBinding(spec).state(ack.Words{Left: Shares, Active: Shares, Receiver: true}, true)
	return plan.Cover(spec, shown, urgent, 20_000, 12)
}
