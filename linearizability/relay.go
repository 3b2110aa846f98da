package linearizability

import (
	"slices"

	"github.com/anishathalye/porcupine"
)

// QueueOp is an operation on a relay's queue (C6).
type QueueOp uint8

// The operations.
const (
	QueuePush QueueOp = iota
	QueueReceive
	QueueClose
)

// QueueInput is a call.
type QueueInput struct {
	Op    QueueOp
	Value int // pushed
}

// QueueOutput is a return: whether the queue was closed and, of a receive, the value.
type QueueOutput struct {
	Value  int
	Closed bool
}

type queueState struct {
	items  []int
	closed bool
}

// QueueModel is the sequential specification of a queue of the given capacity. Calls that wait have no
// linearization point until they return.
func QueueModel(capacity int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return queueState{} },
		Step: func(state, input, output any) (bool, any) {
			return state.(queueState).step(capacity, input.(QueueInput), output)
		},
		Equal: func(a, b any) bool {
			x, y := a.(queueState), b.(queueState)
			return x.closed == y.closed && slices.Equal(x.items, y.items)
		},
	}
}

func (s queueState) step(capacity int, in QueueInput, output any) (bool, any) {
	out, _ := output.(QueueOutput)
	switch in.Op {
	case QueueClose:
		return true, queueState{s.items, true}
	case QueuePush:
		if out.Closed {
			return s.closed, s
		}
		next := queueState{append(slices.Clone(s.items), in.Value), s.closed}
		return !s.closed && len(s.items) < capacity, next
	default:
	}
	if out.Closed {
		return s.closed && len(s.items) == 0, s
	}
	if len(s.items) == 0 || s.items[0] != out.Value {
		return false, s
	}
	return true, queueState{s.items[1:], s.closed}
}
