package settle_test

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/settle"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/deadlock"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/settle"
)

func TestMain(m *testing.M) { sim.Main(m) }

var errRefused = errors.New("refused")

var done = settle.End{Status: store.Completed, Result: []byte("done")}

// patient waits so long that only an answer ends the wait within the time that a check takes.
var patient = settle.Patience{Timeout: 24 * time.Hour, Poll: time.Hour}

// rig is a node's registry, and two instances whose ends are durable state outside of it.
type rig struct {
	deadlock.World
	registry  *settle.Registry
	begun     time.Time
	committed map[store.InstanceID]*sched.WriteOnce[bool]
	terminal  map[store.InstanceID]*sched.Bool
}

var instances = []store.InstanceID{"a", "b"}

func newRig(w deadlock.World, capacity int) *rig {
	s := w.Scheduler()
	r := &rig{World: w, registry: settle.New(s, capacity), begun: s.Now()}
	r.committed, r.terminal = map[store.InstanceID]*sched.WriteOnce[bool]{}, map[store.InstanceID]*sched.Bool{}
	for _, id := range instances {
		committed, terminal := sched.NewWriteOnce[bool](s, "committed "+string(id)), sched.NewBool(s, "terminal "+string(id), false)
		r.committed[id], r.terminal[id] = &committed, &terminal
	}
	w.Own(r.registry)
	if simulated, ok := w.(*sim.World); ok {
		spec.Attach(simulated)
	}
	w.Finally(func() {
		w.Require(r.registry.Held() == 0, "L5.left", "%d entries are held and everybody was answered", r.registry.Held())
	})
	return r
}

// read returns the durable end.
func (r *rig) read(id store.InstanceID) settle.Read {
	return func(*sched.Scope) (settle.End, bool, error) {
		if r.terminal[id].Load() {
			return done, true, nil
		}
		return settle.End{}, false, nil
	}
}

// deliver is a delivery whose step goes on, unless it fails.
func (r *rig) deliver(id store.InstanceID, fails bool, p settle.Patience) error {
	tried := false
	a, err := r.registry.Commit(id, func() (settle.End, bool, error) {
		tried = true
		if fails {
			return settle.End{}, false, errRefused
		}
		r.committed[id].Set(true)
		return settle.End{}, false, nil
	})
	r.Require(!tried || fails == errors.Is(err, errRefused), "L5.I4", "a commit that fails: %t, and the delivery is told %v", fails, err)
	r.Require(tried || errors.Is(err, settle.ErrFull) || errors.Is(err, settle.ErrClosing), "L5.I3", "refused before its commit: %v", err)
	if err != nil {
		return err
	}
	return r.await(id, a, p)
}

// duplicate is a delivery that took effect before.
func (r *rig) duplicate(id store.InstanceID, p settle.Patience) error {
	a, err := r.registry.Duplicate(r.Scope(), id, r.read(id))
	if err != nil {
		return err
	}
	return r.await(id, a, p)
}

// await hears the answer, and judges it.
func (r *rig) await(id store.InstanceID, a settle.Answer, p settle.Patience) (err error) {
	end := a.End
	if a.Entry != nil {
		end, err = r.registry.Await(r.Scope(), a.Entry, p, r.read(id))
	}
	r.Require(err != nil || end.Status == done.Status && r.terminal[id].Peek(), "L5.I5", "told %v, and the instance has ended: %t", end.Status, r.terminal[id].Peek())
	return err
}

// ends makes the end of an instance durable state, which the registry does not own.
func (r *rig) ends(id store.InstanceID) {
	r.terminal[id].Store(true)
	r.Scheduler().Emit(r.registry, "Complete", string(id))
}

// finish ends an instance after the step that made it, on a lane that tells the registry, or elsewhere.
func (r *rig) finish(id store.InstanceID, here bool) {
	if _, err := r.committed[id].Wait(r.Scope()); err != nil {
		return // it never began
	}
	r.ends(id)
	if here {
		r.registry.Ended(id, done)
	}
}

// prompt requires that nobody had to wait for a timeout or a comparison.
func (r *rig) prompt() {
	waited := r.Scheduler().Now().Sub(r.begun)
	r.Require(waited < patient.Poll, "L5.missed", "the answer took %v: the end was missed", waited)
}

// expect fails on an answer that is none of these; nil is the end.
func (r *rig) expect(err error, known ...error) {
	for _, k := range known {
		if errors.Is(err, k) {
			return
		}
	}
	r.NoError(err)
}
