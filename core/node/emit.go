package node

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// emittedSpace remembers emissions that have gone through the commit point. An emission leaves the outbox at least
// once; its mark commits together with what sinks wrote of it, so that behind a file sink it arrives exactly once.
const emittedSpace = "node/emitted"

// emitter is a way out of flows into a relay.
type emitter struct {
	*graph.Emit
	relay *batches
}

func (n *Node) newEmitter(e *graph.Emit) (*emitter, error) {
	r := n.relays[e.To.Relay.Name]
	if r == nil {
		return nil, fmt.Errorf("emit %s: there is no relay %s", e.Name, e.To.Relay.Name)
	}
	return &emitter{Emit: e, relay: r}, nil
}

// settled is a unit's settler that one task waits for.
type settled struct{ done sched.WriteOnce[error] }

// Settled implements sink.Settler.
func (x *settled) Settled(err error) { x.done.Set(err) }

var errEmit = errors.New("emission cannot be a record")

// send publishes one emission and returns nil when everything behind its relay has acknowledged it and that is durable.
func (n *Node) send(scope *sched.Scope, e store.Emission) error {
	x := n.flows.open.Observe().emits[e.Target]
	if x == nil {
		return fmt.Errorf("send emission of %s: there is no emit %q", e.Instance, e.Target)
	}
	id := fmt.Sprintf("%s/%d", e.Instance, e.Sequence)
	done, err := n.sent(scope, id)
	if err != nil || done {
		return err
	}
	rows, err := x.decode(e.Payload)
	if err != nil {
		return n.bury(x, e, err)
	}
	defer rows.Release()
	n.opts.Failpoint(PointBeforeSend)
	s := &settled{done: sched.NewWriteOnce[error](n.s, "emission settled")}
	mark := store.Row{Space: emittedSpace, Key: id, Value: []byte{1}, Expires: n.s.Now().Add(engine.RememberSent)}
	unit := n.point.NewUnit([]store.Row{mark}, s)
	root := ack.New(n.s, unit)
	b := relay.Batch[*record.Batch]{Rows: rows, IDs: relay.KeyIDs("emit", []string{id}), Unit: unit}
	if err := x.relay.Publish(scope, root, b); err != nil {
		root.Fail(err)
	} else {
		root.Ack()
	}
	why, err := s.done.Wait(scope)
	if err == nil {
		err = why
	}
	if err != nil {
		return fmt.Errorf("send emission %s to %s: %w", id, x.Name, err)
	}
	n.opts.Failpoint(PointBeforeDelete)
	return nil
}

// sent reports whether the emission went through before a crash.
func (n *Node) sent(scope *sched.Scope, id string) (bool, error) {
	_, ticket, err := n.store.Row(scope, emittedSpace, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err == nil {
		err = n.store.WaitDurable(scope, ticket)
	}
	return err == nil, err
}

// fits says why a flow's variables are no record of the relay that it emits to. The flow is told before the step commits, so that somebody
// can correct them. A target that is not open here is open where the emission is sent.
func (n *Node) fits(target string, payload []byte) error {
	x := n.flows.open.Observe().emits[target]
	if x == nil {
		return nil
	}
	rows, err := x.decode(payload)
	if err != nil {
		return fmt.Errorf("emit %s: %w", target, err)
	}
	rows.Release()
	return nil
}

// decode makes a record of the relay's schema.
func (x *emitter) decode(payload []byte) (*record.Batch, error) {
	d, err := record.NewDecoder(x.To.Relay.Schema, memory.DefaultAllocator, record.Options{IgnoreUnknown: true})
	if err != nil {
		return nil, err
	}
	defer d.Release()
	r, err := d.Record(payload)
	switch {
	case err != nil:
		return nil, err
	case r.Rejected > 0 || r.Batch.Rows() != 1:
		r.Batch.Release()
		for _, o := range r.Outcomes {
			if o.Rejection != nil {
				return nil, fmt.Errorf("%w: %w", errEmit, o.Rejection)
			}
		}
		return nil, fmt.Errorf("%w: %d records", errEmit, r.Batch.Rows())
	}
	return r.Batch, nil
}

// bury keeps an emission that can never be a record as a dead letter: sent again it would fail again. It was one when its step committed, so
// the schema has changed since, by a restart with another package.
func (n *Node) bury(x *emitter, e store.Emission, why error) error {
	n.log.Warn("emission is a dead letter", "emit", x.Name, "instance", e.Instance, "reason", why)
	return n.keepLetters("emit "+x.Name, letter{Reason: "emission", Detail: why.Error(), Row: letterBody(e.Payload)})
}
