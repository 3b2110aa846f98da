package sched

import "time"

// Timer sends the time once on its channel. As in the standard library (since 1.23) no value from
// before a Stop or Reset is received after it.
type Timer struct {
	h *Hook
	t *time.Timer // nil under a backend
	c chan time.Time
	s Scheduler
	// period is zero for a one-shot timer.
	period time.Duration
}

// NewTimer returns a timer that fires d from now. A check of the simulator can fire it early by its name.
func NewTimer(s Scheduler, name string, d time.Duration) *Timer {
	return newTimer(s, name, d, 0)
}

// NewTicker returns a timer that fires every d; ticks that nobody receives are dropped. d must be positive.
func NewTicker(s Scheduler, name string, d time.Duration) *Ticker {
	if d <= 0 {
		panic("sched: ticker " + name + " with a period that is not positive")
	}
	if s.b == nil {
		return &Ticker{real: time.NewTicker(d)}
	}
	return &Ticker{hooked: newTimer(s, name, d, d)}
}

func newTimer(s Scheduler, name string, d, period time.Duration) *Timer {
	if s.b == nil {
		return &Timer{t: time.NewTimer(d)}
	}
	t := &Timer{s: s, h: s.object(KindTimer, name, 1), c: make(chan time.Time, 1), period: period}
	t.arm(d)
	return t
}

func (t *Timer) arm(d time.Duration) {
	t.h.B.Timer(t.h, d, t.fire)
	t.h.B.Outcome(t.h, OpArm, 1)
}

func (t *Timer) fire() {
	select {
	case t.c <- t.s.Now():
		t.h.B.Outcome(t.h, OpFire, 1)
	default:
	}
	if t.period > 0 {
		t.h.B.Timer(t.h, t.period, t.fire)
	}
}

// Fired is the alternative "the timer has fired".
func (t *Timer) Fired() Case[time.Time] {
	if t == nil {
		return Case[time.Time]{}
	}
	if t.h == nil {
		return Case[time.Time]{recv: t.t.C}
	}
	return Case[time.Time]{h: t.h, op: OpRecv, recv: t.c}
}

// Stop disarms the timer and reports whether it was armed.
func (t *Timer) Stop() bool {
	if t.h == nil {
		return t.t.Stop()
	}
	t.h.B.Point(t.h, OpStop)
	return t.stop()
}

func (t *Timer) stop() bool {
	armed := t.h.B.StopTimer(t.h)
	select {
	case <-t.c:
	default:
	}
	t.h.B.Outcome(t.h, OpStop, bit(armed))
	return armed
}

// Reset arms the timer to fire d from now.
func (t *Timer) Reset(d time.Duration) {
	if t.h == nil {
		t.t.Reset(d)
		return
	}
	t.h.B.Point(t.h, OpArm)
	t.stop()
	t.arm(d)
}

// Ticker is a repeating timer.
type Ticker struct {
	real   *time.Ticker
	hooked *Timer
}

// Fired is the alternative "a tick is due".
func (t *Ticker) Fired() Case[time.Time] {
	if t.hooked != nil {
		return t.hooked.Fired()
	}
	return Case[time.Time]{recv: t.real.C}
}

// Stop ends the ticks.
func (t *Ticker) Stop() {
	if t.hooked != nil {
		t.hooked.Stop()
		return
	}
	t.real.Stop()
}

// Sleep waits for d, or until scope ends: then it returns the cause.
func (s Scheduler) Sleep(scope *Scope, name string, d time.Duration) error {
	t := NewTimer(s, name, d)
	if Select2(t.Fired(), scope.Done()).Index == 1 {
		t.Stop()
		return scope.cause()
	}
	return nil
}
