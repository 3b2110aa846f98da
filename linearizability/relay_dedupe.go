package linearizability

import "github.com/anishathalye/porcupine"

// DedupeInput is one attempt at a record: its key, and whether the output of the attempt fails should it pass.
type DedupeInput struct {
	Key   string
	Fails bool
}

// DedupeOutput is how the attempt ended.
type DedupeOutput uint8

// The outcomes of an attempt.
const (
	DedupePassed    DedupeOutput = iota // first: its output is durable
	DedupeDuplicate                     // a committed record has the key
	DedupeFailed                        // nothing happened; the record may be sent again
)

// DedupeModel is the sequential specification of a deduplicator (E2) without expiry, one key at a time: the first
// one whose output succeeds wins, everybody after it is a duplicate, and a failed attempt leaves no trace.
func DedupeModel() porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			var keys []string
			parts := map[string][]porcupine.Operation{}
			for _, op := range history {
				key := op.Input.(DedupeInput).Key
				if parts[key] == nil {
					keys = append(keys, key)
				}
				parts[key] = append(parts[key], op)
			}
			list := make([][]porcupine.Operation, 0, len(keys))
			for _, key := range keys {
				list = append(list, parts[key])
			}
			return list
		},
		Init: func() any { return false },
		Step: func(state, input, output any) (bool, any) {
			committed := state.(bool)
			switch output.(DedupeOutput) {
			case DedupePassed:
				return !committed && !input.(DedupeInput).Fails, true
			case DedupeDuplicate:
				return committed, committed
			default:
				return true, committed
			}
		},
	}
}
