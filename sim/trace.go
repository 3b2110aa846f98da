package sim

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/petermattis/goid"
)

// event is one line of a trace.
type event struct {
	step   int
	task   int32
	name   string
	op     sched.Op
	object string
	result uint64
	now    time.Duration
	where  []uintptr
	note   string
	edge   bool // ordered after the object's last operation by another task

	// With vector clocks: the task's own count before the operation, and its clock after it.
	tick  uint32
	since int // step at which the task announced the operation
	clock []uint32
}

// arrive is the slow part of a point: what tracing and identity checks need.
func (w *World) arrive(t *task) {
	if w.identify && goid.Get() != t.co.goid {
		w.foreign(t)
	}
	if w.tracing {
		t.where, t.tick, t.since = callers(3), t.clock.at(t.id), w.steps
	}
}

// observe is the slow part of an outcome.
func (w *World) observe(t *task, h *sched.Hook, op sched.Op, result uint64) {
	if w.footprints {
		if t.node != nil {
			w.foot = w.foot.add((footNode + t.node.index) << 2) // a read
		}
		if h != nil {
			w.tread(h, op, result)
		}
	}
	if w.tracing {
		quietly(func() { w.record(t, h, op, result) }) // the formatting of names shares buffers, which would order the tasks
	}
}

// record appends an operation to the trace.
func (w *World) record(t *task, h *sched.Hook, op sched.Op, result uint64) {
	e := event{
		step: w.steps, task: t.id, name: t.name, op: op, object: objectName(h),
		result: result, now: w.now, where: t.where, edge: acquires(op, result), tick: t.tick, since: t.since,
	}
	if w.clocksOn {
		e.clock = append([]uint32{}, t.clock.v...)
	}
	w.trace = append(w.trace, e)
	t.tick = t.clock.at(t.id) // for an operation without a point of its own
}

// acquires reports whether an operation orders what follows it after what others released on its object.
func acquires(op sched.Op, result uint64) bool {
	switch op {
	case sched.OpStore, sched.OpUnlock, sched.OpRUnlock, sched.OpSend, sched.OpWGAdd, sched.OpRead, sched.OpWrite,
		sched.OpSignal, sched.OpBroadcast, sched.OpClose, sched.OpCancel, sched.OpSet, sched.OpRelease, sched.OpArm:
		return false
	case sched.OpTryLock, sched.OpTryRLock, sched.OpAcquire:
		return result == 1
	default:
		return true
	}
}

// note adds a line that is no operation.
func (w *World) note(text string) {
	if !w.tracing {
		return
	}
	id, name := int32(-1), "world"
	if w.current != nil {
		id, name = w.current.id, w.current.name
	}
	w.trace = append(w.trace, event{step: w.steps, task: id, name: name, op: sched.OpEvent, now: w.now, note: text})
}

func callers(skip int) []uintptr {
	var pcs [24]uintptr
	n := runtime.Callers(skip+1, pcs[:])
	return append([]uintptr(nil), pcs[:n]...)
}

// frames returns the frames of user code: neither the simulator nor the primitives.
func frames(pcs []uintptr) []runtime.Frame {
	var out []runtime.Frame
	if len(pcs) == 0 {
		return nil
	}
	it := runtime.CallersFrames(pcs)
	for {
		f, more := it.Next()
		inside := strings.Contains(f.Function, "millrace/core/sched.") ||
			strings.Contains(f.Function, "millrace/sim.(*") || strings.Contains(f.Function, "millrace/sim.storeBuffers.") || strings.HasPrefix(f.Function, "runtime.") ||
			strings.HasPrefix(f.Function, "iter.")
		if !inside && f.File != "" {
			out = append(out, f)
		}
		if !more {
			return out
		}
	}
}

// placeOf is the innermost line of user code.
func placeOf(pcs []uintptr) string {
	if fs := frames(pcs); len(fs) > 0 {
		return fmt.Sprintf("%s:%d", filepath.Base(fs[0].File), fs[0].Line)
	}
	return ""
}

// stackText is the user's stack, one indented line a frame, with file names without folders.
func stackText(pcs []uintptr) string {
	var b strings.Builder
	for _, f := range frames(pcs) {
		name := f.Function[strings.LastIndex(f.Function, "/")+1:]
		fmt.Fprintf(&b, "\n      %s %s:%d", name, filepath.Base(f.File), f.Line)
	}
	return b.String()
}

// writeTrace prints the trace as a table.
func writeTrace(out io.Writer, events []event, v verdict) error {
	for _, e := range events {
		if _, err := fmt.Fprintln(out, e.line()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "\n%s at step %d\n%s\n", v, v.step, v.message)
	return err
}

func (e event) line() string {
	if e.op == sched.OpEvent {
		return fmt.Sprintf("%5d %10s  %3d %-22s  %s", e.step, e.now, e.task, e.name, e.note)
	}
	return fmt.Sprintf("%5d %10s  %3d %-22s  %-10s %-32s = %-6d %s", e.step, e.now, e.task, e.name, e.op, e.object,
		int64(e.result), placeOf(e.where))
}
