package lane

import (
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/value"
)

// Call is what a test makes happen: the next delivery arrives, or the request that a lane has taken goes on.
type Call struct {
	Action string // Arrive, Resolve, Answer, Begin or Commit
	Lane   int
}

// What SequenceLane.cfg says.
const (
	lanes      = 2
	deliveries = 3
)

// Sequences returns sequences of calls that together take every edge of the graph that they span in Lane, with two lanes of one
// place each and three deliveries. Lanes dequeue and reply, and callers hop, by themselves.
func Sequences() (*trace.Plan[Call], error) {
	spec, err := protocol.Sequences("Sequence")
	if err != nil {
		return nil, err
	}
	var (
		plan   trace.Planner[Call]
		urgent trace.Urgent
	)
	for l := range lanes {
		for c := range deliveries {
			args := []value.Value{value.MakeInt(int64(l)), value.MakeInt(int64(c + 1))}
			for _, action := range []string{"Arrive", "Resolve", "Answer", "Begin", "Commit"} {
				plan.Add(action, Call{action, l}, trace.Event{Action: action, Args: args})
			}
			for _, action := range []string{"Reply", "Hop", "Dequeue"} {
				urgent = append(urgent, trace.Event{Action: action, Args: args})
			}
		}
	}
	return plan.Cover(spec, make(trace.State, len(spec.Vars)), urgent, 20_000, 16)
}
