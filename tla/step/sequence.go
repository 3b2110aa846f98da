package step

import (
	"fmt"
	"slices"

	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/value"
)

// Call is one call that a test makes: by which lane, for which cause, and what becomes of the requests of a commit.
type Call struct {
	Name  string // take, commit, free or sweep
	Lane  int
	Cause string
	Fate
}

// Fate is what becomes of the requests of one commit.
type Fate struct {
	Commit      string // Answered, Landed, Never or Refused
	LostFences  int    // fences that never land
	FailedHeads int    // reads of the row that fail
	FailedReads int    // reads of the record that fail
}

// The fates of a step on its way.
const (
	Answered = ""
	Landed   = "landed"  // it took effect, and the answer is lost
	Never    = "never"   // it is lost, and so is the answer
	Refused  = "refused" // the store refuses, definitely
)

// maxEpoch is the last claim that moves are tried with: MaxEpoch of TraceStep-sequences.cfg.
const maxEpoch = 4

// Sequences returns sequences of calls that together take every edge of the graph that the calls span in Step, with two lanes, two
// causes and one claim that ends without a step.
func Sequences() (*trace.Plan[Call], error) {
	spec, err := protocol.Sequences("Sequence")
	if err != nil {
		return nil, err
	}
	shown := make(trace.State, len(spec.Vars))
	row := spec.Shape("owner", "epoch", "gone")
	shown[spec.Index("row")] = row.Record(spec.Model("Nobody"), value.MakeInt(1), value.Bool(false))
	return stepCalls(spec).Cover(spec, shown, nil, 20_000, 12)
}

// stepCalls returns every call with every claim that it could be made under, as moves of the specification.
func stepCalls(spec *trace.Spec) *trace.Planner[Call] {
	plan := &trace.Planner[Call]{}
	for lane, owner := range []string{"0.1", "1.2"} {
		for epoch := int64(2); epoch <= maxEpoch; epoch++ {
			for _, cause := range []string{"c0.0", "c0.1"} {
				claim := []value.Value{spec.Str(owner), value.MakeInt(epoch)}
				for _, x := range stepTable {
					var events []trace.Event
					for _, e := range x.events {
						events = append(events, told(e, claim, spec.Str(cause)))
					}
					name := fmt.Sprintf("%s %+v %s:%d for %s", x.name, x.fate, owner, epoch, cause)
					plan.Add(name, Call{x.name, lane, cause, x.fate}, events...)
				}
			}
		}
	}
	return plan
}

// told is an event of a move with the claim and the cause before what it says besides them.
func told(e trace.Event, claim []value.Value, cause value.Value) trace.Event {
	also := e.Args
	e.Args = slices.Clone(claim)
	switch e.Action {
	case "LandFree", "GiveUp":
	default:
		e.Args = append(e.Args, cause)
	}
	e.Args = append(e.Args, also...)
	return e
}

// tells is an event with what it says besides the claim and the cause.
func tells(action string, also ...bool) trace.Event {
	e := trace.Event{Action: action}
	for _, x := range also {
		e.Args = append(e.Args, value.Bool(x))
	}
	return e
}

// What several calls tell. A claim is freed before the hold says that it gives up: the multiset of events is compared, and the
// binding judges their order.
var (
	sent     = []trace.Event{tells("Send")}
	landed   = []trace.Event{tells("Send"), tells("LandCommit"), tells("LoseCommit"), tells("FenceCommit")}
	lost     = []trace.Event{tells("Send"), tells("LoseCommit"), tells("FenceCommit")}
	found    = []trace.Event{tells("ReadRow", false), tells("ReadRecord", true), tells("Committed")}
	shutOut  = []trace.Event{tells("ReadRow", false), tells("ReadRecord", false), tells("Failed"), tells("GiveUp", true)}
	stays    = []trace.Event{tells("ReadRow", true), tells("ReadRecord", false), tells("FenceCommit")}
	freed    = tells("LandFree")
	givesUp  = tells("GiveUp", true)
	answered = tells("Committed")
)

// stepTable says which events each call tells. Where one call has two rows, the state of the row decides between them.
var stepTable = []struct {
	name   string
	fate   Fate
	events []trace.Event
}{
	{"take", Fate{}, join(tells("LandTake"))},
	{"commit", Fate{}, join(sent, tells("LandCommit"), answered)},
	{"commit", Fate{Commit: Landed}, join(landed, found)},
	{"commit", Fate{Commit: Landed, FailedHeads: 1}, join(landed, tells("FenceCommit"), found)},
	{"commit", Fate{Commit: Landed, FailedReads: 1}, join(landed, tells("ReadRow", false), tells("FenceCommit"), found)},
	{"commit", Fate{Commit: Never}, join(lost, freed, shutOut)},
	{"commit", Fate{Commit: Never}, join(lost, shutOut)},
	{"commit", Fate{Commit: Never, LostFences: 1}, join(lost, stays, freed, shutOut)},
	{"commit", Fate{Commit: Never, LostFences: 1}, join(lost, shutOut)},
	{"commit", Fate{Commit: Refused}, join(sent, tells("Failed"), freed, givesUp)},
	{"commit", Fate{Commit: Refused}, join(sent, tells("Failed"), givesUp)},
	{"free", Fate{}, join(freed, tells("GiveUp", false))},
	{"free", Fate{}, join(tells("GiveUp", false))},
	{"sweep", Fate{}, join(freed)},
}

// join puts events, and lists of them, one after the other.
func join(parts ...any) (all []trace.Event) {
	for _, p := range parts {
		switch p := p.(type) {
		case trace.Event:
			all = append(all, p)
		case []trace.Event:
			all = append(all, p...)
		}
	}
	return all
}
