package models

// Task is the reference of L12: one external task that workers lock for a time and settle. Numbers of locks rise by one.
type Task struct {
	Number  uint64 // of the last lock
	Until   int    // the time at which it ends; 0: nobody holds the task
	Settled bool
}

// Held reports whether somebody holds the task at a time.
func (t Task) Held(now int) bool { return !t.Settled && now < t.Until }

// Lock gives the task away until a time, and returns the number of the lock, or 0 when it cannot be had.
func (t *Task) Lock(now, until int) uint64 {
	if t.Settled || t.Held(now) {
		return 0
	}
	t.Number, t.Until = t.Number+1, until
	return t.Number
}

// Holds reports whether the number may settle the task.
func (t Task) Holds(number uint64, now int) bool { return number == t.Number && t.Held(now) }

// Settle ends the task for good.
func (t *Task) Settle(number uint64, now int) bool {
	if !t.Holds(number, now) {
		return false
	}
	t.Settled = true
	return true
}

// Extend moves the end of the lock.
func (t *Task) Extend(number uint64, now, until int) bool {
	if !t.Holds(number, now) {
		return false
	}
	t.Until = until
	return true
}

// Release frees the task for others.
func (t *Task) Release(number uint64, now int) bool {
	if !t.Holds(number, now) {
		return false
	}
	t.Until = 0
	return true
}
