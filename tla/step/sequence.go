package step

import (
	"fmt"

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
	o := protocol.Options()
	o.Config, o.Prefix = "TraceStep-sequences.cfg", "Sequence"
	spec, err := trace.Load(o)
	if err != nil {
		return nil, err
	}
	calls, moves := stepCalls(spec)
	shown := make(trace.State, len(spec.Vars))
	row := spec.Shape("owner", "epoch", "gone")
	shown[spec.Index("row")] = row.Record(spec.Model("Nobody"), value.MakeInt(1), value.Bool(false))
	return trace.Cover(spec, shown, calls, moves, nil, 20_000, 12)
}

// stepCalls returns every call with every claim that it could be made under, as moves of the specification.
func stepCalls(spec *trace.Spec) (calls []Call, moves []trace.Move) {
	for lane, owner := range []string{"0.1", "1.2"} {
		for epoch := int64(2); epoch <= maxEpoch; epoch++ {
			for _, cause := range []string{"c0.0", "c0.1"} {
				claim := []value.Value{spec.Str(owner), value.MakeInt(epoch)}
				for _, x := range stepTable {
					m := trace.Move{Name: fmt.Sprintf("%s %+v %s:%d for %s", x.name, x.fate, owner, epoch, cause)}
					for _, e := range x.events {
						m.Events = append(m.Events, trace.Event{Action: e.action, Args: e.args(claim, spec.Str(cause))})
					}
					calls, moves = append(calls, Call{x.name, lane, cause, x.fate}), append(moves, m)
				}
			}
		}
	}
	return calls, moves
}

// told is an event of a move, with what it says besides the claim and the cause.
type told struct {
	action string
	also   []value.Value
}

func (e told) args(claim []value.Value, cause value.Value) []value.Value {
	args := append([]value.Value{}, claim...)
	switch e.action {
	case "LandFree", "GiveUp":
	default:
		args = append(args, cause)
	}
	return append(args, e.also...)
}

func tells(action string, also ...bool) told {
	e := told{action: action}
	for _, x := range also {
		e.also = append(e.also, value.Bool(x))
	}
	return e
}

// What several calls tell. A claim is freed before the hold says that it gives up: the multiset of events is compared, and the
// binding judges their order.
var (
	sent     = []told{tells("Send")}
	landed   = []told{tells("Send"), tells("LandCommit"), tells("LoseCommit"), tells("FenceCommit")}
	lost     = []told{tells("Send"), tells("LoseCommit"), tells("FenceCommit")}
	found    = []told{tells("ReadRow", false), tells("ReadRecord", true), tells("Committed")}
	shutOut  = []told{tells("ReadRow", false), tells("ReadRecord", false), tells("Failed"), tells("GiveUp", true)}
	stays    = []told{tells("ReadRow", true), tells("ReadRecord", false), tells("FenceCommit")}
	freed    = tells("LandFree")
	givesUp  = tells("GiveUp", true)
	answered = tells("Committed")
)

// stepTable says which events each call tells. Where one call has two rows, the state of the row decides between them.
var stepTable = []struct {
	name   string
	fate   Fate
	events []told
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
func join(parts ...any) (all []told) {
	for _, p := range parts {
		switch p := p.(type) {
		case told:
			all = append(all, p)
		case []told:
			all = append(all, p...)
		}
	}
	return all
}
