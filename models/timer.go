package models

// Timers is the reference of L10: waits with a due time, a clock, and a node that is up or down. A wait that is due while
// the node is up, or that is due when the node comes up, fires once; one that was closed before never does.
type Timers struct {
	Now  int
	Up   bool
	Due  map[string]int // of open waits
	Sent map[string]int // fires by wait
}

// NewTimers returns no waits at time zero, with the node up.
func NewTimers() *Timers {
	return &Timers{Up: true, Due: map[string]int{}, Sent: map[string]int{}}
}

// Open adds a wait that is due at a time.
func (t *Timers) Open(wait string, due int) {
	t.Due[wait] = due
	t.fire()
}

// Close removes an open wait: something else resumed its instance. It reports whether the wait was open.
func (t *Timers) Close(wait string) bool {
	_, open := t.Due[wait]
	delete(t.Due, wait)
	return open
}

// Advance moves the clock.
func (t *Timers) Advance(by int) {
	t.Now += by
	t.fire()
}

// Switch takes the node down or up.
func (t *Timers) Switch(up bool) {
	t.Up = up
	t.fire()
}

func (t *Timers) fire() {
	if !t.Up {
		return
	}
	for wait, due := range t.Due {
		if due <= t.Now {
			t.Sent[wait]++
			delete(t.Due, wait)
		}
	}
}
