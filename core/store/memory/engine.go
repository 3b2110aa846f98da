package memory

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/step"
)

// Engine is a simulated step.Engine.
//
//	sent ──▶ visible (position p) ──sync──▶ durable
//	  │            └──Crash, drawn──▶ gone, and every later one with it
//	  └──lost: landed · on its way · never
//
// Invariants: M1 durable ≤ visible. M2 what is visible is the durable state and the commits in between, in order.
// M3 a crash removes a suffix of the commits that are not durable.
//
// Linearization: an Update at the step that makes it visible, a View at its read; both are the operation on order, so
// that two operations which conflict are known to a search of all schedules as conflicting.
type Engine struct {
	s    sched.Scheduler
	o    Options
	rand sched.Rand
	// order is touched by every operation at the step where it takes effect: loaded by reads, added to by writes.
	order   sched.Int64
	flights *sched.Chan[flight] // nil without a scope

	mu sync.Mutex // guards the rest; held only between two scheduling points
	state
}

// state is what one crash changes.
type state struct {
	rows    table
	visible store.Ticket // position of the newest commit
	durable store.Ticket
	undo    []change // of the commits above durable, oldest first
	lost    []span   // positions that crashes took back
	life    int      // counts crashes
	drawn   int      // faults so far
	calm    bool     // no more of them
	halted  bool
	closed  bool
}

// change undoes one commit.
type change struct {
	position store.Ticket
	before   []entry
}

// entry is a row before a commit changed it.
type entry struct {
	key   string
	value []byte
	had   bool
}

// flight is a transaction on its way.
type flight struct {
	life int
	f    func(step.Tx) error
}

// maxFlights bounds what is on its way.
const maxFlights = 16

type span struct{ above, upTo store.Ticket }

var _ step.Engine = (*Engine)(nil)

// New returns an empty engine. It panics on options that Validate refuses.
func New(s sched.Scheduler, o Options) *Engine {
	if err := o.Validate(); err != nil {
		panic("memory: " + err.Error())
	}
	e := &Engine{s: s, o: o, rand: sched.NewRand(s, "store/fault"), order: sched.NewInt64(s, "store", 0)}
	if o.Scope != nil {
		e.flights = sched.NewChan[flight](s, "store/flights", maxFlights)
		s.Go(o.Scope, "store/network", e.carry)
	}
	return e
}

// carry lands what is on its way. It is a task of the engine and not of the sender, so a transaction may land after
// the node that sent it has crashed.
func (e *Engine) carry() {
	for {
		f, _, err := e.flights.ReceiveWithin(e.o.Scope)
		if err != nil {
			return // what is still on its way never lands
		}
		e.landLate(f)
	}
}

// Open returns a store over a new engine, and the engine. It is no operation of a simulation.
func Open(s sched.Scheduler, o Options) (*step.Store, *Engine) {
	e := New(s, o)
	return step.New(e), e
}

// View implements step.Engine.
func (e *Engine) View(scope *sched.Scope, name string, f func(step.View) error) (store.Ticket, error) {
	if err := e.arrive(scope, name); err != nil {
		return 0, err
	}
	e.order.Load()
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.refused(); err != nil {
		return 0, err
	}
	return e.visible, f(view{&e.rows})
}

// Glance implements step.Engine.
func (e *Engine) Glance(scope *sched.Scope, name string, f func(step.Reader) error) (store.Ticket, error) {
	return e.View(scope, name, func(v step.View) error { return f(v) })
}

// Update implements step.Engine.
func (e *Engine) Update(scope *sched.Scope, name string, durable bool, f func(step.Tx) error) (store.Ticket, error) {
	if err := e.arrive(scope, name); err != nil {
		return 0, err
	}
	if e.draw(name, e.o.Lose, "lost") {
		return 0, e.lose(name, f)
	}
	t, err := e.land(f)
	if err != nil || !durable {
		return t, err
	}
	if err := e.sync(scope, name, t); err != nil {
		return t, fmt.Errorf("%w: %w", store.ErrUnknown, err)
	}
	return t, nil
}

