package deadlock

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// find records v, one fault of the program, once: a verdict such as "deadlock KIND NAMES" whose message says who, what and where. After a fatal finding the program is dead, and what follows explains nothing. The guard is held.
func (m *monitor) find(v inventory.Verdict, fatal bool) {
	known := func(f inventory.Verdict) bool { return f.String() == v.String() }
	if m.over || m.silent {
		return
	}
	if !slices.ContainsFunc(m.findings, known) {
		if m.findings = append(m.findings, v); len(m.findings) == 1 {
			close(m.first)
		}
	}
	if fatal {
		m.over = true
		close(m.dead)
	}
}

func (m *monitor) deadlock(fatal bool, id, format string, args ...any) {
	m.find(inventory.Verdict{Kind: inventory.KindDeadlock, ID: id, Message: fmt.Sprintf(format, args...)}, fatal)
}

func (m *monitor) foundAgain(what, why string, t *task, o *object, h hold, fatal bool) {
	m.deadlock(fatal, what+" "+o.hook.Name, "%v takes %v again, and has it since%s\n    %s:%s", t, o, stackText(h.where), why, stackText(t.where))
}

func (m *monitor) foundHeld(t *task, h hold, arms []sched.Arm) {
	what := "a channel of another library"
	if arms[0].H != nil {
		what = m.of(arms[0].H).String()
	}
	m.deadlock(false, "held "+h.o.hook.Name, "%v keeps %v since%s\n    and waits to %v %s:%s", t, h.o, stackText(h.where), arms[0].Op, what, stackText(t.where))
}

func (m *monitor) freedByOther(t *task, o *object) {
	has := "nobody has it"
	if o.holder != nil {
		has = o.holder.String() + " has it"
	}
	if o.hook.Kind == sched.KindCond {
		has = "a condition is waited for without its lock"
	}
	m.deadlock(true, "unlock "+o.hook.Name, "%v frees %v, which it does not hold: %s%s", t, o, has, stackText(callers()))
}

func (m *monitor) foundCycle(path []*task) {
	var names, text []string
	for _, t := range path {
		names = append(names, m.of(t.arms[0].H).hook.Name)
		text = append(text, m.waitText(t))
	}
	slices.Sort(names)
	m.deadlock(true, "cycle "+strings.Join(slices.Compact(names), ","), "each waits for the next, and the last for the first:\n%s", strings.Join(text, "\n"))
}

func (m *monitor) foundOrder(path []*edge) {
	var names, text []string
	for _, e := range path {
		names = append(names, e.from.hook.Name)
		text = append(text, fmt.Sprintf("%s took %v%s\n    then %v%s", e.task, e.from, stackText(e.first), e.to, stackText(e.second)))
	}
	slices.Sort(names)
	m.deadlock(false, "order "+strings.Join(names, ","), "these orders close a cycle:\n%s", strings.Join(text, "\n"))
}

func (m *monitor) foundSearch(e *edge) {
	m.deadlock(false, "bound order", "more than %d steps to look for a cycle through %v and %v: the program takes too many locks to be judged", maxSteps, e.from, e.to)
}

func (m *monitor) foundStuck() {
	first := m.live[0]
	var text []string
	for _, t := range m.live {
		text = append(text, m.waitText(t))
		if m.joins(first) && !m.joins(t) {
			first = t // who joins waits for another's reason
		}
	}
	m.deadlock(true, "stuck "+m.of(first.arms[0].H).hook.Name, "everybody waits, and nothing that is waited for can come:\n%s", strings.Join(text, "\n"))
}

func (m *monitor) joins(t *task) bool {
	return t.arms[0].Op == sched.OpWGWait && m.of(t.arms[0].H).scoped
}

func (m *monitor) panicked(t *task, p any) {
	stack := debug.Stack()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.find(inventory.Verdict{Kind: inventory.KindPanic, ID: t.name, Message: fmt.Sprintf("%v: %v\n%s", t, p, stack)}, true)
}

// shownFrames is how many lines of a stack a report has.
const shownFrames = 5

// stackText is the user's part of a stack, one indented line a frame, with file names without folders.
func stackText(pcs []uintptr) string {
	var b strings.Builder
	frames, shown := runtime.CallersFrames(pcs), 0
	for more := len(pcs) > 0; more && shown < shownFrames; {
		var f runtime.Frame
		f, more = frames.Next()
		name := f.Function[strings.LastIndex(f.Function, "/")+1:]
		if strings.HasPrefix(name, "sched.") || strings.HasPrefix(name, "deadlock.(*monitor)") || strings.HasPrefix(name, "runtime.") {
			continue
		}
		fmt.Fprintf(&b, "\n      %s %s:%d", name, filepath.Base(f.File), f.Line)
		shown++
	}
	return b.String()
}
