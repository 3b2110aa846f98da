package linearizability

import (
	"github.com/anishathalye/porcupine"
	"github.com/millrace-dev/millrace/models"
)

// TaskOp is an operation on an external task (L12).
type TaskOp uint8

// The operations.
const (
	TaskLock TaskOp = iota
	TaskComplete
	TaskRelease
)

// TaskInput is a call of a worker; Number is the lock that it holds.
type TaskInput struct {
	Op     TaskOp
	Number uint64
}

// TaskOutput is its return: the number that was given away, or whether the call was accepted.
type TaskOutput struct {
	Number uint64
	Done   bool
}

// TaskModel is the sequential specification of one task whose locks never expire within the history: time is not part of it.
func TaskModel() porcupine.Model {
	const never = 1 << 30
	return porcupine.Model{
		Init: func() any { return models.Task{} },
		Step: func(state, input, output any) (bool, any) {
			task, in, out := state.(models.Task), input.(TaskInput), output.(TaskOutput)
			switch in.Op {
			case TaskLock:
				return task.Lock(0, never) == out.Number, task
			case TaskComplete:
				return task.Settle(in.Number, 0) == out.Done, task
			default:
				return task.Release(in.Number, 0) == out.Done, task
			}
		},
		Equal: func(a, b any) bool { return a == b },
	}
}
