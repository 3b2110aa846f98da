package node

import (
	"errors"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/mail"
	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// inboxKeep is how long the inbox remembers a delivery that no deduplicator bounds: longer than any client sends again.
const inboxKeep = 24 * time.Hour

// flows is the execution plane of a node: the engine and what brings deliveries to it.
type flows struct {
	engine   *engine.Engine
	lanes    *laneMetrics
	channels []*channel
	emits    map[string]*emitter
}

// channel is a channel of the package, ready to decode.
type channel struct {
	*graph.Channel
	n *Node
	// room bounds the deliveries of a relay channel that are under way, the held ones included.
	room sched.Semaphore
	from *consumer
}

// startFlows starts the engine, then what delivers to it.
func (n *Node) startFlows() error {
	n.flows = &flows{emits: map[string]*emitter{}}
	if len(n.pkg.Flows) == 0 {
		return nil
	}
	deployment := engine.Package{Deployment: n.pkg.ID}
	var faults []error
	for _, f := range n.pkg.Flows {
		for _, p := range f.Definitions.Processes {
			d, err := flow.NewDefinition(p)
			faults = append(faults, err)
			deployment.Flows = append(deployment.Flows, d)
		}
	}
	for _, c := range n.pkg.Channels {
		deployment.Channels = append(deployment.Channels, n.engineChannel(c))
		if c.Invalid != "" {
			deployment.Channels = append(deployment.Channels, engine.Channel{Name: invalidOf(c.Name), Flow: c.Invalid, Keep: inboxKeep})
		}
	}
	for _, e := range n.pkg.Emits {
		x, err := n.newEmitter(e)
		faults = append(faults, err)
		n.flows.emits[e.Name] = x
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	n.expiring = append(n.expiring, emittedSpace, store.InboxSpace, mail.Space, engine.JournalSpace)
	o := engine.Options{
		Lanes: n.pkg.Node.Lanes, SettleCapacity: n.pkg.Node.SettlementCapacity, SettleTimeout: n.pkg.Node.SettlementTime,
		Journal: n.pkg.Node.Journal,
		Dropped: func(message, key string) { n.log.Warn("thrown message met nobody", "message", message, "key", key) },
	}
	n.flows.lanes = n.metrics.newLaneMetrics(n.s, max(n.pkg.Node.Lanes, lane.DefaultLanes), func(id int) int {
		if n.flows.engine == nil {
			return 0
		}
		return n.flows.engine.Queued(id)
	})
	o.Observer = n.flows.lanes
	var err error
	n.flows.engine, err = engine.New(n.s, n.flowing, o, engine.Parts{
		Store: n.store, Package: deployment, Handlers: n.handlers(), Send: n.send,
	})
	if err != nil {
		return err
	}
	for _, c := range n.pkg.Channels {
		n.startChannel(c)
	}
	return nil
}

func (n *Node) engineChannel(c *graph.Channel) engine.Channel {
	out := engine.Channel{
		Name: c.Name, Message: c.Message, Flow: c.Flow, Timeout: c.Timeout, Keep: inboxKeep, Buffer: c.Buffer,
		Correlates: c.Flow != "" && (c.Correlate != nil || c.Key != nil),
	}
	if c.Ack == graph.OnComplete {
		out.Ack = engine.OnComplete
	}
	if keep := n.dedupeKeep(c.From, 0); keep > 0 {
		// Ids behind a deduplicator are its keys: remembered for longer than the key is kept, they would refuse the first
		// record after that.
		out.Keep = keep
	}
	return out
}

// dedupeKeep is how long the nearest deduplicator above a relay keeps its keys, 0 without one.
func (n *Node) dedupeKeep(r *graph.Relay, depth int) time.Duration {
	if r == nil || depth > len(n.pkg.Relays) {
		return 0
	}
	for _, p := range n.pkg.Processors {
		if p.To != r {
			continue
		}
		if p.Deduplicate != nil {
			return p.Deduplicate.Keep
		}
		if keep := n.dedupeKeep(p.From, depth+1); keep > 0 {
			return keep
		}
	}
	return 0
}

func (n *Node) startChannel(c *graph.Channel) {
	x := &channel{Channel: c, n: n}
	n.flows.channels = append(n.flows.channels, x)
	if c.Drop != nil {
		n.s.Go(n.intake, "folder of channel "+c.Name, x.watchFolder)
	}
	if c.From == nil {
		return
	}
	x.room = sched.NewSemaphore(n.s, "room of channel "+c.Name, int64(max(n.pkg.Node.SettlementCapacity, 1)))
	x.from = n.attach("channel "+c.Name, c.From)
	n.s.Go(n.flowing, "channel "+c.Name, x.run)
}

// run delivers the rows of a relay. Each row is a delivery with a share of its own and a task that waits for its answer.
func (x *channel) run() {
	scope := x.n.flowing
	for {
		d, err := x.from.Receive(scope, nil)
		if err != nil {
			x.from.Discard(err)
			return
		}
		x.dispatch(scope, d)
	}
}

func (x *channel) dispatch(scope *sched.Scope, d delivery) {
	defer d.Rows.Release()
	rows, err := x.selected(d.Rows)
	if err != nil {
		d.Share.Fail(err)
		return
	}
	shares := d.Share.Attach(len(rows))
	for i, row := range rows {
		if err := x.room.Acquire(scope, 1); err != nil {
			shares[i].Fail(err)
			continue
		}
		share, id, r := &shares[i], d.IDs.At(int(row)), d.Rows.Row(int(row))
		d.Rows.Retain()
		x.n.s.Go(scope, "delivery on "+x.Name, func() {
			defer x.room.Release(1)
			defer d.Rows.Release()
			answer, err := x.deliver(scope, id, r)
			switch {
			case err != nil:
				share.Fail(err)
			default:
				if answer.Duplicate {
					share.Duplicates(1)
				}
				share.Ack() // also when nothing waits for it, or it is not valid: sent again it would fare the same
			}
		})
	}
	d.Share.Ack()
}

func (x *channel) selected(b *record.Batch) ([]int32, error) {
	rows, rejected := record.Selected(b, x.Where)
	return rows, x.n.rejectRows("channel "+x.Name, b, rejected)
}

// deliver brings one row to the engine.
func (x *channel) deliver(scope *sched.Scope, id string, row record.Row) (engine.Reply, error) {
	return x.bring(scope, engine.Delivery{Channel: x.Name, ID: id, Decode: func() (engine.Message, error) { return x.message(row) }})
}

// bring brings a message to the engine and counts the answer.
func (x *channel) bring(scope *sched.Scope, d engine.Delivery) (engine.Reply, error) {
	r, err := x.n.flows.engine.Deliver(scope, d)
	outcome := r.Outcome.String()
	if err != nil {
		outcome = "unanswered"
	} else if r.Duplicate {
		outcome = "duplicate"
	}
	x.n.metrics.flows.WithLabelValues(x.Name, outcome).Inc()
	return r, err
}

// decoder returns what decodes one message of a channel. It belongs to one request.
func (x *channel) decoder() (*record.Decoder, error) {
	return record.NewDecoder(x.Schema, memory.DefaultAllocator, record.Options{})
}
