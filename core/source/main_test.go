package source_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

func TestMain(m *testing.M) { sim.Main(m) }

// fail is what *testing.T and *sim.World have in common.
type fail interface {
	Fatalf(format string, args ...any)
}

func orders(t fail) *record.Schema {
	s, err := record.NewSchema("order", []record.Field{{Name: "id", Type: record.String}, {Name: "amount", Type: record.Int64}})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return s
}

// reader consumes a relay: it keeps ids of orders and of rows, and resolves deliveries as told.
type reader struct {
	orders, ids []string
	judge       func(b *record.Batch, share *ack.Share)
	batches     []*record.Batch
}

func (r *reader) run(scope *sched.Scope, from *relay.Consumer[*record.Batch]) {
	for {
		d, err := from.Receive(scope, nil)
		if err != nil {
			return
		}
		r.batches = append(r.batches, d.Rows)
		for row := range d.Rows.Rows() {
			r.orders = append(r.orders, orderOf(d.Rows, row))
			r.ids = append(r.ids, d.IDs.At(row))
		}
		if r.judge != nil {
			r.judge(d.Rows, d.Share)
		} else {
			d.Share.Ack()
		}
		d.Rows.Release()
	}
}

// orderOf returns the id of an order as a copy: rows do not outlive their batch.
func orderOf(b *record.Batch, row int) string { return b.Row(row).Value(0).Clone().Text() }

// held counts the batches behind the first n that somebody still refers to: the last release takes the columns.
func (r *reader) held(n int) (held int) {
	for _, b := range r.batches[n:] {
		if b.Arrow().NumCols() > 0 {
			held++
		}
	}
	return held
}
