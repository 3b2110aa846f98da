package sim

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/millrace-dev/millrace/core/sched"
)

// verdict is why an execution failed.
type verdict struct {
	kind, id, message string
	step              int
}

func (v verdict) String() string {
	if v.id == "" {
		return v.kind
	}
	return v.kind + " " + v.id
}

// fail records the first verdict. The caller then ends its task.
func (w *World) fail(kind, id, message string) {
	if w.failed || w.aborting {
		return
	}
	w.failed = true
	w.verdict = verdict{kind, id, message, w.steps}
}

// halt fails and does not return.
func (w *World) halt(kind, id, message string) {
	if w.aborting {
		runtime.Goexit()
	}
	w.fail(kind, id, message)
	w.yieldTo(w.current, nil)
}

// Require fails the execution unless ok. The id is data: an inventory expects it of a mutant.
func (w *World) Require(ok bool, id, format string, args ...any) {
	if !ok {
		w.halt("assertion", id, fmt.Sprintf(format, args...))
	}
}

// NoError fails the execution when err is not nil.
func (w *World) NoError(err error) {
	if err != nil {
		w.halt("assertion", "error", err.Error())
	}
}

// Errorf fails the execution. Like FailNow it does not return: what follows a wrong state explains nothing.
func (w *World) Errorf(format string, args ...any) {
	w.halt("assertion", "", fmt.Sprintf(format, args...))
}

// Fatalf fails the execution and does not return.
func (w *World) Fatalf(format string, args ...any) {
	w.halt("assertion", "", fmt.Sprintf(format, args...))
}

// FailNow fails the execution and does not return.
func (w *World) FailNow() { w.halt("assertion", "", "FailNow") }

// Helper does nothing; it is there for assertion libraries.
func (w *World) Helper() {}

// Name returns the check's id.
func (w *World) Name() string { return w.check }

// Logf adds a line to the trace of a failed execution.
func (w *World) Logf(format string, args ...any) {
	if w.tracing && !batons { // the same
		w.note(fmt.Sprintf(format, args...))
	}
}

// stuck is the verdict when tasks are left and nothing can happen any more.
func (w *World) stuck() {
	first, best := (*task)(nil), -1
	for _, t := range w.tasks {
		if t.state == waiting && t.telling() > best {
			first, best = t, t.telling()
		}
	}
	if first == nil {
		w.fail("deadlock", "", "tasks are left, and none waits")
		return
	}
	text := w.waitsText()
	w.traceWaits()
	if w.checkTasks == 0 {
		w.fail("leak", first.name, "the check is over and tasks of its owners still wait\n"+text)
		return
	}
	w.fail("deadlock", waitName(first), text)
}

// telling ranks waiting tasks by how much their wait explains: a task that joins others waits for their reason, and
// the check's own task says more than a helper of an owner.
func (t *task) telling() int {
	rank := 0
	if t.op != sched.OpWGWait {
		rank += 2
	}
	if t.mine {
		rank++
	}
	return rank
}

func waitName(t *task) string {
	if t.group == nil && len(t.arms) > 0 {
		return t.arms[0].H.Name
	}
	return t.h.Name
}

// waitsText tells who waits for what, where, and who holds it.
func (w *World) waitsText() string {
	var b strings.Builder
	for _, t := range w.tasks {
		if t.state != waiting {
			continue
		}
		fmt.Fprintf(&b, "task %d %q waits to %s %s", t.id, t.name, t.op, objectName(t.h))
		if t.group == nil && len(t.arms) > 1 {
			for _, a := range t.arms[1:] {
				fmt.Fprintf(&b, " or %s %s", a.Op, objectName(a.H))
			}
		}
		if t.h != nil {
			if o := w.objectOf(t.h); o.holder != nil {
				fmt.Fprintf(&b, ", held by task %d %q", o.holder.id, o.holder.name)
			}
		}
		b.WriteString(stackText(t.where))
		b.WriteByte('\n')
	}
	if cycle := w.cycle(); cycle != "" {
		b.WriteString("cycle: " + cycle + "\n")
	}
	return b.String()
}

// cycle follows holders from each waiting task.
func (w *World) cycle() string {
	for _, start := range w.tasks {
		path := []string{}
		t := start
		for range w.tasks {
			if t.state != waiting || t.h == nil {
				break
			}
			o := w.objectOf(t.h)
			path = append(path, fmt.Sprintf("task %d %q waits for %s", t.id, t.name, objectName(t.h)))
			if o.holder == nil {
				break
			}
			if t = o.holder; t == start {
				return strings.Join(path, " → ") + fmt.Sprintf(" → task %d", start.id)
			}
		}
	}
	return ""
}

func objectName(h *sched.Hook) string {
	if h == nil {
		return ""
	}
	return h.Kind.String() + " " + h.Name + "#" + strconv.Itoa(int(h.ID)) // fmt's pools would order tasks for the race detector
}
