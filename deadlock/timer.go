package deadlock

import (
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

// timer is a real timer behind a hook. Guarded by the monitor.
type timer struct {
	t       *time.Timer // armed; nil when not
	firing  chan struct{}
	near    int  // 1 when it counts as something that may happen
	stopped bool // while it fires: what it arms again stays disarmed
}

// horizon is how far off a timer may be to count as something that may still happen: a program in which everybody waits for hours is
// stuck.
const horizon = 20 * time.Second

// Timer calls fire once, d from now. Until it has fired or was stopped, something may still happen.
func (m *monitor) Timer(h *sched.Hook, d time.Duration, fire func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.of(h)
	if o.timer == nil {
		o.timer = &timer{}
	}
	x := o.timer
	if x.firing != nil && x.stopped {
		return
	}
	near := 0
	if d < horizon {
		near = 1
	}
	m.timers += near
	var armed *time.Timer
	armed = time.AfterFunc(d, func() {
		m.mu.Lock()
		for x.firing != nil { // a ticker that falls behind
			last := x.firing
			m.mu.Unlock()
			<-last
			m.mu.Lock()
		}
		if x.t == armed { // or else it was stopped in the last moment
			m.fire(x, "timer "+h.Name, fire)
		}
		m.timers -= near
		m.rest()
		m.mu.Unlock()
	})
	x.t, x.near = armed, near
}

// fire runs the function of a timer as a task. The guard is held, but not meanwhile.
func (m *monitor) fire(x *timer, name string, f func()) {
	done := make(chan struct{})
	x.t, x.firing, x.stopped = nil, done, false
	t := m.add(name)
	t.foreign = true
	m.mu.Unlock()
	m.run(t, f)
	m.mu.Lock()
	x.firing = nil
	close(done)
}

// StopTimer disarms the timer of h and reports whether it was armed. A fire that is under way has ended when it returns, so that nothing
// of it comes later; it never blocks.
func (m *monitor) StopTimer(h *sched.Hook) bool {
	m.mu.Lock()
	x := m.of(h).timer
	if x == nil {
		m.mu.Unlock()
		return false
	}
	armed := x.t != nil
	if armed && x.t.Stop() {
		m.timers -= x.near
	}
	x.t = nil // or else its function finds that it is disarmed
	firing := x.firing
	x.stopped = firing != nil
	m.mu.Unlock()
	if firing != nil {
		<-firing
	}
	return armed
}
