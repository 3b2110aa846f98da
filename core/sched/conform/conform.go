// Package conform holds the conformance scripts of core/sched (I3): one small program per primitive whose result does not depend
// on the schedule. Each runs on every backend and must say the same on all of them, so that what the simulator explores
// behaves as what production runs.
//
// A script's own task does the saying; what other tasks found out reaches it through a join.
package conform

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
)

// Script is one program and what it says.
type Script struct {
	Name string
	// Timed says that time must pass: the real runtime runs it where time is virtual.
	Timed bool
	// Wide says that it draws from more values than a search can enumerate.
	Wide bool
	Run  func(r *Run)
	Want []string
}

// Run is one run of a script on one backend.
type Run struct {
	S     sched.Scheduler
	Scope *sched.Scope
	// Await returns when cond holds: the backend knows how to let the others go on until then. cond has no effect when it is
	// false.
	Await func(what string, cond func() bool)

	said []string
}

// New returns a run on s. await is as in Run.
func New(s sched.Scheduler, await func(what string, cond func() bool)) *Run {
	return &Run{S: s, Scope: s.NewScope("script"), Await: await}
}

// Execute runs the script and returns what it said.
func (r *Run) Execute(k Script) []string {
	k.Run(r)
	r.Scope.Close()
	return r.said
}

// Say adds a line.
func (r *Run) Say(format string, args ...any) { r.said = append(r.said, fmt.Sprintf(format, args...)) }

// Both runs f and g as two tasks and returns when they have ended.
func (r *Run) Both(f, g func()) {
	both := r.Scope.Child("both")
	r.S.Go(both, "first", f)
	r.S.Go(both, "second", g)
	both.Join()
	both.Close()
}

// Beside starts f as a task and returns a function that joins it.
func (r *Run) Beside(name string, f func()) (join func()) {
	scope := r.Scope.Child(name)
	r.S.Go(scope, name, f)
	return func() {
		scope.Join()
		scope.Close()
	}
}

// Panic calls f and returns what it panicked with, as text, or "no panic".
func Panic(f func()) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprint(p)
		}
	}()
	f()
	return "no panic"
}

// Scripts returns every script.
func Scripts() []Script {
	var all []Script
	for _, group := range [][]Script{atomics(), locks(), waiters(), channels(), scopes(), clocks()} {
		all = append(all, group...)
	}
	return all
}