// land makes the transaction visible, in one step, and reports what it did.
func (e *Engine) land(f func(step.Tx) error) (store.Ticket, error) {
	e.order.Add(1)
	t, events, err := e.commit(f)
	e.report(events)
	return t, err
}

func (e *Engine) commit(f func(step.Tx) error) (store.Ticket, []event, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.refused(); err != nil {
		return 0, nil, err
	}
	tx := transaction{view: view{&e.rows}}
	if err := f(&tx); err != nil {
		return e.visible, nil, err
	}
	e.apply(tx.writes)
	return e.visible, tx.events, nil
}

// report tells the listener of a simulation what a commit did. The engine's lock is free: a listener reads the state.
func (e *Engine) report(events []event) {
	for _, x := range events {
		e.s.Emit(e, x.action, x.args...)
	}
}

// apply commits the writes at the next position.
func (e *Engine) apply(writes []write) {
	e.visible++
	c := change{position: e.visible}
	for _, w := range writes {
		value, had := e.rows.get(w.key)
		c.before = append(c.before, entry{w.key, value, had})
		if w.delete {
			e.rows.delete(w.key)
		} else {
			e.rows.set(w.key, w.value)
		}
	}
	e.undo = append(e.undo, c)
}

// The fates of a lost commit.
const (
	landed = iota
	never
	onItsWay
)

// lose draws what becomes of a transaction whose answer is lost. The caller learns nothing of it.
func (e *Engine) lose(name string, f func(step.Tx) error) error {
	fates := onItsWay
	if e.o.Scope != nil {
		fates = onItsWay + 1
	}
	switch e.rand.IntN(fates) {
	case landed:
		// A refusal is lost as well: the caller must not learn of it.
		if _, err := e.land(f); err != nil && errors.Is(err, store.ErrHalted) {
			return err
		}
	case onItsWay:
		e.flights.TrySend(flight{life: e.lives(), f: f}) // a full network drops it: it never lands
	}
	return fmt.Errorf("%s: %w", name, store.ErrUnknown)
}

func (e *Engine) lives() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.life
}

// landLate lands a transaction that its sender has given up. Nobody hears of a refusal.
func (e *Engine) landLate(x flight) {
	e.order.Add(1)
	if e.lives() != x.life {
		return // a crash takes what was on its way with it
	}
	if _, events, err := e.commit(x.f); err == nil {
		e.report(events)
	}
}

// arrive is the way to the store: it may take time, and the operation may be refused there.
func (e *Engine) arrive(scope *sched.Scope, name string) error {
	if err := scope.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := e.delay(scope, name); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if e.draw(name, e.o.Refuse, "refused") {
		return fmt.Errorf("%s: %w", name, store.ErrUnavailable)
	}
	return nil
}

func (e *Engine) delay(scope *sched.Scope, name string) error {
	if e.o.Latency == 0 || !e.o.covers(name) {
		return nil
	}
	d := e.o.Latency * time.Duration(e.rand.IntN(latencySteps)) / (latencySteps - 1)
	if d == 0 {
		return nil
	}
	return e.s.Sleep(scope, "store/latency", d)
}

// drawn marks an event as a fault that was taken: a simulation counts it.
type drawn struct{}

// Fault says so.
func (drawn) Fault() {}

// draw decides whether a fault with a rate of one in n happens now.
func (e *Engine) draw(name string, n int, kind string) bool {
	if n == 0 || !e.o.covers(name) || e.spent() || e.rand.IntN(n) != 0 {
		return false
	}
	e.s.Emit(drawn{}, "store "+name+" "+kind)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drawn++
	return true
}

func (e *Engine) spent() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.calm || e.o.Budget > 0 && e.drawn >= e.o.Budget
}

// StopFaults ends the faults of this engine: from here on progress may be demanded. What is on its way may still land.
func (e *Engine) StopFaults() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calm = true
}

func (e *Engine) refused() error {
	switch {
	case e.closed:
		return store.ErrClosed
	case e.halted:
		return store.ErrHalted
	}
	return nil
}

// Now implements step.Engine.
func (e *Engine) Now() time.Time { return e.s.Now() }

// Close implements step.Engine.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
	return nil
}
