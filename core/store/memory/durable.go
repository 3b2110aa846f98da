package memory

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/step"
)

// WaitDurable implements step.Engine: it syncs what is not durable yet.
func (e *Engine) WaitDurable(scope *sched.Scope, t store.Ticket) error {
	return e.sync(scope, "sync", t)
}

// Visible implements step.Engine.
func (e *Engine) Visible() store.Ticket {
	e.order.Load()
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.visible
}

// sync makes everything up to t durable. It covers what was visible when it began; what became visible since then
// waits for the next one.
func (e *Engine) sync(scope *sched.Scope, name string, t store.Ticket) error {
	e.order.Load()
	began, life, done, err := e.beginSync(t)
	if done || err != nil {
		return err
	}
	if err := e.delay(scope, name); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	fails := e.draw(name, e.o.Halt, "halted")
	e.order.Add(1)
	if err := e.endSync(t, began, life, fails); err != nil {
		return err
	}
	e.tell("Sync")
	return nil
}

// tell reports what changed the durable state, for specifications that have it as a variable.
func (e *Engine) tell(action string) {
	if e.s.Traced() {
		e.s.Emit(e, action)
	}
}

func (e *Engine) beginSync(t store.Ticket) (began store.Ticket, life int, done bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.refused(); err != nil {
		return 0, 0, false, err
	}
	if e.took(t) {
		return 0, 0, false, fmt.Errorf("sync of %d, which a crash took back: %w", t, store.ErrUnavailable)
	}
	return e.visible, e.life, t <= e.durable, nil
}

func (e *Engine) endSync(t, began store.Ticket, life int, fails bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.life != life {
		return fmt.Errorf("sync of %d, during which the engine crashed: %w", t, store.ErrUnavailable)
	}
	if fails {
		e.halted = true
	}
	if err := e.refused(); err != nil {
		return err
	}
	if began > e.durable {
		e.settle(began)
	}
	return nil
}

// settle makes everything up to t durable.
func (e *Engine) settle(t store.Ticket) {
	e.durable = t
	for len(e.undo) > 0 && e.undo[0].position <= t {
		e.undo = e.undo[1:]
	}
}

func (e *Engine) took(t store.Ticket) bool {
	for _, s := range e.lost {
		if s.above < t && t <= s.upTo {
			return true
		}
	}
	return false
}

// Crash stops the engine and starts it again: a drawn suffix of the commits that are not durable is gone, so is all
// that was on its way, and the rest is durable. It returns how many commits it took back. Operations under
// way end with an unknown outcome. A halt ends with it too.
func (e *Engine) Crash() int {
	e.order.Add(1)
	n := 0
	if open := e.open(); open > 0 {
		n = e.rand.IntN(open + 1)
	}
	if n = e.crash(n); n > 0 {
		e.s.Emit(drawn{}, fmt.Sprintf("store crash takes %d", n))
	}
	e.tell("Crash")
	return n
}

// CrashTaking is a Crash that takes back exactly the newest n commits, or all that are not durable when there are fewer.
func (e *Engine) CrashTaking(n int) {
	e.order.Add(1)
	e.crash(n)
	e.tell("Crash")
}

func (e *Engine) crash(n int) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n = min(n, len(e.undo)) // a sync may have ended while the number was drawn
	for range n {
		last := e.undo[len(e.undo)-1]
		e.undo = e.undo[:len(e.undo)-1]
		e.revert(last)
	}
	kept := e.visible - store.Ticket(n)
	if n > 0 {
		e.lost = append(e.lost, span{above: kept, upTo: e.visible})
		e.visible++ // what is read from now on is not covered by a position that was taken back
	}
	e.settle(e.visible) // positions are not used twice
	e.life++
	e.halted, e.closed = false, false
	return n
}

func (e *Engine) open() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.undo)
}

func (e *Engine) revert(c change) {
	for i := len(c.before) - 1; i >= 0; i-- {
		if b := c.before[i]; b.had {
			e.rows.set(b.key, b.value)
		} else {
			e.rows.delete(b.key)
		}
	}
}

// Peek calls f with the visible state, without announcing a read. For invariants and checks only.
func (e *Engine) Peek(f func(step.View) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return f(view{&e.rows})
}

// PeekDurable is Peek of the state that the worst crash would leave.
func (e *Engine) PeekDurable(f func(step.View) error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	worst := Engine{state: state{rows: e.rows.clone()}}
	for i := len(e.undo) - 1; i >= 0; i-- {
		worst.revert(e.undo[i])
	}
	return f(view{&worst.rows})
}

// Unsynced returns the number of visible commits that a crash may take back. For invariants and checks only.
func (e *Engine) Unsynced() int { return e.open() }

// Plant commits a step at once, durably and without a scheduling point: state that a check is given.
func (e *Engine) Plant(s *store.Step) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	tx := transaction{view: view{&e.rows}}
	if err := step.Apply(&tx, s); err != nil {
		return err
	}
	e.apply(tx.writes)
	e.settle(e.visible)
	return nil
}
