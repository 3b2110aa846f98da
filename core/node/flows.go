package node

import (
	"errors"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/mail"
	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/settle"
	"github.com/millrace-dev/millrace/core/store"
)

// inboxKeep is how long the inbox remembers a delivery that no deduplicator bounds: longer than any client sends again.
const inboxKeep = 24 * time.Hour

// flows is the execution plane of a node: the engine and what brings deliveries to it.
type flows struct {
	engine  *engine.Engine
	lanes   *laneMetrics
	open    sched.Publication[transports]
	started sched.Bool // engine is set
	opening sched.Semaphore
	streams map[string]*stream // consumers of relay channels by name, made by the first opening
}

// channel is a channel of the package, ready to decode.
type channel struct {
	*graph.Channel
	n          *Node
	deployment string
}

// stream is the consumer of a relay channel. It stays while deployments change.
type stream struct {
	n    *Node
	name string
	// room bounds the deliveries that are under way, the held ones included.
	room sched.Semaphore
	from *consumer
}

// startFlows starts the engine, then what delivers to it.
func (n *Node) startFlows() error {
	n.flows = &flows{
		started: sched.NewBool(n.s, "flows started", false), opening: sched.NewSemaphore(n.s, "opening transports", 1),
		streams: map[string]*stream{},
	}
	first, err := n.transportsOf(n.pkg, nil)
	if err != nil {
		return err
	}
	n.flows.open = sched.NewPublication(n.s, "transports", first)
	if len(n.pkg.Flows) == 0 {
		return nil
	}
	deployment, err := n.enginePackage(n.pkg)
	if err != nil {
		return err
	}
	n.flowExpiring = []string{store.InboxSpace, mail.Space, engine.JournalSpace}
	n.expiring = append(n.expiring, emittedSpace)
	o := engine.Options{
		Lanes: n.pkg.Node.Lanes, SettleCapacity: n.pkg.Node.SettlementCapacity, SettleTimeout: n.pkg.Node.SettlementTime,
		Journal: n.pkg.Node.Journal,
		Changed: n.reopen,
		Lost: func(id string, why error) {
			n.log.Warn("instances of a deployment stay parked", "deployment", id, "reason", why)
		},
		Replica: n.opts.Replica, Shared: n.shared != nil,
		Sweep: claim.SweepOptions{Age: n.opts.Shared.claimTimeout()}, Role: claim.LeaseOptions{TTL: n.opts.Shared.claimTimeout() / 3},
		Hold:      n.opts.Shared.claimTimeout() / 3,
		Failpoint: n.opts.Failpoint,
		Raised:    n.raised,
		Dropped:   func(message, key string) { n.log.Warn("thrown message met nobody", "message", message, "key", key) },
	}
	n.flows.lanes = n.metrics.newLaneMetrics(n.s, max(n.pkg.Node.Lanes, lane.DefaultLanes), func(id int) int {
		if n.flows.engine == nil {
			return 0
		}
		return n.flows.engine.Queued(id)
	}, func() int {
		if n.flows.engine == nil {
			return 0
		}
		return n.flows.engine.Held()
	})
	o.Observer = n.flows.lanes
	n.flows.engine, err = engine.New(n.s, n.flowing, o, engine.Parts{
		Store: n.plane, Hints: n.hints(), Package: deployment, Compile: n.compile, Handlers: n.handlers(), Send: n.send, Fits: n.fits,
	})
	if err != nil {
		return err
	}
	n.flows.started.Store(true)
	return n.openTransports(n.root)
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
		if p.To.Name != r.Name {
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

// run delivers the rows of a relay. Each row is a delivery with a share of its own and a task that waits for its answer.
func (x *stream) run() {
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

func (x *stream) dispatch(scope *sched.Scope, d delivery) {
	defer d.Rows.Release()
	c := x.n.flows.open.Observe().byName[x.name]
	rows, err := c.selected(d.Rows)
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
		x.n.s.Go(scope, "delivery on "+x.name, func() {
			defer x.room.Release(1)
			defer d.Rows.Release()
			answer, by, err := x.deliver(scope, c, id, r)
			if err == nil {
				err = x.refused(answer, by, id, r)
			}
			if err != nil {
				share.Fail(err)
				return
			}
			if answer.Duplicate {
				share.Duplicates(1)
			}
			share.Ack() // also when nothing waits for it, or it is not valid: sent again it would fare the same
		})
	}
	d.Share.Ack()
}

func (x *channel) selected(b *record.Batch) ([]int32, error) {
	rows, rejected := record.Selected(b, x.Where)
	return rows, x.n.rejectRows("channel "+x.Name, b, rejected)
}

// deliver brings one row to the engine, by the channel that is open now, which it returns.
func (x *stream) deliver(scope *sched.Scope, c *channel, id string, row record.Row) (answer engine.Reply, by *channel, err error) {
	err = x.n.whileSuperseded(scope, c, func(now *channel) (err error) {
		by = now
		decode := func() (engine.Message, error) { return now.message(row) }
		answer, err = now.bring(scope, engine.Delivery{Channel: now.Name, ID: id, Deployment: now.deployment, Decode: decode})
		return err
	})
	return answer, by, err
}

// refused keeps a row that took no effect by a channel, and never will, as a dead letter, and warns: nobody else is told, unlike whoever posts a
// message.
func (x *stream) refused(answer engine.Reply, c *channel, id string, row record.Row) error {
	why, key := answer.Reason, ""
	switch answer.Outcome {
	case engine.Rejected:
	case engine.Unmatched:
		if why == "" {
			why = "nothing waits for it under its key"
		}
	default:
		return nil
	}
	if m, err := c.message(row); err == nil {
		key = m.Key
	}
	place, reason := "channel "+x.name, answer.Outcome.String()
	if others, ok := x.n.paced.pass(place + " " + reason); ok {
		x.n.log.Warn("a record took no effect and is a dead letter", "channel", x.name, "outcome", reason, "key", key, "id", id, "reason", why, "others since the last warning", others)
	}
	text, err := row.AppendJSON(nil)
	if err != nil {
		x.n.end(err)
		return err
	}
	return x.n.keepLetters(place, letter{Reason: reason, Detail: why, Key: key, Row: text})
}

// bring brings a message to the engine and counts the answer.
func (x *channel) bring(scope *sched.Scope, d engine.Delivery) (engine.Reply, error) {
	r, err := x.n.flows.engine.Deliver(scope, d)
	outcome := r.Outcome.String()
	switch {
	case errors.Is(err, settle.ErrTimeout):
		outcome = "timeout"
	case errors.Is(err, settle.ErrEvicted):
		outcome = "evicted"
	case errors.Is(err, settle.ErrFull):
		outcome = "no_room"
	case err != nil:
		outcome = "unanswered"
	case r.Duplicate:
		outcome = "duplicate"
	}
	x.n.metrics.flows.WithLabelValues(x.Name, outcome).Inc()
	return r, err
}

// decoder returns what decodes one message of a channel. It belongs to one request.
func (x *channel) decoder() (*record.Decoder, error) {
	return record.NewDecoder(x.Schema, memory.DefaultAllocator, record.Options{})
}
