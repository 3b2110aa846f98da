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
// share workers; and no look comes by itself, so that each mark, each result and each failure must bring its own.
func everyEmissionArrives(w *sim.World) {
	r := newRig(w, memory.Options{Refuse: 6, Lose: 6, Budget: 4, Only: []string{"emissions", "delivered"}}, 3)
	spec.Attach(w, r.engine)
	size := 1 + w.Choose("size", 2)
	r.start(w.Scope(), outbox.Options{Workers: size, Batch: size, MaxBackoff: time.Second, Poll: time.Hour})
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
		r.startTo(outbox.Options{Timeout: time.Second}, r.silentOnce(&silent))
		w.NoError(r.emit("a", 2))
		w.NoError(r.emit("b", 1))
		w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", patience))
		w.Require(!silent, "L11.silent", "the receiver was never asked")
		r.settled(map[store.InstanceID]int{"a": 2, "b": 1})
	})
}

// An instance whose receiver does not take its rows holds up nobody, though its rows fill the page that a look begins with.
func TestSimL11FailingInstanceHoldsUpNobody(t *testing.T) {
	sim.Check(t, "L11/failing-instance-holds-up-nobody", func(w *sim.World) {
		r := newRig(w, memory.Options{}, 0)
		down := map[store.InstanceID]bool{"a": true}
		r.startTo(outbox.Options{Workers: 1 + w.Choose("workers", 2), Batch: 2, MaxBackoff: time.Second}, r.reachable(down))
		counts := map[store.InstanceID]int{"a": 3, "b": 1, "c": 2}
		for _, id := range []store.InstanceID{"a", "b", "c"} {
			w.Go("lane", func() { w.NoError(r.emit(id, counts[id])) })
		}
		w.Join()
		w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", patience))
		w.Require(len(r.arrived["b"]) == 1 && len(r.arrived["c"]) == 2, "L11.arrived", "beside an instance that fails there arrived %v", r.arrived)
		down["a"] = false
		w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", patience))
		r.settled(counts)
	})
}

// More instances fail than are remembered, and somebody else sends the rows of some: those are forgotten, so that the others have
// their turn. No more are remembered than may be, which I5 judges, and one that is remembered is tried again meanwhile.
func TestSimL11FullBookGoesOn(t *testing.T) {
	sim.Check(t, "L11/full-book-goes-on", func(w *sim.World) {
		r := newRig(w, memory.Options{}, 0)
		ids := []store.InstanceID{"a", "b", "c", "d", "e", "f", "g"} // five are remembered
		down, counts := map[store.InstanceID]bool{}, map[store.InstanceID]int{}
		for _, id := range ids {
			down[id], counts[id] = true, 1
		}
		r.startTo(outbox.Options{Workers: 1, Batch: 1, Backoff: time.Second, MaxBackoff: 4 * time.Second, Poll: time.Second}, r.reachable(down))
		for _, id := range ids {
			w.NoError(r.emit(id, 1))
		}
		w.NoError(w.Scheduler().Sleep(w.Scope(), "full", patience))
		w.Require(len(r.refused) == 5, "L11.bound", "%v were tried", r.refused)
		up := r.refused[0]
		down[up] = false
		w.NoError(w.Scheduler().Sleep(w.Scope(), "one is up", 5*time.Second))
		w.Require(len(r.arrived[up]) == 1, "L11.backoff", "%s is remembered, and was not tried again: %v", up, r.arrived)
		w.Require(len(r.refused) == 6, "L11.bound", "%v were tried, and the first has left", r.refused)
		var elsewhere []store.Emission
		for _, id := range r.refused[1:] {
			elsewhere, counts[id] = append(elsewhere, store.Emission{Instance: id, Sequence: 1}), 0
		}
		_, err := r.st.Delivered(w.Scope(), elsewhere)
		w.NoError(err)
		clear(down)
		w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", patience))
		r.settled(counts)
	}, sim.Runs(50))
}

// A mark that is left in the middle of a look, which may have read the rows before, brings another one.
func TestSimL11MarkIsNoticed(t *testing.T) {
	sim.Check(t, "L11/mark-is-noticed", func(w *sim.World) {
		r := newRig(w, memory.Options{}, 0)
		r.slow = true
		r.startTo(outbox.Options{Poll: time.Hour}, r.reachable(nil))
		w.Go("lane", func() { w.NoError(r.emit("a", 1)) })
		w.NoError(w.Scheduler().Sleep(w.Scope(), "patience", patience))
		r.settled(map[store.InstanceID]int{"a": 1})
	})
}
