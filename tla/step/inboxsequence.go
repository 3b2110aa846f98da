package step

import (
	"fmt"

	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/value"
)

// InboxCall is one call that a test makes: a lane brings a delivery as far as its step, commits the step or refuses to; the store
// syncs, or crashes and keeps all or loses what is not synced.
type InboxCall struct {
	Name     string // bring, commit, refuse, sync, crash or lose
	Lane     int    // from 1
	Delivery string
}

// InboxSequences returns sequences of calls that together take every edge of the graph that they span in Inbox, with two lanes, two
// deliveries, one crash of the store and two refusals. Who waits for durability goes on at the next sync or crash.
func InboxSequences() (*trace.Plan[InboxCall], error) {
	spec, err := inboxes.Sequences("Sequence")
	if err != nil {
		return nil, err
	}
	p := inboxPlanner{spec: spec}
	var each [3][]brought // by lane: what it may wait for, nothing included
	for lane := 1; lane <= 2; lane++ {
		each[lane] = []brought{{}}
		for _, d := range []string{"d0", "d1"} {
			b := brought{lane, d}
			p.attempts(b)
			each[lane] = append(each[lane], b)
		}
	}
	for _, one := range each[1] {
		for _, two := range each[2] {
			p.durability(one, two)
		}
	}
	shown := make(trace.State, len(spec.Vars))
	shown[spec.Index("log")], shown[spec.Index("synced")] = value.NewTuple(nil), value.MakeInt(0)
	return p.Cover(spec, shown, nil, 20_000, 16)
}

// brought is a delivery with the lane that brings it; the zero value is none.
type brought struct {
	lane     int
	delivery string
}

type inboxPlanner struct {
	trace.Planner[InboxCall]
	spec *trace.Spec
}

func (p *inboxPlanner) add(c InboxCall, events ...trace.Event) {
	p.Add(fmt.Sprintf("%+v", c), c, events...)
}

// event is one of an attempt, with what else it says.
func (p *inboxPlanner) event(action string, b brought, also ...value.Value) trace.Event {
	args := []value.Value{value.MakeInt(int64(b.lane)), p.spec.Str(b.delivery)}
	return trace.Event{Action: action, Args: append(args, also...)}
}

func (p *inboxPlanner) attempts(b brought) {
	call := func(name string) InboxCall { return InboxCall{name, b.lane, b.delivery} }
	for _, found := range []bool{false, true} {
		p.add(call("bring"), p.event("Take", b), p.event("Check", b, value.Bool(found)))
	}
	p.add(call("commit"), p.event("LandCommit", b))
	p.add(call("commit"), p.event("Duplicate", b), p.event("Check", b, value.Bool(true)))
	p.add(call("refuse"), p.event("Refuse", b, p.spec.Str("run")))
}

// durability makes the moves of the store while these wait.
func (p *inboxPlanner) durability(waiting ...brought) {
	var who []value.Value
	var acks, refusals []trace.Event
	for _, b := range waiting {
		if b.lane == 0 {
			continue
		}
		who = append(who, value.MakeInt(int64(b.lane)))
		acks = append(acks, p.event("Ack", b))
		refusals = append(refusals, p.event("Refuse", b, p.spec.Str("check")))
	}
	store := func(action string, who []value.Value, also ...value.Value) trace.Event {
		return trace.Event{Action: action, Args: append([]value.Value{value.NewSet(who)}, also...)}
	}
	keeps, loses := p.spec.Str("all"), p.spec.Str("synced")
	none, one := value.MakeInt(0), value.MakeInt(1)
	p.add(InboxCall{Name: "sync"}, append([]trace.Event{store("Sync", who)}, acks...)...)
	p.add(InboxCall{Name: "crash"}, append([]trace.Event{store("Crash", who, keeps, none)}, acks...)...)
	p.add(InboxCall{Name: "lose"}, append([]trace.Event{store("Crash", who, loses, none)}, refusals...)...)
	p.add(InboxCall{Name: "lose"}, append([]trace.Event{store("Crash", who, loses, one), store("Sync", nil)}, refusals...)...)
}
