package chaos

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// tallyState is what the specification knows of one key. The log is joined by commas, so that states compare with ==.
type tallyState struct {
	opened  bool
	closing bool // the last step was taken
	stamped bool
	ended   bool
	log     string
}

func (s tallyState) ids() []string {
	if s.log == "" {
		return nil
	}
	return strings.Split(s.log, ",")
}

// part is a point at which an operation may take effect. An Open has two: its instance starts, and, later, has ended.
type part struct {
	Operation
	end bool // of an Open: the instance has ended
}

// Judge gives the operations of each key to porcupine and returns a fault for each key whose history has no linearization, and for each
// of which that is not known within the time: not to know is a failure too.
func Judge(ops []Operation, patience time.Duration) (faults []string) {
	until := time.Now().Add(patience)
	keys, of := byKey(ops)
	for _, key := range keys {
		history := partsOf(of[key])
		switch porcupine.CheckOperationsTimeout(tallyModel(), history, max(time.Until(until), time.Millisecond)) {
		case porcupine.Ok:
		case porcupine.Illegal:
			faults = append(faults, fmt.Sprintf("key %s: no order of its operations explains their answers:%s", key, describe(of[key])))
		case porcupine.Unknown:
			faults = append(faults, fmt.Sprintf("key %s: not known within %v whether an order of its %d operations explains them", key, patience, len(history)))
		default:
		}
	}
	return faults
}

// partsOf are the operations of one key as porcupine takes them. Lost ones may take effect until the end of the history.
func partsOf(ops []Operation) []porcupine.Operation {
	last := int64(0)
	for _, op := range ops {
		last = max(last, op.Call, op.Return)
	}
	var history []porcupine.Operation
	add := func(p part) {
		done := p.Return
		if p.Outcome == Lost {
			done = last + 1
		}
		history = append(history, porcupine.Operation{ClientId: p.Client, Input: p, Call: p.Call, Output: p.Outcome, Return: done})
	}
	for _, op := range ops {
		if op.Outcome == Unsent || op.Outcome == Lost && op.Kind == Read {
			continue // it says nothing
		}
		add(part{Operation: op})
		if op.Kind == Open && op.acknowledged() {
			add(part{op, true})
		}
	}
	return history
}

func tallyModel() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any { return []any{tallyState{}} },
		Step: func(state, input, _ any) []any {
			s, p := state.(tallyState), input.(part)
			next := s.next(p)
			out := make([]any, 0, len(next))
			for _, n := range next {
				out = append(out, n)
			}
			return out
		},
		Equal: func(a, b any) bool { return a == b },
	}
	return m.ToModel()
}

// next are the states after an operation that was answered as it was; none says that it cannot have been at this point.
func (s tallyState) next(p part) []tallyState {
	switch {
	case p.end:
		return s.asEnded()
	case p.Kind == Open:
		return s.open(p)
	case p.Kind == Step:
		return s.step(p)
	case p.Kind == Stamp:
		return s.stamp(p)
	case p.Outcome == Seen:
		return keep(s.opened && !s.ended && strings.Join(p.Log, ",") == s.log, s)
	case s.opened: // a read that met no running instance: it has ended by now
		return s.asEnded()
	}
	return []tallyState{s}
}

func keep(holds bool, s tallyState) []tallyState {
	if !holds {
		return nil
	}
	return []tallyState{s}
}

func (s tallyState) asEnded() []tallyState {
	after := s
	after.ended = true
	return keep(s.closing && s.stamped, after)
}

func (s tallyState) open(p part) []tallyState {
	after := s
	after.opened = true
	switch p.Outcome {
	case Done:
		return keep(!s.opened, after)
	case Duplicate:
		return keep(s.opened, s)
	default: // lost
		if s.opened {
			return []tallyState{s}
		}
		return []tallyState{s, after}
	}
}

func (s tallyState) step(p part) []tallyState {
	seen := slices.Contains(s.ids(), p.ID)
	after := s
	after.log = strings.Join(append(s.ids(), p.ID), ",")
	after.closing = p.Last
	waits := s.opened && !s.closing
	switch p.Outcome {
	case Done:
		return keep(waits && !seen, after)
	case Duplicate:
		return keep(seen, s)
	case Unmatched:
		return keep(!waits && !seen, s)
	default: // lost
		if seen || !waits {
			return []tallyState{s}
		}
		return []tallyState{s, after}
	}
}

func (s tallyState) stamp(p part) []tallyState {
	after := s
	after.stamped = true
	may := s.closing && !s.stamped
	switch p.Outcome {
	case Done:
		return keep(may, after)
	case Refused:
		return []tallyState{s} // the lock may have run out
	default: // lost
		if !may {
			return []tallyState{s}
		}
		return []tallyState{s, after}
	}
}

// describe lists operations for a reader.
func describe(ops []Operation) string {
	var b strings.Builder
	for _, op := range ops {
		done := fmt.Sprint(op.Return)
		if op.Outcome == Lost {
			done = "?"
		}
		fmt.Fprintf(&b, "\n    [%d, %s] client %d, replica %d: %s %s", op.Call, done, op.Client, op.Replica, op.Kind, op.ID)
		if op.Last {
			b.WriteString(" (last)")
		}
		fmt.Fprintf(&b, " → %s", op.Outcome)
		if op.Kind == Read && op.Outcome == Seen {
			fmt.Fprintf(&b, " %q", op.Log)
		}
	}
	return b.String()
}
