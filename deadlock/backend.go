package deadlock

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var _ sched.Backend = (*monitor)(nil)

// Object registers a primitive.
func (m *monitor) Object(kind sched.Kind, name string, capacity int) *sched.Hook {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := &object{capacity: capacity}
	o.hook = sched.Hook{B: m, ID: uint32(len(m.objects)), Kind: kind, Name: name}
	if m.second && o.isLock() {
		o.second = newOpinion(kind)
	}
	m.objects = append(m.objects, o)
	return &o.hook
}

// Own does nothing: an invariant reads what other tasks change while it does, which only the simulator can stop.
func (m *monitor) Own(string, any, func() error) {}

// waits reports whether somebody can wait for an object of the kind. The others are let pass without the guard.
func waits(h *sched.Hook) bool {
	return h != nil && h.Kind != sched.KindAtomic && h.Kind != sched.KindPublication && h.Kind != sched.KindRand && h.Kind != sched.KindExternal
}

// Point is where a lock is given up: whoever gets it may report so before this task has come to say that it freed it.
func (m *monitor) Point(h *sched.Hook, op sched.Op) {
	if op == sched.OpYield {
		runtime.Gosched()
	}
	m.giveWay()
	if !waits(h) {
		return
	}
	t := m.enter()
	t.announced, t.announcedOp = h, op
	o := m.of(h)
	strange := (op == sched.OpUnlock || op == sched.OpRUnlock) && t.holds(o) < 0
	m.announce(t, o, op)
	if m.over && !t.foreign && (strange || !t.leaving) {
		m.leave(t) // before the real operation brings the process down
	}
	m.mu.Unlock()
}

func (m *monitor) announce(t *task, o *object, op sched.Op) {
	switch op {
	case sched.OpUnlock, sched.OpRUnlock:
		m.release(t, o)
	case sched.OpRelease:
		if o.excludes() {
			m.release(t, o)
		}
		o.holder = nil // of a Once: its function has returned
	case sched.OpRegister:
		if o.hook.Kind == sched.KindCond && !slices.ContainsFunc(t.held, func(h hold) bool { return h.o.isLock() }) && !t.leaving {
			m.freedByOther(t, o)
		}
	default:
	}
}

// Outcome reports what an operation did.
func (m *monitor) Outcome(h *sched.Hook, op sched.Op, result uint64) {
	if !waits(h) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.current()
	announced := t.announced == h && t.announcedOp == op
	t.announced, t.announcedOp = nil, sched.OpNone
	m.happened(t, m.of(h), op, result, announced)
}

func (m *monitor) happened(t *task, o *object, op sched.Op, result uint64, announced bool) {
	switch op {
	case sched.OpLock, sched.OpTryLock:
		if result == 1 {
			m.acquire(t, o, false)
		}
	case sched.OpRLock, sched.OpTryRLock:
		if result == 1 {
			m.acquire(t, o, true)
		}
	case sched.OpUnlock:
		if !announced { // a condition frees its mutex
			m.release(t, o)
		}
	case sched.OpAcquire, sched.OpWait:
		if result == 1 && o.hook.Kind == sched.KindSemaphore && o.excludes() {
			if op == sched.OpAcquire && len(t.held) > 0 && !tried() {
				m.edges(t, o, callers())
			}
			m.acquire(t, o, false)
		}
	case sched.OpOnce:
		if result == 1 {
			o.holder = t
		}
	case sched.OpWGAdd:
		m.counts(t, o, int(int64(result)), announced)
	case sched.OpSend, sched.OpFire:
		if result == 1 {
			o.n++
		}
	case sched.OpRecv:
		if result == 1 {
			o.n--
		}
	case sched.OpStop:
		o.n = 0
	case sched.OpClose:
		o.closed = true
	case sched.OpCancel:
		o.closed = o.closed || result == 1
	default:
	}
}

