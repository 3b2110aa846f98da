package engine_test

import (
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/timer"
	"github.com/millrace-dev/millrace/sim"
)

// line carries hints between two replicas, all of them at once, and keeps what this one told.
type line struct {
	to, from *sched.Chan[store.Hint]
	told     store.Hint
}

// Hint implements [store.Hinter].
func (l *line) Hint(kinds store.Hint) {
	l.told |= kinds
	l.to.TrySend(kinds)
}

// NextHint implements [store.Hinter].
func (l *line) NextHint(scope *sched.Scope) (store.Hint, error) {
	kinds, _, err := l.from.ReceiveWithin(scope)
	return kinds, err
}

// blind is the store as a replica sees it that finds no timer: what it arms is left to others.
type blind struct{ store.Store }

func (blind) Timers(*sched.Scope, store.Timer, time.Time, int) ([]store.Timer, store.Ticket, error) {
	return nil, 0, nil
}

func (blind) ReserveTimers(*sched.Scope, string, store.Timer, time.Time, time.Duration, int) ([]store.Timer, store.Ticket, error) {
	return nil, 0, nil
}

// fired is a store that notes when a step of an instance that is there commits.
type fired struct {
	store.Store
	s  sched.Scheduler
	at []time.Time
}

func (f *fired) Commit(scope *sched.Scope, st *store.Step) (store.Ticket, error) {
	if !st.Spawn {
		f.at = append(f.at, f.s.Now())
	}
	return f.Store.Commit(scope, st)
}

// A replica arms a timer and leaves it to another one, which looks for timers every so often. However long that is configured to be, the timer
// fires at its time: the other one is told of what is due before it must have looked again, and of nothing else.
func TestSimL10TimerOfAnotherIsPunctual(t *testing.T) {
	const nap = 4 * time.Second
	flows := definitions(t, "nap.bpmn")
	sim.Check(t, "L10/timer-of-another-is-punctual", func(w *sim.World) {
		x, s := newOutside(w, flows, memory.Options{}), w.Scheduler()
		poll := []time.Duration{time.Second, 3 * time.Second, 5 * time.Second, time.Minute}[w.Choose("poll", 4)]
		there, back := sched.NewChan[store.Hint](s, "hints", 16), sched.NewChan[store.Hint](s, "hints back", 16)
		l := &line{to: there, from: back}
		o := engine.Options{Replica: "arms", Shared: true, Lanes: 1 + w.Choose("lanes", 2), Timers: timer.Options{Poll: poll}}
		a := x.nodeOver(w.Scope(), blind{x.st}, o, l)
		o.Replica = "fires"
		over := &fired{Store: x.st, s: s}
		b := x.nodeOver(w.Scope(), over, o, &line{to: back, from: there})
		w.NoError(s.Sleep(w.Scope(), "between two looks", time.Duration(w.Choose("quarter", 4))*poll/4+time.Millisecond))
		due := s.Now().Add(nap)
		w.Go("client", func() { x.transport(w.Scope(), message("nap", "n", ""), func() *engine.Engine { return a }) })
		w.NoError(s.Sleep(w.Scope(), "patience", time.Minute+nap))
		w.Require(len(over.at) == 1 && over.at[0].Equal(due), "L10.punctual", "due at %v, looked for every %v, and fired at %v", due, poll, over.at)
		w.Require(l.told&store.HintTimers == 0 || nap < poll, "L10.told", "due after %v, looked for every %v, and others were told", nap, poll)
		w.Join()
		a.Close()
		b.Close()
	}, sim.Runs(50), sim.Steps(60_000))
}
