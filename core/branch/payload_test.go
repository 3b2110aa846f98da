package branch_test

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/millrace-dev/millrace/sim"
)

// records are the keys of a batch, one for each row.
type records []string

// batch is a payload that knows who refers to it: whoever keeps one, or uses one that nobody keeps, is found.
type batch struct {
	keys records
	refs atomic.Int32
	held *atomic.Int64 // batches of a node that somebody refers to
}

func newBatch(held *atomic.Int64, keys records) *batch {
	b := &batch{keys: keys, held: held}
	b.refs.Store(1)
	held.Add(1)
	return b
}

func (b *batch) Rows() int { return len(b.rows()) }

func (b *batch) Retain() {
	if b.refs.Add(1) <= 1 {
		panic(fmt.Sprintf("batch %v is retained after its last release", b.keys))
	}
}

func (b *batch) Release() {
	switch n := b.refs.Add(-1); {
	case n == 0:
		b.held.Add(-1)
	case n < 0:
		panic(fmt.Sprintf("batch %v is released too often", b.keys))
	}
}

// rows is how everything reads a batch.
func (b *batch) rows() records {
	if b.refs.Load() <= 0 {
		panic(fmt.Sprintf("batch %v is read after its last release", b.keys))
	}
	return b.keys
}

func pickRecords(b *batch, rows []int32) *batch {
	out := make(records, len(rows))
	for i, row := range rows {
		out[i] = b.rows()[row]
	}
	return newBatch(b.held, out)
}

// errHeld means that a node has ended and somebody still refers to a batch of it.
var errHeld = errors.New("batches are held")

func heldError(held *atomic.Int64) error {
	if n := held.Load(); n != 0 {
		return fmt.Errorf("%d %w", n, errHeld)
	}
	return nil
}

// stopped stops a node, and requires that it ends well with nothing held.
func stopped(w *sim.World, n *node) {
	err := n.stop()
	w.Require(!errors.Is(err, errHeld), "E2.held", "%v", err)
	w.NoError(err)
}