// counts changes the count of a wait group. A scope raises its own without an announcement, for the task that is started next.
func (m *monitor) counts(t *task, o *object, by int, announced bool) {
	o.n += by
	if by > 0 && !announced {
		o.scoped = true
		t.raised = append(t.raised, o)
	}
}

func (m *monitor) acquire(t *task, o *object, read bool) {
	if read {
		o.readers = append(o.readers, t)
	} else {
		o.holder = t
	}
	t.held = append(t.held, hold{o: o, read: read, shadow: t.shadowed == o, where: callers()})
	t.shadowed = nil
}

// release takes o from t. A semaphore may be given back by anybody, a lock may not.
func (m *monitor) release(t *task, o *object) {
	owner := t
	i := t.holds(o)
	if i < 0 && o.isLock() {
		if !t.leaving {
			m.freedByOther(t, o)
		}
		return
	}
	if i < 0 {
		if owner = o.holder; owner == nil {
			return
		}
		if i = owner.holds(o); i < 0 {
			return
		}
	}
	h := owner.held[i]
	owner.held = slices.Delete(owner.held, i, i+1)
	if h.read {
		if k := slices.Index(o.readers, owner); k >= 0 {
			o.readers = slices.Delete(o.readers, k, k+1)
		}
	} else if o.holder == owner {
		o.holder = nil
	}
	if h.shadow {
		o.second.free(h.read)
	}
}

// Block announces a wait. The real operation follows, except for a hand-over to one waiter, which is waited for here.
func (m *monitor) Block(a sched.Arm) sched.Grant {
	native := sched.Grant{Index: sched.Native}
	if a.Op == sched.OpIntend {
		return native
	}
	m.giveWay()
	t := m.enter()
	m.wait(t, a)
	o := m.of(a.H)
	m.mu.Unlock()
	if a.W == nil {
		m.opine(t, o, a.Op)
		return native
	}
	select {
	case <-a.W.C:
	case <-m.dead:
		m.mu.Lock()
		m.leave(t)
	}
	return native
}

// Try announces an operation that does not wait.
func (m *monitor) Try(a sched.Arm) sched.Grant {
	m.giveWay()
	m.enter()
	m.mu.Unlock()
	return sched.Grant{Index: sched.Native}
}

// Select announces a wait for one of several things.
func (m *monitor) Select(arms []sched.Arm) sched.Grant {
	m.giveWay()
	t := m.enter()
	m.wait(t, arms...)
	m.mu.Unlock()
	return sched.Grant{Index: sched.Native}
}

// Wake hands a permit to w.
func (m *monitor) Wake(_ *sched.Hook, w *sched.Waiter) {
	m.mu.Lock()
	w.Ready = true
	m.mu.Unlock()
	w.C <- struct{}{}
}

// Access does nothing: Go's own race detector sees plain memory on real threads.
func (m *monitor) Access(*sched.Hook, bool) {}

// Go starts a task.
func (m *monitor) Go(_ *sched.Hook, name string, f func()) {
	t := m.enter()
	started := m.add(name)
	started.counted, t.raised = t.raised, nil
	for _, o := range started.counted {
		o.counted = append(o.counted, started)
	}
	m.mu.Unlock()
	go m.run(started, f)
}

// Now is the current time.
func (m *monitor) Now() time.Time { return time.Now() }

// Choose draws a value.
func (m *monitor) Choose(_ *sched.Hook, n uint64) uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n == 0 {
		return m.rng.Uint64()
	}
	return m.rng.Uint64N(n)
}

// Violated takes the word of an owner that looked at itself under its guard.
func (m *monitor) Violated(owner string, err error) {
	t := m.enter()
	m.find(inventory.Verdict{Kind: inventory.KindInvariant, ID: owner, Message: fmt.Sprintf("%v: %v", t, err)}, true)
	m.leave(t)
}

// Event does nothing: specifications are followed in simulated schedules.
func (m *monitor) Event(any, string, []any) {}
