package node

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace-dev/millrace/core/branch"
	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/process"
	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
)

type (
	batches  = relay.Relay[*record.Batch]
	consumer = relay.Consumer[*record.Batch]
	delivery = relay.Delivery[*record.Batch]
)

// dedupeWorkers is how many branches of one deduplicator run at the same time.
const dedupeWorkers = 4

// branchQueue is how many deliveries of one branch wait.
const branchQueue = 256

// makeRelays makes every relay of the package, without consumers.
func (n *Node) makeRelays() {
	n.relays = map[string]*batches{}
	for _, r := range n.pkg.Relays {
		n.relays[r.Name] = relay.New[*record.Batch](n.s, r.Name)
	}
}

func (n *Node) attach(name string, from *graph.Relay) *consumer {
	return n.relays[from.Name].Attach(name, from.Capacity)
}

// pointFiles are the files that a package writes with the commit point: those of its file sinks, and dead letters of streams.
func pointFiles(p *graph.Package) (names []string) {
	for _, s := range p.Sinks {
		if s.File != nil {
			names = append(names, s.File.Path)
		}
	}
	for _, s := range p.Sources {
		if s.HTTP == nil {
			names = append(names, deadLetterFile(s))
		}
	}
	return names
}

// acceptShort says whether a file may be shorter than what was acknowledged of it.
func (n *Node) acceptShort(name string, size, committed int64) bool {
	accepted := slices.Contains(n.opts.AcceptShort, name)
	if accepted {
		n.log.Warn("file is shorter than what was acknowledged of it, and goes on at its end as asked", "file", name, "bytes", size, "acknowledged", committed)
	} else {
		n.log.Error("file is shorter than what was acknowledged of it: put it back, or accept that with --accept-short", "file", name, "bytes", size, "acknowledged", committed)
	}
	return accepted
}

// makePoint opens the commit point of the package's file sinks.
func (n *Node) makePoint() error {
	o := sink.Options{Files: pointFiles(n.pkg), Failpoint: n.opts.Failpoint, Short: n.acceptShort}
	if err := o.Validate(); err != nil {
		return fmt.Errorf("file sinks: %w", err)
	}
	n.point = sink.NewPoint(n.s, n.store, files{n.opts.Data}, o)
	return n.point.Open(n.root)
}

// startProcessors attaches and starts every processor.
func (n *Node) startProcessors() error {
	for _, p := range n.pkg.Processors {
		if p.Deduplicate != nil {
			if err := n.startDeduplicator(p); err != nil {
				return fmt.Errorf("processor %s: %w", p.Name, err)
			}
			continue
		}
		o := process.Options{Name: p.Name, Where: p.Where, Map: p.Map, Rejected: n.rejectRows}
		run, err := process.New(o, n.attach(p.Name, p.From), n.relays[p.To.Name])
		if err != nil {
			return err
		}
		n.s.Go(n.flowing, "processor "+p.Name, func() { run.Run(n.flowing) })
	}
	return nil
}

func (n *Node) startDeduplicator(p *graph.Processor) error {
	split, err := n.splitter(p)
	if err != nil {
		return err
	}
	d := branch.NewDeduplicator(n.s, branch.DedupeOptions[*record.Batch]{
		Name: p.Name, Keep: p.Deduplicate.Keep, From: n.attach(p.Name, p.From), To: n.relays[p.To.Name],
		Point: n.point, Store: n.store, Split: split, MaxKeys: p.Deduplicate.Max, Branches: branchOptions(p.From.BranchedBy),
		Key: func(b *record.Batch, row int) (string, error) { return keyOf(p.Deduplicate.On, b, row) },
		Refuse: func(b *record.Batch, row int, err error) error {
			r := &record.Rejection{}
			if !errors.As(err, &r) {
				r = &record.Rejection{Reason: record.Evaluation, Detail: err.Error()}
			}
			r.Row = row
			return n.rejectRows(p.Name, b, []*record.Rejection{r})
		},
		Select: func(b *record.Batch, rows []int32) *record.Batch { return b.Select(rows, memory.DefaultAllocator) },
	})
	for range dedupeWorkers {
		n.s.Go(n.flowing, "branches of "+p.Name, func() { d.Work(n.flowing) })
	}
	n.s.Go(n.flowing, "processor "+p.Name, func() { n.failed("processor "+p.Name, d.Dispatch(n.flowing)) })
	n.expiring = append(n.expiring, branch.KeySpace(p.Name))
	return nil
}

