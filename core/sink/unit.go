package sink

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Unit is what commits together: the rows that let a batch pass (a deduplicator's keys, a source's position), and the
// data that sinks staged for files while they handled it. It belongs to whoever stages until its point takes it.
//
// A unit is the receiver of the acknowledgement tree of what it waits for: when every share of that tree was acknowledged it
// goes to its point, and when one failed it is settled with the cause, and nothing of it was written.
type Unit struct {
	point   *Point
	rows    []store.Row
	staged  sched.Pointer[piece] // newest first
	settler Settler
}

// piece is data for one file.
type piece struct {
	file  int
	data  []byte
	older *piece
}

// Settler learns what became of a unit.
type Settler = relay.Settler

// MaxUnitRows is the largest number of rows of a unit. A group takes units until it has more than that, so twice as
// many must fit into one commit together with the lengths of all files.
const MaxUnitRows = relay.MaxUnitRows

// A bound that does not fit makes this constant negative, which does not compile.
const _ = uint(store.MaxStepRows - MaxFiles - 2*MaxUnitRows)

// Begin is NewUnit for who needs to know no more of it than a deduplicator does.
func (p *Point) Begin(rows []store.Row, settler Settler) relay.PendingUnit {
	return p.NewUnit(rows, settler)
}

// NewUnit returns a unit without staged data. Rows above MaxUnitRows are a programming fault: sources bound batches.
func (p *Point) NewUnit(rows []store.Row, settler Settler) *Unit {
	if len(rows) > MaxUnitRows {
		panic(fmt.Sprintf("sink: a unit of %d rows, at most %d", len(rows), MaxUnitRows))
	}
	return &Unit{point: p, rows: rows, settler: settler, staged: sched.NewPointer[piece](p.s, "unit staged", nil)}
}

// Stage implements relay.Unit. It is repeated only when another consumer staged meanwhile.
func (u *Unit) Stage(file int, data []byte) {
	if file < 0 || file >= len(u.point.files) {
		panic(fmt.Sprintf("sink: data staged for file %d of %d", file, len(u.point.files)))
	}
	for {
		newest := u.staged.Load()
		if u.staged.CompareAndSwap(newest, &piece{file: file, data: data, older: newest}) {
			return
		}
	}
}

// Resolved implements ack.Receiver.
func (u *Unit) Resolved(o ack.Outcome) {
	if o.Err != nil {
		u.point.emit("Drop", u)
		u.settler.Settled(o.Err)
		return
	}
	u.Submit()
}

// Submit hands the unit to its point. A unit that waits for a tree is submitted by it; others once, by their maker,
// after the last Stage.
func (u *Unit) Submit() {
	u.point.emit("Submit", u)
	if !u.point.queue.Post(u) {
		u.point.late(u)
	}
}

// pieces calls f for each piece in the order of staging.
func (u *Unit) pieces(f func(*piece)) {
	var reversed []*piece
	for x := u.staged.Load(); x != nil; x = x.older {
		reversed = append(reversed, x)
	}
	for i := len(reversed) - 1; i >= 0; i-- {
		f(reversed[i])
	}
}

// bytes returns how much data is staged.
func (u *Unit) bytes() int {
	n := 0
	for x := u.staged.Load(); x != nil; x = x.older {
		n += len(x.data)
	}
	return n
}
