package deadlock

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/core/sched"
)

// wait judges that t begins to wait for one of arms. It does not return when that wait cannot end. The guard is held.
func (m *monitor) wait(t *task, arms ...sched.Arm) {
	t.arms, t.where = append(t.arms[:0], arms...), callers()
	if t.leaving {
		m.leave(t) // a deferred call must not wait in a dead program
	}
	o, lock := m.lockOf(arms)
	if lock {
		m.again(t, o, arms[0].Op)
		m.edges(t, o, t.where)
	}
	if !lock || !o.isLock() {
		m.heldOver(t, arms)
	}
	t.blocked = true
	m.running--
	if path := m.cycle(t); path != nil {
		m.foundCycle(path)
	}
	m.rest()
	if m.over && !t.foreign {
		m.leave(t)
	}
}

// lockOf returns what is waited for when that is something that one task holds at a time.
func (m *monitor) lockOf(arms []sched.Arm) (*object, bool) {
	if arms[0].H == nil || len(arms) > 1 && arms[0].H.Kind != sched.KindSemaphore {
		return nil, false
	}
	o := m.of(arms[0].H)
	return o, o.excludes()
}

// again finds a lock that t has already.
func (m *monitor) again(t *task, o *object, op sched.Op) {
	i := t.holds(o)
	if i < 0 || !o.isLock() {
		return
	}
	if op == sched.OpRLock && t.held[i].read {
		m.foundAgain("recursive", "a writer that comes in between lets neither go on", t, o, t.held[i], false)
		return
	}
	m.foundAgain("double", "it waits for itself", t, o, t.held[i], true)
}

// heldOver finds mutexes that t keeps while it waits for something else.
func (m *monitor) heldOver(t *task, arms []sched.Arm) {
	for _, h := range t.held {
		if h.o.isLock() {
			m.foundHeld(t, h, arms)
		}
	}
}

// tried reports whether the caller is an attempt that does not wait.
func tried() bool {
	var pcs [12]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, ".(*Semaphore).TryAcquire") {
			return true
		}
		if !more {
			return false
		}
	}
}

// blockers returns the tasks without any one of which t cannot go on. There are none where somebody else might help.
func (m *monitor) blockers(t *task) []*task {
	if !t.blocked || len(t.arms) != 1 || t.arms[0].H == nil {
		return nil
	}
	a := t.arms[0]
	o := m.of(a.H)
	if a.W != nil && a.W.Ready {
		return nil
	}
	switch o.hook.Kind {
	case sched.KindMutex, sched.KindOnce, sched.KindSemaphore:
		return one(o.holder)
	case sched.KindRWMutex:
		if a.Op == sched.OpRLock && o.holder == nil {
			return m.writersOf(o)
		}
		if a.Op == sched.OpLock {
			return append(one(o.holder), o.readers...)
		}
		return one(o.holder)
	case sched.KindWaitGroup:
		if o.scoped && o.n > 0 {
			return o.counted
		}
	default:
	}
	return nil
}

func one(t *task) []*task {
	if t == nil {
		return nil
	}
	return []*task{t}
}

// writersOf returns the tasks that wait to write: they keep new readers out.
func (m *monitor) writersOf(o *object) (waiting []*task) {
	for _, t := range m.live {
		if t.waitsFor(o, sched.OpLock) {
			waiting = append(waiting, t)
		}
	}
	return waiting
}

// cycle returns tasks of which each waits for the next and the last for the first, which is t, or nil.
func (m *monitor) cycle(t *task) []*task {
	seen := map[*task]bool{}
	var follow func(at *task) []*task
	follow = func(at *task) []*task {
		for _, next := range m.blockers(at) {
			if next == t {
				return []*task{at}
			}
			if seen[next] {
				continue
			}
			seen[next] = true
			if path := follow(next); path != nil {
				return append([]*task{at}, path...)
			}
		}
		return nil
	}
	return follow(t)
}

// rest is called when one task less can go on: nobody may be left.
func (m *monitor) rest() {
	if m.running > 0 || m.over {
		return
	}
	if len(m.live) == 0 {
		if m.idle != nil {
			close(m.idle)
			m.idle = nil
		}
		return
	}
	if m.timers == 0 && !slices.ContainsFunc(m.live, m.canGo) {
		m.foundStuck()
	}
}

// canGo reports whether the wait of t can end, or has ended and t has not come to say so.
func (m *monitor) canGo(t *task) bool {
	return !t.blocked || slices.ContainsFunc(t.arms, func(a sched.Arm) bool { return m.armCanGo(t, a) })
}

func (m *monitor) armCanGo(t *task, a sched.Arm) bool {
	if a.H == nil {
		return true // of another library: who knows
	}
	if a.W != nil {
		return a.W.Ready
	}
	o := m.of(a.H)
	switch a.Op {
	case sched.OpLock:
		return o.holder == nil && len(o.readers) == 0
	case sched.OpRLock:
		return o.holder == nil && len(m.writersOf(o)) == 0
	case sched.OpRecv:
		return o.closed || o.n > 0 || o.hook.Kind == sched.KindChan && m.partner(t, o, sched.OpSend)
	case sched.OpSend:
		return o.closed || o.n < o.capacity || m.partner(t, o, sched.OpRecv)
	case sched.OpWGWait:
		return o.n <= 0
	case sched.OpDone:
		return o.closed
	default:
		return true
	}
}

// partner reports whether somebody else waits to do op: on a channel both sides do not wait for each other for long.
func (m *monitor) partner(t *task, o *object, op sched.Op) bool {
	return slices.ContainsFunc(m.live, func(x *task) bool { return x != t && x.waitsFor(o, op) })
}

// waitText tells what t waits for, who has it, and where.
func (m *monitor) waitText(t *task) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v waits", t)
	for i, a := range t.arms {
		if i > 0 {
			b.WriteString(" or")
		}
		if a.H == nil {
			b.WriteString(" for a channel of another library")
			continue
		}
		o := m.of(a.H)
		fmt.Fprintf(&b, " to %v %v", a.Op, o)
		if o.holder != nil {
			fmt.Fprintf(&b, ", held by %v", o.holder)
		}
		for _, r := range o.readers {
			fmt.Fprintf(&b, ", read by %v", r)
		}
	}
	b.WriteString(stackText(t.where))
	for _, h := range t.held {
		fmt.Fprintf(&b, "\n    and holds %v since%s", h.o, stackText(h.where))
	}
	return b.String()
}
