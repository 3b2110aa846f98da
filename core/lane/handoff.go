package lane

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
)

// Stage is one part of handling a delivery, in the order in which an attempt goes through them.
type Stage uint8

// The stages. Those up to Resolved belong to the arrival lane, the rest to the lane that runs the step.
const (
	Decoded  Stage = iota + 1 // the body became a message, valid against its schema
	Resolved                  // the message's key became an instance and a wait
	Claimed                   // the instance is ours
	Loaded                    // and read
	Guarded                   // what was resolved still holds
	Pinned                    // the definition that the instance belongs to is at hand
	Resumed                   // the step ran
)

var stageNames = [...]string{"arrived", "decoded", "resolved", "claimed", "loaded", "guarded", "pinned", "resumed"}

// String names the stage.
func (s Stage) String() string {
	if int(s) < len(stageNames) {
		return stageNames[s]
	}
	return fmt.Sprintf("stage(%d)", uint8(s))
}

// Handoff (L15) is one attempt at a delivery, on its way from the lane it arrived on to the lane of the
// instance it resolved to; often the two are one.
//
// It owns what the arrival lane found out, the message and the target, and the stage the attempt has
// reached. It never lets a stage run twice: what was decoded, validated and resolved travels, and the receiver
// runs claim, load, guards, pin and resume alone. Decoding again would cost twice, and could decide differently
// when definitions change between the two lanes.
//
//	arrived ──Arrive──▶ decoded ──Arrive──▶ resolved ──hop or stay──▶ claimed ▶ loaded ▶ guarded ▶ pinned ▶ resumed
//
// Invariants
//
//	I1  a stage runs at most once in an attempt, and stages rise.
//	I2  the receiver finds an attempt that was resolved.
//
//	Orders         the arrival lane's writes → its reply → the caller's enqueue → the receiver's reads.
//	Linearization  none: the value belongs to one task at a time, which the simulator checks as a Cell.
//	Waits          none of its own.
//	Hot path       one comparison and one assignment a stage.
//
// Model models/handoff.go · Checks TestSimL15*, TestModelL15* · Mutants L15.*, and L2.resolve-again, which plants its bug here
type Handoff[M, T any] struct {
	s       sched.Scheduler
	decode  func() (M, error)
	resolve func(M) (T, error)
	held    sched.Cell[attempt[M, T]]
}

// attempt is what travels.
type attempt[M, T any] struct {
	stage   Stage
	message M
	target  T
}

// NewHandoff returns an attempt that has just arrived.
func NewHandoff[M, T any](s sched.Scheduler, decode func() (M, error), resolve func(M) (T, error)) *Handoff[M, T] {
	h := &Handoff[M, T]{s: s, decode: decode, resolve: resolve, held: sched.NewCell(s, "handed-off delivery", attempt[M, T]{})}
	s.Own("L15", h, nil)
	return h
}

// Arrived reports whether the attempt has only just arrived: nothing of it was done yet.
func (h *Handoff[M, T]) Arrived() bool { return h.held.View().stage == 0 }

// Decode decodes and validates, on the arrival lane. Its error is the decoder's.
func (h *Handoff[M, T]) Decode() (M, error) {
	h.Enter(Decoded)
	message, err := h.decode()
	h.held.Edit().message = message
	return message, err
}

// Resolve resolves the decoded message, on the arrival lane. Its error is the resolver's.
func (h *Handoff[M, T]) Resolve() (T, error) {
	h.Enter(Resolved)
	target, err := h.resolve(h.held.View().message)
	h.held.Edit().target = target
	return target, err
}

// Receive returns what travelled, on the lane that runs the step. An attempt that was not resolved is a fault of the program: it
// panics.
func (h *Handoff[M, T]) Receive() (M, T) {
	held := h.held.View()
	if held.stage != Resolved {
		h.fault(sched.Broken("L15.I2", "a delivery was received %s, not resolved", held.stage))
	}
	return held.message, held.target
}

// Enter notes that the attempt enters a stage. Out of order is a fault of the program: it panics.
func (h *Handoff[M, T]) Enter(stage Stage) {
	held := h.held.Edit()
	if stage <= held.stage {
		h.fault(sched.Broken("L15.I1", "a delivery that was %s is being %s again", held.stage, stage))
	}
	held.stage = stage
}

// fault shows a simulation the broken invariant, and stops the task everywhere else.
func (h *Handoff[M, T]) fault(broken error) {
	h.s.Check("L15", func() error { return broken })
	panic("lane: " + broken.Error())
}
