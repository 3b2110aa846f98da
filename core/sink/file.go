package sink

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
)

// FileSink appends the rows of a relay to one file of a commit point. It stages them; the point writes them when the
// batch commits. One task runs it.
type FileSink[P relay.Payload] struct {
	// From is where the rows come from.
	From *relay.Consumer[P]
	// Point writes File, a number that Point.File gave.
	Point *Point
	File  int
	// Encode returns the rows that belong into the file, each with its newline; none is fine. An error fails the delivery.
	Encode func(rows P) ([]byte, error)
}

// Run stages deliveries until the consumer is removed and nothing is left, or scope ends: then what is queued
// fails, to be sent again. It returns nil, or the cause of scope's end.
func (f *FileSink[P]) Run(scope *sched.Scope) error {
	for {
		d, err := f.From.Receive(scope, nil)
		if errors.Is(err, relay.ErrClosed) {
			return nil
		}
		if err != nil {
			f.From.Discard(err)
			return fmt.Errorf("run file sink %s: %w", f.From.Name(), err)
		}
		f.stage(d)
	}
}

// stage hands the rows to the unit that the batch commits with. A batch without one, that no deduplicator let pass, is a
// unit of its own.
func (f *FileSink[P]) stage(d relay.Delivery[P]) {
	data, err := f.Encode(d.Rows)
	d.Rows.Release()
	switch {
	case err != nil:
		d.Share.Fail(fmt.Errorf("encode for file sink %s: %w", f.From.Name(), err))
	case len(data) == 0:
		d.Share.Ack()
	case d.Unit != nil:
		d.Unit.Stage(f.File, data)
		d.Share.Ack()
	default:
		u := f.Point.NewUnit(nil, shareSettler{d.Share})
		u.Stage(f.File, data)
		u.Submit()
	}
}

// shareSettler resolves a share with what became of its unit.
type shareSettler struct{ share *ack.Share }

func (r shareSettler) Settled(err error) {
	if err != nil {
		r.share.Fail(err)
		return
	}
	r.share.Ack()
}
