package linearizability

import "github.com/anishathalye/porcupine"

// InboxInput is an attempt at a delivery (L7). Attempts have numbers above 0.
type InboxInput struct {
	Delivery string
	Attempt  int
}

// InboxOutput is how it ended. First is the attempt whose effect was told, 0 when the attempt had none and was refused.
type InboxOutput struct {
	First     int
	Duplicate bool
	Lost      bool // the attempt may take effect, now or later, or never
}

// InboxModel is the sequential specification of one delivery: its state is the attempt that took effect, 0 for none.
func InboxModel() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			var parts [][]porcupine.Operation
			at := map[string]int{}
			for _, op := range history {
				name := op.Input.(InboxInput).Delivery
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
		Init: func() []any { return []any{0} },
		Step: func(state, input, output any) []any {
			return inboxStep(state.(int), input.(InboxInput), output.(InboxOutput))
		},
		Equal: func(a, b any) bool { return a == b },
	}
	return m.ToModel()
}

func inboxStep(first int, in InboxInput, out InboxOutput) []any {
	switch {
	case out.Lost && first == 0:
		return []any{0, in.Attempt}
	case out.Lost || out.First == 0:
		return []any{first}
	case out.Duplicate && first == out.First:
		return []any{first}
	case !out.Duplicate && first == 0 && out.First == in.Attempt:
		return []any{in.Attempt}
	}
	return nil
}
