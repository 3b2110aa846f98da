// Package process runs the stateless processors of the record plane: a condition, a projection, or both, between two
// relays.
//
// It holds no owner: a processor is one task with nothing shared. It attaches the shares of what it hands on to the
// attempt it works for before it resolves its own, so an attempt is never decided while part of it is between relays.
package process

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
)

// Options of a processor.
type Options struct {
	Name string
	// Where is the condition, or nil. It comes before Map.
	Where *record.Filter
	// Map is the projection, or nil.
	Map *record.Projection
	// Rejected is told of rows that an expression could not be evaluated for. They are refused alone: the rest of
	// their batch goes on, and they are not sent again, because they would fail again. An error says that the refusal could
	// not be recorded: then the whole delivery fails, because an acknowledgement would lose the rows.
	Rejected func(processor string, b *record.Batch, rows []*record.Rejection) error
}

// Validate reports every fault of the options.
func (o Options) Validate() error {
	var faults []error
	if o.Name == "" {
		faults = append(faults, errors.New("name: empty"))
	}
	if o.Where == nil && o.Map == nil {
		faults = append(faults, errors.New("neither a condition nor a projection"))
	}
	if o.Rejected == nil {
		faults = append(faults, errors.New("rejected: nil"))
	}
	return errors.Join(faults...)
}

// Processor moves batches from a consumer to a relay.
type Processor struct {
	opts Options
	mem  memory.Allocator
	from *relay.Consumer[*record.Batch]
	to   *relay.Relay[*record.Batch]
}

// New returns a processor that has not begun.
func New(opts Options, from *relay.Consumer[*record.Batch], to *relay.Relay[*record.Batch]) (*Processor, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("processor %s: %w", opts.Name, err)
	}
	return &Processor{opts: opts, mem: memory.DefaultAllocator, from: from, to: to}, nil
}

// Run handles deliveries in order until its consumer is removed or scope ends; what is queued then fails and is sent
// again by its source. It waits for deliveries, and for room behind the relay.
func (p *Processor) Run(scope *sched.Scope) {
	for {
		d, err := p.from.Receive(scope, nil)
		if err != nil {
			p.from.Discard(fmt.Errorf("processor %s: %w", p.opts.Name, err))
			return
		}
		p.handle(scope, d)
	}
}

// handle hands on what is left of one delivery. A batch that becomes empty is acknowledged: nothing waits for it.
func (p *Processor) handle(scope *sched.Scope, d relay.Delivery[*record.Batch]) {
	defer d.Rows.Release()
	rows, rejected := record.Selected(d.Rows, p.opts.Where)
	out := d.Rows.Select(rows, p.mem)
	ids := d.IDs.Select(rows)
	if p.opts.Map != nil {
		mapped, source, refused := p.opts.Map.Apply(out, p.mem)
		out.Release()
		for _, r := range refused {
			r.Row = int(rows[r.Row]) // rows of the delivery, as its other rejections
		}
		out, ids, rejected = mapped, ids.Select(source), append(rejected, refused...)
	}
	defer out.Release()
	if len(rejected) > 0 {
		if err := p.opts.Rejected(p.opts.Name, d.Rows, rejected); err != nil {
			d.Share.Fail(fmt.Errorf("processor %s: record rejected rows: %w", p.opts.Name, err))
			return
		}
	}
	if out.Rows() == 0 {
		d.Share.Ack()
		return
	}
	err := p.to.Publish(scope, d.Share, relay.Batch[*record.Batch]{Rows: out, IDs: ids, Unit: d.Unit})
	if err != nil {
		d.Share.Fail(fmt.Errorf("processor %s: %w", p.opts.Name, err))
		return
	}
	d.Share.Ack()
}
