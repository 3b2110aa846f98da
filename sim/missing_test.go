package sim

import (
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
)

// crossedLock lets one task write before it takes a lock, and another read after it has held the same lock: ordered only
// when the lock changes hands in that order.
func crossedLock(w *World) {
	s := w.Scheduler()
	m, total := sched.NewMutex(s, "m"), sched.NewCell(s, "total", 0)
	w.Go("writer", func() {
		*total.Edit()++
		m.Lock()
		m.Unlock()
	})
	w.Go("reader", func() {
		m.Lock()
		m.Unlock()
		s.Yield()
		_ = *total.View()
	})
}

// racesOf returns the messages of all different races that the search finds, each from a traced run.
func racesOf(t *testing.T, body func(*World)) []string {
	t.Helper()
	o := newOptions(nil)
	var messages []string
	for seed := range uint64(40) {
		w := newWorld("race", body, &o)
		execute(w, &randomWalk{}, seed)
		w.drain()
		if !w.failed {
			continue
		}
		traced, _ := again("race", body, &o, Choices{w.schedule, w.data}, false)
		if traced.verdict.kind != "race" || traced.hash != w.hash {
			t.Fatalf("found %s, then %s", w.verdict, traced.verdict)
		}
		messages = append(messages, traced.verdict.message)
	}
	return messages
}

func TestARaceReportNamesTheMissingPath(t *testing.T) {
	found := strings.Join(racesOf(t, crossedLock), "\n----\n")
	for _, part := range []string{
		"missing_test.go:16", "missing_test.go:24", // both stacks
		`write of total by task 1 "writer"`, `read by task 2 "reader"`, // both accesses
		"of task 1, ordered before the second access: nothing",
		"task 1 released after the first access: nothing",
		"task 1 released after the first access: unlock mutex m#0",
		"task 1 acquired before the second access: nothing",
		"of task 2, ordered before the second access: ",
		"the missing edge: mutex m#0 was acquired at step",
		"the missing edge: a release by the first task",
	} {
		if !strings.Contains(found, part) {
			t.Errorf("no report tells %q:\n%s", part, found)
		}
	}
}

// A report names the locks that each side held: the one that is missing is on one side only.
func TestARaceReportNamesTheLocksHeld(t *testing.T) {
	found := strings.Join(racesOf(t, func(w *World) {
		s := w.Scheduler()
		m, rw, total := sched.NewMutex(s, "m"), sched.NewRWMutex(s, "rw"), sched.NewCell(s, "total", 0)
		w.Go("guarded", func() {
			m.Lock()
			rw.RLock()
			*total.Edit()++
			rw.RUnlock()
			m.Unlock()
		})
		w.Go("bare", func() {
			m.Lock()
			m.Unlock()
			rw.RLock()
			*total.Edit()++
			rw.RUnlock()
		})
	}), "\n----\n")
	for _, part := range []string{
		"locks held: mutex m#0, rwmutex rw#1 at the first access, rwmutex rw#1 at the second",
		"locks held: rwmutex rw#1 at the first access, mutex m#0, rwmutex rw#1 at the second",
	} {
		if !strings.Contains(found, part) {
			t.Errorf("no report tells %q:\n%s", part, found)
		}
	}
}

// The frontier in a report is what the second task really sees of the first.
func TestARaceReportTellsHowFarTheSecondTaskSees(t *testing.T) {
	found := racesOf(t, func(w *World) {
		s := w.Scheduler()
		flag, x := sched.NewBool(s, "flag", false), sched.NewCell(s, "x", 0)
		w.Go("writer", func() {
			flag.Store(true)
			*x.Edit() = 1
		})
		w.Go("reader", func() {
			if flag.Load() {
				_ = *x.View()
			}
		})
	})
	if len(found) == 0 {
		t.Fatal("no race was found")
	}
	for _, message := range found {
		want := "of task 1, ordered before the second access: everything up to its store atomic flag#0"
		if strings.HasPrefix(message, "write of x by task 1") && !strings.Contains(message, want) {
			t.Errorf("want %q in\n%s", want, message)
		}
	}
}