func branchOptions(b *graph.Branch) branch.Options {
	if b == nil {
		return branch.Options{Max: 1, Queue: branchQueue}
	}
	return branch.Options{TTL: b.TTL, Max: b.Max, Queue: branchQueue}
}

func keyOf(on *record.Expr, b *record.Batch, row int) (string, error) {
	v, r := on.Eval(b.Row(row))
	if r != nil {
		return "", r
	}
	return string(v.AppendKey(nil)), nil
}

// splitter cuts batches by branch. The expressions of a branch's key stand at the source that feeds the relay, so
// they must be the same for all sources above it, and still be about the same schema.
func (n *Node) splitter(p *graph.Processor) (func(*record.Batch) ([]branch.Part, error), error) {
	if p.From.BranchedBy == nil {
		return nil, nil
	}
	keys, err := n.branchKeys(p.From, 0)
	if err != nil {
		return nil, err
	}
	return func(b *record.Batch) ([]branch.Part, error) {
		groups, rejected := record.Partition(b, keys)
		if err := n.rejectRows(p.Name, b, rejected); err != nil {
			return nil, err
		}
		parts := make([]branch.Part, len(groups))
		for i, g := range groups {
			parts[i] = branch.Part{Branch: g.Key, Rows: g.Rows}
		}
		return parts, nil
	}, nil
}

// branchKeys finds the key expressions of the sources above a relay. The package has no cycles, so depth is bounded by
// its relays.
func (n *Node) branchKeys(r *graph.Relay, depth int) ([]*record.Expr, error) {
	if depth > len(n.pkg.Relays) {
		return nil, fmt.Errorf("relay %s: a cycle of relays", r.Name)
	}
	var found []*record.Expr
	add := func(keys []*record.Expr) error {
		if found != nil && texts(found) != texts(keys) {
			return fmt.Errorf("relay %s: its sources compute the branch %s in different ways: %s and %s", r.Name, r.BranchedBy.Name, texts(found), texts(keys))
		}
		found = keys
		return nil
	}
	var errs error
	for _, s := range n.pkg.Sources {
		if s.To.Relay == r {
			errs = errors.Join(errs, add(s.To.Keys))
		}
	}
	for _, e := range n.pkg.Emits {
		if e.To.Relay == r {
			errs = errors.Join(errs, add(e.To.Keys))
		}
	}
	for _, p := range n.pkg.Processors {
		if p.To != r {
			continue
		}
		if p.Map != nil {
			errs = errors.Join(errs, fmt.Errorf("relay %s: processor %s maps rows in front of a branch's state", r.Name, p.Name))
			continue
		}
		keys, err := n.branchKeys(p.From, depth+1)
		if err == nil {
			err = add(keys)
		}
		errs = errors.Join(errs, err)
	}
	return found, errs
}

func texts(keys []*record.Expr) string {
	all := make([]string, len(keys))
	for i, k := range keys {
		all[i] = k.Text()
	}
	return strings.Join(all, ", ")
}

// startFileSink attaches and starts a file sink.
func (n *Node) startFileSink(s *graph.Sink) error {
	file, ok := n.point.File(s.File.Path)
	if !ok {
		return fmt.Errorf("sink %s: file %s is not with the commit point", s.Name, s.File.Path)
	}
	f := &sink.FileSink[*record.Batch]{
		From: n.attach(s.Name, s.From), Point: n.point, File: file,
		Encode: func(b *record.Batch) ([]byte, error) { return n.encode(s, b) },
	}
	n.s.Go(n.flowing, "sink "+s.Name, func() { n.failed("sink "+s.Name, f.Run(n.flowing)) })
	return nil
}

// encode returns the rows that belong to a sink as lines.
func (n *Node) encode(s *graph.Sink, b *record.Batch) ([]byte, error) {
	out, rows := b, b.Rows()
	if s.Where != nil {
		selected, rejected := s.Where.Apply(b, memory.DefaultAllocator)
		defer selected.Release()
		if err := n.rejectRows(s.Name, b, rejected); err != nil {
			return nil, err
		}
		out, rows = selected, selected.Rows()
	}
	n.metrics.written.WithLabelValues(s.Name).Add(float64(rows))
	if rows == 0 {
		return nil, nil
	}
	return record.AppendLines(nil, out)
}

// failed reports a part of the record plane that ended before it was told to.
func (n *Node) failed(what string, err error) {
	if err == nil || n.flowing.Err() != nil || errors.Is(err, sched.ErrCanceled) {
		return
	}
	n.end(fmt.Errorf("%s: %w", what, err))
}
