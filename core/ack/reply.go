package ack

import "github.com/millrace-dev/millrace/core/sched"

// Reply is a receiver that one task waits on: how a request stays open until its tree is settled.
type Reply struct{ outcome sched.WriteOnce[Outcome] }

// NewReply returns a reply that nobody has given yet.
func NewReply(s sched.Scheduler) *Reply {
	return &Reply{outcome: sched.NewWriteOnce[Outcome](s, "ack reply")}
}

// Resolved stores the outcome. A tree calls it once.
func (r *Reply) Resolved(o Outcome) { r.outcome.Set(o) }

// Wait returns the outcome, or the cause of scope's end: then the attempt is still open and its outcome unknown.
func (r *Reply) Wait(scope *sched.Scope) (Outcome, error) { return r.outcome.Wait(scope) }

// Get returns the outcome if there is one.
func (r *Reply) Get() (Outcome, bool) { return r.outcome.Get() }
