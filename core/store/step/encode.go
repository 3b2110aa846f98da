package step

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/store"
)

// errCorrupt means that stored bytes are not what this package writes.
var errCorrupt = errors.New("store: corrupt row")

// encoder writes rows: unsigned varints, and text and bytes with their length before them.
type encoder []byte

func (e encoder) number(n uint64) encoder { return binary.AppendUvarint(e, n) }

func (e encoder) text(s string) encoder { return append(e.number(uint64(len(s))), s...) }

func (e encoder) bytes(b []byte) encoder { return append(e.number(uint64(len(b))), b...) }

// moment keeps nanoseconds; zero stands for the zero time, so the first nanosecond of 1970 is not kept apart.
func (e encoder) moment(t time.Time) encoder {
	if t.IsZero() {
		return e.number(0)
	}
	return e.number(uint64(t.UnixNano()))
}

func (e encoder) owner(o store.Owner) encoder {
	return e.text(o.Replica).number(uint64(o.Lane)).number(o.Incarnation)
}

// decoder reads what encoder wrote; the first fault sticks. What it returns does not alias the row.
type decoder struct {
	row []byte
	at  int
	err error
}

func decode(row []byte) *decoder { return &decoder{row: row} }

func (d *decoder) number() uint64 {
	if d.err != nil {
		return 0
	}
	n, size := binary.Uvarint(d.row[d.at:])
	if size <= 0 {
		d.fail("cut number")
		return 0
	}
	d.at += size
	return n
}

func (d *decoder) take() []byte {
	n := d.number()
	if d.err != nil {
		return nil
	}
	if n > uint64(len(d.row)-d.at) {
		d.fail("cut bytes")
		return nil
	}
	b := d.row[d.at : d.at+int(n)]
	d.at += int(n)
	return b
}

func (d *decoder) text() string { return string(d.take()) }

// bytes returns nil for no bytes: the store does not tell an empty value from none.
func (d *decoder) bytes() []byte {
	b := d.take()
	if len(b) == 0 {
		return nil
	}
	return append([]byte(nil), b...)
}

func (d *decoder) moment() time.Time {
	n := d.number()
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(n)).UTC()
}

func (d *decoder) owner() store.Owner {
	o := store.Owner{Replica: d.text()}
	lane := d.number()
	if lane > 1<<32-1 {
		d.fail("lane out of range")
	}
	o.Lane, o.Incarnation = uint32(lane), d.number()
	return o
}

func (d *decoder) fail(why string) {
	d.err = fmt.Errorf("%w: byte %d of %d: %s", errCorrupt, d.at, len(d.row), why)
}

// end reports the first fault, or bytes that nothing read.
func (d *decoder) end() error {
	if d.err == nil && d.at != len(d.row) {
		d.fail("trailing bytes")
	}
	return d.err
}
