package sink

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/sched"
)

// Payload (G6) is the rows of one delivery while a sink sends them. It owns the state of every row and the one
// resolution of the delivery's share. It does not send, and it never takes the absence of an answer for an answer.
//
//	          Take (a new attempt)             Deliver: the other side has it
//	pending ───────────────────────▶ in flight ─────────────────────────────▶ delivered ─┐ all rows: the share
//	   ▲                               │    │  Bury: its dead letter is durable            │ is acknowledged
//	   └───────────── Reject ──────────┘    └──────────────────────────────▶ buried ────┘
//	Teardown, at any time before that: the share fails; what is resolved later counts for nothing
//
// Invariants
//
//	I1  a row is resolved once, by the attempt that is in flight: an answer to an older attempt changes nothing.
//	I2  the share is acknowledged only when every row is delivered or buried.
//	I3  teardown never acknowledges: with a row unresolved it fails the share, after the last one it does nothing.
//
//	Orders        Deliver, Bury: the row is marked → the count is lowered. Bury: the dead letter is durable →
//	              Bury.
//	Linearization Deliver, Reject and Bury at their compare-and-swap of the row; the end of the payload at
//	              the compare-and-swap of the count that lowers it to nothing, or marks it torn.
//	Waits         none.
//	Hot path      two compare-and-swaps per row; Take reads each row once.
//
// Model models/sink.go · Checks TestSimG6*, TestModelG6
// Mutants G6.resolve-on-teardown, G6.stale-answer, G6.reject-resolves, G6.row-load-store, G6.lower-before-mark
type Payload struct {
	s     sched.Scheduler
	rows  []sched.Uint32 // attempt, state
	open  sched.Uint64   // torn bit, rows not resolved
	share *ack.Share
}

const (
	rowPending uint32 = iota
	rowInFlight
	rowDelivered
	rowBuried
	rowStates = 4 // a row's word is attempt*rowStates + state

	tornBit uint64 = 1 << 63
)

// Row names one row in one attempt.
type Row struct {
	Index   int
	attempt uint32
}

// NewPayload returns a payload of n pending rows. Without rows the share is acknowledged at once.
func NewPayload(s sched.Scheduler, n int, share *ack.Share) *Payload {
	p := &Payload{
		s: s, rows: make([]sched.Uint32, n), share: share,
		open: sched.NewUint64(s, "payload open", uint64(n)),
	}
	for i := range p.rows {
		p.rows[i] = sched.NewUint32(s, "payload row", rowPending)
	}
	if s.Traced() {
		s.Own("G6", p, p.check)
	}
	if n == 0 {
		share.Ack()
	}
	return p
}

// Take moves pending rows, at most limit of them, into a new attempt and appends them to to.
func (p *Payload) Take(to []Row, limit int) []Row {
	taken := 0
	for i := range p.rows {
		if taken == limit {
			break
		}
		word := p.rows[i].Load()
		if word%rowStates != rowPending {
			continue
		}
		if p.rows[i].CompareAndSwap(word, word-rowPending+rowInFlight) {
			to = append(to, Row{Index: i, attempt: word / rowStates})
			taken++
		}
	}
	return to
}

// Deliver marks a row as delivered and reports whether this answer counted.
func (p *Payload) Deliver(r Row) bool { return p.resolve(r, rowDelivered) }

// Bury marks a row whose dead letter is durable and reports whether that counted. The delivery is then accounted
// for, but the row is not delivered.
func (p *Payload) Bury(r Row) bool { return p.resolve(r, rowBuried) }

// Reject returns a row to pending, for another attempt, and reports whether this answer counted.
func (p *Payload) Reject(r Row) bool {
	return p.rows[r.Index].CompareAndSwap(r.word(rowInFlight), r.word(rowPending)+rowStates)
}

func (r Row) word(state uint32) uint32 { return r.attempt*rowStates + state }

func (p *Payload) resolve(r Row, state uint32) bool {
	if !p.mark(r, state) {
		return false
	}
	if p.lower() {
		p.acknowledge()
	}
	return true
}

// mark is the one point at which a row is resolved.
func (p *Payload) mark(r Row, state uint32) bool {
	return p.rows[r.Index].CompareAndSwap(r.word(rowInFlight), r.word(state))
}

// lower counts a row off and reports whether it was the last one of a payload that is not torn.
func (p *Payload) lower() bool { return p.open.Add(^uint64(0)) == 0 }

func (p *Payload) acknowledge() {
	if p.s.Traced() {
		p.s.Check("G6", p.complete)
	}
	p.share.Ack()
}

// Teardown ends the payload where it stands: the sink stops, or has given a row up. It fails the share with cause and
// reports true, unless every row was resolved before.
func (p *Payload) Teardown(cause error) bool {
	for {
		open := p.open.Load()
		if open == 0 || open&tornBit != 0 {
			return false
		}
		if p.open.CompareAndSwap(open, open|tornBit) {
			p.share.Fail(fmt.Errorf("%d of %d rows not delivered: %w", open, len(p.rows), cause))
			return true
		}
	}
}

// Unresolved returns how many rows are not resolved, and whether the payload was torn down.
func (p *Payload) Unresolved() (n int, torn bool) {
	open := p.open.Load()
	return int(open &^ tornBit), open&tornBit != 0
}

// complete reports a row that is not resolved (I2).
func (p *Payload) complete() error {
	for i := range p.rows {
		if state := p.rows[i].Peek() % rowStates; state != rowDelivered && state != rowBuried {
			return sched.Broken("G6.I2", "acknowledged with row %d in state %d", i, state)
		}
	}
	return nil
}

// check compares the count with the rows: a row is marked before it is counted off.
func (p *Payload) check() error {
	unresolved := uint64(0)
	for i := range p.rows {
		if state := p.rows[i].Peek() % rowStates; state == rowPending || state == rowInFlight {
			unresolved++
		}
	}
	if open := p.open.Peek() &^ tornBit; open < unresolved {
		return sched.Broken("G6.I1", "%d rows unresolved, %d counted", unresolved, open)
	}
	return nil
}
