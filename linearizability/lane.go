package linearizability

import "github.com/anishathalye/porcupine"

// LaneInput is a request to add one to the counter of an instance; its output, an int, is the counter after it. Requests
// of different instances are judged apart.
type LaneInput struct{ Instance string }

// LaneModel is the sequential specification of the lanes (L1) over counters: one request at a time for each instance, and its
// effect before its reply.
func LaneModel() porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			var parts [][]porcupine.Operation
			at := map[string]int{}
			for _, op := range history {
				name := op.Input.(LaneInput).Instance
				i, ok := at[name]
				if !ok {
					i = len(parts)
					at[name] = i
					parts = append(parts, nil)
				}
				parts[i] = append(parts[i], op)
			}
			return parts
		},
		Init: func() any { return 0 },
		Step: func(state, _, output any) (bool, any) {
			next := state.(int) + 1
			return output.(int) == next, next
		},
	}
}
