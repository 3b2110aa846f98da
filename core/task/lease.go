package task

import (
	"errors"
	"fmt"
	"time"
)

// Refusals of a lease. They are permanent for the number that they are given to.
var (
	// ErrLocked: somebody holds the task.
	ErrLocked = errors.New("the task is locked")
	// ErrNotHeld: the number is not that of the present lock; it expired and the task was locked again, or there is none.
	ErrNotHeld = errors.New("the task is not held under this lock")
	// ErrExpired: the lock was the last one, and its time is over.
	ErrExpired = errors.New("the lock has expired")
)

// Lease (L12) is the right to settle one external task.
//
// It owns who holds the task, until when, and under which number. It never waits, and reads no clock: the time is the step's.
//
//	free ──Lock──▶ held ──Extend──▶ held
//	 ▲              │ │
//	 │   time over  │ └─the task is settled: the lease goes with its token
//	 └──Release─────┘
//
// Invariants
//
//	I1  at any moment at most one number may settle the task: the one of the last Lock, until its time is over.
//	I2  numbers rise by one with each Lock and are never used again within a task, so a holder that comes late
//	    cannot be mistaken for its successor.
//	I3  a lock is not cut short by another worker: Lock is refused until the time is over.
//
//	Orders         claim taken → lease read → check → step committed. A lock is told to the worker after its commit.
//	Linearization  the commit of the step that the operation is part of.
//	Waits          none.
//	Hot path       comparisons.
//
// Model models/task.go · Checks TestSimL12*, TestModelL12*, TestLinearL12* · Mutants L12.*
type Lease struct {
	Worker string    `json:"worker,omitempty"`
	Number uint64    `json:"number,omitempty"` // of the last lock; 0: never locked
	Until  time.Time `json:"until,omitzero"`   // zero: nobody holds it
}

// Held reports whether somebody holds the task at that time.
func (l Lease) Held(now time.Time) bool { return now.Before(l.Until) }

// Lock gives the task to a worker until a time. ErrLocked when it is held.
func (l Lease) Lock(worker string, now, until time.Time) (Lease, error) {
	if l.Held(now) {
		return l, fmt.Errorf("lock %d of %s until %s: %w", l.Number, l.Worker, l.Until.Format(time.RFC3339), ErrLocked)
	}
	return Lease{Worker: worker, Number: l.Number + 1, Until: until}, nil
}

// Check returns nil when the number may settle the task at that time.
func (l Lease) Check(number uint64, now time.Time) error {
	switch {
	case number != l.Number || l.Until.IsZero():
		return fmt.Errorf("lock %d: %w", number, ErrNotHeld)
	case !l.Held(now):
		return fmt.Errorf("lock %d, until %s: %w", number, l.Until.Format(time.RFC3339), ErrExpired)
	}
	return nil
}

// Extend moves the end of the lock. The errors are those of Check.
func (l Lease) Extend(number uint64, now, until time.Time) (Lease, error) {
	if err := l.Check(number, now); err != nil {
		return l, err
	}
	l.Until = until
	return l, nil
}

// Release frees the task and keeps its number. The errors are those of Check.
func (l Lease) Release(number uint64, now time.Time) (Lease, error) {
	if err := l.Check(number, now); err != nil {
		return l, err
	}
	return Lease{Number: l.Number}, nil
}
