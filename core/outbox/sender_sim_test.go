package outbox_test

import (
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/outbox"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/outbox"
)

// patience is how long a check waits: far longer than any backoff in it.
const patience = 30 * time.Second

// Every committed emission arrives, first arrivals in commit order, repeats under the same id, through a receiver that
// fails and a store that refuses and loses answers. Pages and workers are small, so that instances are cut by pages and
// share workers.
func everyEmissionArrives(w *sim.World) {
	r := newRig(w, memory.Options{Refuse: 6, Lose: 6, Budget: 4, Only: []string{"emissions", "delivered"}}, 3)
	spec.Attach(w, r.engine)
	size := 1 + w.Choose("size", 2)
	r.start(w.Scope(), outbox.Options{Workers: size, Batch: size, MaxBackoff: time.Second, Poll: 20 * time.Second})
	counts := map[store.InstanceID]int{"a": 3, "b": 1, "c": 2}
	for _, id := range []store.InstanceID{"a", "b", "c"} {
		w.Go("lane", func() { w.NoError(r.emit(id, counts[id])) })
	}
	w.Join()
	w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", patience))
	r.settled(counts)
}

func TestSimL11EveryEmissionArrivesInOrder(t *testing.T) {
	sim.Check(t, "L11/every-emission-arrives-in-order", everyEmissionArrives)
}

// A commit is visible before it is durable, and a crash may take it back: nothing of it has left by then. The sender of
// the next life sends the rest, under the same ids.
func nothingLeavesEarly(w *sim.World) {
	r := newRig(w, memory.Options{}, 1)
	spec.Attach(w, r.engine)
	s := w.Scheduler()
	counts := map[store.InstanceID]int{"a": 2, "b": 1}
	first := w.Node("node")
	first.Go("sender", func() { r.start(s.NewScope("first life"), outbox.Options{Workers: 1, Poll: time.Second}) })
	for _, id := range []store.InstanceID{"a", "b"} {
		w.Go("lane", func() {
			_ = r.emit(id, counts[id]) // its outcome is unknown when the store crashes during the sync
		})
	}
	w.NoError(s.Sleep(w.Scope(), "uptime", time.Duration(w.Choose("uptime", 2))*2*time.Second))
	first.Crash()
	r.engine.Crash()
	r.start(w.Scope(), outbox.Options{Workers: 1, Poll: 20 * time.Second})
	w.NoError(s.Sleep(w.Scope(), "patience", patience))
	r.settled(counts)
}

func TestSimL11NothingLeavesBeforeItsCommitIsDurable(t *testing.T) {
	sim.Check(t, "L11/nothing-leaves-before-its-commit-is-durable", nothingLeavesEarly)
}

// A receiver that does not answer costs its own worker the timeout, and the emission is sent again afterwards.
func TestSimL11SilentReceiverTimesOut(t *testing.T) {
	sim.Check(t, "L11/silent-receiver-times-out", func(w *sim.World) {
		r := newRig(w, memory.Options{}, 0)
		silent := true
		x, err := outbox.New(w.Scheduler(), outbox.Options{Timeout: time.Second}, r.st, r.silentOnce(&silent))
		w.NoError(err)
		x.Start(w.Scope())
		r.sender = x
		w.NoError(r.emit("a", 2))
		w.NoError(r.emit("b", 1))
		w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", patience))
		w.Require(!silent, "L11.silent", "the receiver was never asked")
		r.settled(map[store.InstanceID]int{"a": 2, "b": 1})
	})
}
