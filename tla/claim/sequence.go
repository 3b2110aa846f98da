package claim

import (
	"fmt"

	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/value"
)

// Call is one call of the owner that a sequence makes: by which lane, under which epoch of the claim, and what becomes of
// the request on its way.
type Call struct {
	Name string // take, load, commit, free, sweep
	Lane int
	Fate string // "", lost after it landed, lost before, refused
}

// The fates of a request.
const (
	Answered = ""
	Landed   = "landed"  // it took effect, and the answer is lost
	Never    = "never"   // it is lost, and so is the answer
	Refused  = "refused" // the store refuses, definitely
)

// maxEpoch bounds the claims that moves are tried with; the graph ends before.
const maxEpoch = 14

// Sequences returns sequences of calls that together take every edge of the graph that the calls span in Claim, with two
// lanes, one step and two faults.
func Sequences() (*trace.Plan[Call], error) {
	spec, err := protocol.Sequences("Trace")
	if err != nil {
		return nil, err
	}
	shown := make(trace.State, len(spec.Vars))
	domain := trace.Domain(spec.Str("i"))
	row := spec.Shape("owner", "epoch").Record(spec.Model("Nobody"), value.MakeInt(1))
	shown[spec.Index("row")] = value.NewFcn(domain, []value.Value{row})
	shown[spec.Index("state")] = value.NewFcn(domain, []value.Value{value.NewSet(nil)})
	return candidates(spec).Cover(spec, shown, nil, 20_000, 12)
}

// candidates returns every call with every claim that it could be made under, as moves of the specification.
func candidates(spec *trace.Spec) *trace.Planner[Call] {
	plan := &trace.Planner[Call]{}
	shape := spec.Shape("inst", "owner", "epoch")
	for lane, owner := range []string{"0.1", "1.2"} {
		for epoch := int64(2); epoch <= maxEpoch; epoch++ {
			c := shape.Record(spec.Str("i"), spec.Str(owner), value.MakeInt(epoch))
			seen := shape.Record(spec.Str("i"), spec.Model("Nobody"), value.MakeInt(epoch-1))
			for _, x := range moveTable {
				var events []trace.Event
				for _, action := range x.events {
					args := []value.Value{c}
					switch action {
					case "LandFence":
						action, args = "LandFree", []value.Value{seen}
					case "Send", "Committed", "Failed", "LoseCommit", "FenceCommit", "LandCommit":
						args = append(args, spec.Str("c"))
					default:
					}
					events = append(events, trace.Event{Action: action, Args: args})
				}
				name := fmt.Sprintf("%s %s %s:%d", x.name, x.fate, owner, epoch)
				plan.Add(name, Call{Name: x.name, Lane: lane, Fate: x.fate}, events...)
			}
		}
	}
	return plan
}

// moveTable says which events each call tells; LandFence is a LandFree of the claim that a lost take has seen.
var moveTable = []struct {
	name, fate string
	events     []string
}{
	{"take", Answered, []string{"Ask", "LandTake", "Granted"}},
	{"take", Landed, []string{"Ask", "LandTake", "LoseTake", "Granted"}},
	{"take", Never, []string{"Ask", "LoseTake", "FenceTake", "LandFence", "Lost"}},
	{"take", Refused, []string{"Ask", "Refused"}},
	{"load", Answered, []string{"Load"}},
	{"commit", Answered, []string{"Send", "LandCommit", "Committed"}},
	{"commit", Landed, []string{"Send", "LandCommit", "LoseCommit", "FenceCommit", "Committed"}},
	{"commit", Never, []string{"Send", "LoseCommit", "FenceCommit", "LandFree", "Failed"}},
	{"commit", Refused, []string{"Send", "Failed"}},
	{"free", Answered, []string{"GiveUp", "LandFree", "Freed"}},
	{"free", Answered, []string{"GiveUp", "Freed"}},
	{"sweep", Answered, []string{"Sweep", "LandFree"}},
}
