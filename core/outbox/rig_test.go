package outbox_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/millrace-dev/millrace/core/outbox"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
)

func TestMain(m *testing.M) { sim.Main(m) }

var errDown = errors.New("receiver is down")

// rig is a simulated store, steps that emit, and a receiver outside of the node that remembers what reached it.
type rig struct {
	*sim.World
	st     *step.Store
	engine *memory.Engine

	arrived  map[store.InstanceID][]uint64 // first arrivals, in order
	contents map[string]string             // payload by id
	repeats  int
	faults   int // how many more sends the receiver may fail
	sender   *outbox.Sender
	slow     bool               // a look takes its time after it has read the rows
	refused  []store.InstanceID // by a receiver that was down for them, in the order in which it first was asked
}

func newRig(w *sim.World, o memory.Options, faults int) *rig {
	r := &rig{World: w, arrived: map[store.InstanceID][]uint64{}, contents: map[string]string{}, faults: faults}
	r.st, r.engine = memory.Open(w.Scheduler(), o)
	return r
}

func (r *rig) start(scope *sched.Scope, o outbox.Options) { r.startIn(scope, o, r.receive) }

func (r *rig) startTo(o outbox.Options, send outbox.Send) { r.startIn(r.Scope(), o, send) }

func (r *rig) startIn(scope *sched.Scope, o outbox.Options, send outbox.Send) {
	x, err := outbox.New(r.Scheduler(), o, source{r.st, r}, send)
	r.NoError(err)
	r.Own(x)
	x.Start(scope)
	r.sender = x
}

// source is the store as the sender reads it.
type source struct {
	outbox.Source
	r *rig
}

func (s source) Emissions(scope *sched.Scope, after store.Emission, limit int) ([]store.Emission, store.Ticket, error) {
	rows, t, err := s.Source.Emissions(scope, after, limit)
	for i := 0; s.r.slow && i < 8; i++ {
		s.r.Scheduler().Yield()
	}
	return rows, t, err
}

// reachable is a receiver that takes nothing of some instances.
func (r *rig) reachable(down map[store.InstanceID]bool) outbox.Send {
	return func(_ *sched.Scope, e store.Emission) error {
		r.Scheduler().Yield()
		if down[e.Instance] {
			if !slices.Contains(r.refused, e.Instance) {
				r.refused = append(r.refused, e.Instance)
			}
			return errDown
		}
		r.arrive(e)
		return nil
	}
}

// emit spawns an instance whose first step emits count payloads, as a lane does: commit, then the mark.
func (r *rig) emit(id store.InstanceID, count int) error {
	head, _, err := r.st.Head(r.Scope(), id)
	if err != nil {
		return err
	}
	s := &store.Step{
		Cause: "spawn " + string(id), Spawn: true, Status: store.Completed, Flow: "f",
		Claim: store.Claim{Instance: id, Owner: store.Owner{Replica: "lane"}, Epoch: head.Epoch},
		Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "given", ID: string(id)}},
	}
	for i := range count {
		s.Outbox = append(s.Outbox, store.Emission{Target: "relay", Payload: fmt.Appendf(nil, "%s-%d", id, i+1)})
	}
	_, err = r.st.Commit(r.Scope(), s)
	if r.sender != nil {
		r.sender.Emitted()
	}
	return err
}

// receive is the receiver: an emission may arrive and its acknowledgement get lost, or never arrive.
func (r *rig) receive(_ *sched.Scope, e store.Emission) error {
	r.Scheduler().Yield()
	fails := r.faults > 0 && r.Choose("receiver fails", 3) == 0
	if fails {
		r.faults--
		if r.Choose("arrived anyway", 2) == 0 {
			return errDown
		}
	}
	r.arrive(e)
	r.Scheduler().Yield()
	if fails {
		return errDown
	}
	return nil
}

func (r *rig) arrive(e store.Emission) {
	id := fmt.Sprintf("%s/%d", e.Instance, e.Sequence)
	if before, seen := r.contents[id]; seen {
		r.repeats++
		r.Require(before == string(e.Payload), "L11.id", "id %s stands for %q and for %q", id, before, e.Payload)
		return
	}
	r.contents[id] = string(e.Payload)
	earlier := r.arrived[e.Instance]
	r.Require(e.Sequence == uint64(len(earlier))+1, "L11.order", "emission %s arrived after %v", id, earlier)
	r.arrived[e.Instance] = append(earlier, e.Sequence)
	durable := r.dump(r.engine.PeekDurable)
	r.Require(durable.Instances[e.Instance].Emitted >= e.Sequence, "L11.I2", "emission %s left, and its step is not durable", id)
}

// dump is what the store shows, or what the worst crash would leave.
func (r *rig) dump(peek func(func(step.View) error) error) step.Dump {
	d, err := step.InspectIn(peek)
	r.NoError(err)
	return d
}

// settled requires that everything committed has arrived, and that its rows are gone.
func (r *rig) settled(counts map[store.InstanceID]int) {
	d := r.dump(r.engine.Peek)
	r.Require(len(d.Emissions) == 0, "L11.rows", "rows are left: %v", d.Emissions)
	for _, in := range d.Instances {
		want, got := counts[in.Instance], len(r.arrived[in.Instance])
		r.Require(want == got, "L11.arrived", "%d of %d emissions of %s arrived", got, want, in.Instance)
	}
}

// silentOnce is a receiver that lets its first caller wait for ever.
func (r *rig) silentOnce(silent *bool) outbox.Send {
	return func(scope *sched.Scope, e store.Emission) error {
		if *silent {
			*silent = false
			return r.Scheduler().Sleep(scope, "silence", 1000*patience)
		}
		return r.receive(scope, e)
	}
}
