package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/core/sched"
)

// maxNamed bounds the operations that a race report names on each side.
const maxNamed = 4

// missing explains why two accesses are not ordered: how far into the first task's past the second one sees, what the
// first released after its access, what the second acquired before its own, and on which object the two missed each
// other. It needs the trace.
func (w *World) missing(before, now *access) string {
	first, second := before.task, now.task
	known := second.clock.at(first.id)
	var seen *event
	var released, acquired, asked []*event
	past := false // the first access has been passed
	var foreign []uint32
	for i := range w.trace {
		e := &w.trace[i]
		switch {
		case e.task == first.id && e.clock != nil:
			past = past || e.step == before.step && e.plain()
			if e.tick <= known && !past {
				seen = e
			}
			if past && clockAt(e.clock, first.id) > e.tick {
				released = append(released, e)
			}
		case e.task == second.id && e.clock != nil:
			if e.edge && e.object != "" {
				asked = append(asked, e) // perhaps too early to learn anything
			}
			if learned(foreign, e.clock, second.id) && e.object != "" {
				acquired = append(acquired, e)
			}
			foreign = e.clock
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n  of task %d, ordered before the second access: %s", first.id, upTo(seen))
	fmt.Fprintf(&b, "\n  task %d released after the first access: %s", first.id, namesOf(released))
	fmt.Fprintf(&b, "\n  task %d acquired before the second access: %s", second.id, namesOf(acquired))
	fmt.Fprintf(&b, "\n  locks held: %s at the first access, %s at the second", heldAt(w.trace, before), heldAt(w.trace, now))
	b.WriteString(crossing(released, asked))
	return b.String()
}

// heldAt names the locks that a task held at its access.
func heldAt(trace []event, a *access) string {
	var held []string
	for i := range trace {
		e := &trace[i]
		if e.task != a.task.id {
			continue
		}
		if e.step == a.step && e.plain() {
			break
		}
		switch e.op {
		case sched.OpLock, sched.OpRLock, sched.OpTryLock, sched.OpTryRLock:
			if e.result == 1 && !slices.Contains(held, e.object) {
				held = append(held, e.object)
			}
		case sched.OpUnlock, sched.OpRUnlock:
			held = slices.DeleteFunc(held, func(object string) bool { return object == e.object })
		default:
		}
	}
	if len(held) == 0 {
		return "none"
	}
	return strings.Join(held, ", ")
}

// plain reports whether e is an access to a Cell.
func (e *event) plain() bool { return e.op == sched.OpRead || e.op == sched.OpWrite }

// learned reports whether clock knows more of other tasks than earlier did.
func learned(earlier, clock []uint32, self int32) bool {
	for id, n := range clock {
		if int32(id) != self && n > clockAt(earlier, int32(id)) {
			return true
		}
	}
	return false
}

func clockAt(clock []uint32, id int32) uint32 {
	if uint(id) < uint(len(clock)) {
		return clock[id]
	}
	return 0
}

func upTo(e *event) string {
	if e == nil {
		return "nothing"
	}
	return "everything up to its " + e.place()
}

// place names an operation with its step and line.
func (e *event) place() string {
	text := strings.TrimSpace(fmt.Sprintf("%s %s", e.op, e.object)) + fmt.Sprintf(" at step %d", e.step)
	if at := placeOf(e.where); at != "" {
		text += " (" + at + ")"
	}
	return text
}

func namesOf(events []*event) string {
	if len(events) == 0 {
		return "nothing"
	}
	var names []string
	for _, e := range events[max(0, len(events)-maxNamed):] {
		names = append(names, e.place())
	}
	text := strings.Join(names, ", ")
	if more := len(events) - len(names); more > 0 {
		text = fmt.Sprintf("(%d more) %s", more, text)
	}
	return text
}

// crossing names an object that would have ordered the two, had its acquisition come after its release.
func crossing(released, asked []*event) string {
	for _, a := range asked {
		for _, r := range released {
			if a.object == r.object && a.step < r.step {
				return fmt.Sprintf("\n  the missing edge: %s was acquired at step %d, before its release at step %d", a.object, a.step, r.step)
			}
		}
	}
	return "\n  the missing edge: a release by the first task, after its access, of something that the second acquires before its own"
}
