package sink_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// parcel is a payload of numbered rows that counts its references.
type parcel struct {
	rows int
	refs *sched.Int64
}

func (p parcel) Rows() int { return p.rows }
func (p parcel) Retain()   { p.refs.Add(1) }
func (p parcel) Release()  { p.refs.Add(-1) }

// partner is the other side and the dead letters, and what they know of the rows.
type partner struct {
	t        *rapid.T
	outer    *testing.T
	poison   map[int32]bool
	away     []bool // which calls find nobody there; later ones do
	calls    int
	again    int // calls that found nobody
	batch    int
	refs     *sched.Int64
	got      map[int32]int
	buried   map[int32]int
	buryFail bool
}

// Send implements RemoteOptions.Send, truthfully.
func (p *partner) send(_ *sched.Scope, rows parcel, ids relay.IDs, selected []int32) (sink.Verdict, error) {
	p.calls++
	switch {
	case p.refs.Load() < 1:
		inventory.Violated(p.outer, p.t, "G6.I7", "rows are sent after their release")
	case len(selected) == 0 || len(selected) > p.batch || ids.Len() != rows.rows:
		inventory.Violated(p.outer, p.t, "G6.I1", "sent %v with %d ids, at most %d rows at once", selected, ids.Len(), p.batch)
	case p.calls > 200:
		inventory.Violated(p.outer, p.t, "G6.I7", "no end after %d calls", p.calls)
	}
	if p.calls <= len(p.away) && p.away[p.calls-1] {
		p.again++
		return sink.Again, errPeer
	}
	for _, i := range selected {
		if p.poison[i] {
			return sink.Never, errPeer
		}
	}
	for _, i := range selected {
		p.got[i]++
	}
	return sink.Accepted, nil
}

func (p *partner) bury(_ parcel, row int, _ error) error {
	if p.buryFail {
		return errStop
	}
	p.buried[int32(row)]++
	return nil
}

// judge compares what the rows met with how the delivery ended.
func (p *partner) judge(selected []int32, retries int, route bool, end error) {
	complete := true
	for i := range int32(100) {
		mine := slices.Contains(selected, i)
		times := p.got[i] + p.buried[i]
		switch {
		case times > 1 || times > 0 && !mine || p.got[i] > 0 && p.poison[i] || p.buried[i] > 0 && !p.poison[i]:
			inventory.Violated(p.outer, p.t, "G6.I1", "row %d, selected %t, to blame %t, was accepted %d times and buried %d times",
				i, mine, p.poison[i], p.got[i], p.buried[i])
		case mine && times == 0:
			complete = false
		}
	}
	switch {
	case (end == nil) != complete:
		inventory.Violated(p.outer, p.t, "G6.I2", "every row resolved %t, the delivery ended with %v", complete, end)
	case errors.Is(end, sink.ErrExhausted) != (p.again > retries), p.again > retries+1:
		inventory.Violated(p.outer, p.t, "G6.retries", "%d calls of %d allowed found nobody, ended with %v", p.again, retries+1, end)
	case errors.Is(end, sink.ErrNever) && route, errors.Is(end, errStop) && !p.buryFail:
		inventory.Violated(p.outer, p.t, "G6.I2", "route to dead letters %t, ended with %v", route, end)
	case end != nil && p.again <= retries && route && !p.buryFail:
		inventory.Violated(p.outer, p.t, "G6.I2", "nothing stood in the way, ended with %v", end)
	}
}

// Any rows to any partner: each selected row is accepted once, or buried once for being to blame, or the delivery fails; and it
// fails for a reason only.
func TestModelG6RemoteResolvesEachRowOnce(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "G6/remote-resolves-each-row-once", func(outer *testing.T) int {
		cases := 0
		rapid.Check(outer, func(t *rapid.T) {
			cases++
			remoteCase(outer, t)
		})
		return cases
	})
}

func remoteCase(outer *testing.T, t *rapid.T) {
	s := sched.Scheduler{}
	refs := sched.NewInt64(s, "references", 1)
	rows := parcel{rapid.IntRange(0, 9).Draw(t, "rows"), &refs}
	p := &partner{
		t: t, outer: outer, refs: &refs, poison: map[int32]bool{}, got: map[int32]int{}, buried: map[int32]int{},
		away:  rapid.SliceOfN(rapid.SampledFrom([]bool{true, false, false}), 0, 12).Draw(t, "away"),
		batch: rapid.IntRange(1, 10).Draw(t, "batch"),
	}
	var selected, lines []int32
	condition := rapid.Bool().Draw(t, "condition")
	for i := range int32(rows.rows) {
		lines = append(lines, i)
		p.poison[i] = rapid.IntRange(0, 3).Draw(t, "to blame") == 0
		if !condition || rapid.Bool().Draw(t, "selected") {
			selected = append(selected, i)
		}
	}
	r := relay.New[parcel](s, "r")
	opts := sink.RemoteOptions[parcel]{
		Name: "remote", From: r.Attach("remote", 2), Send: p.send, Batch: p.batch,
		Retries: rapid.IntRange(0, 4).Draw(t, "retries"),
	}
	if condition {
		opts.Where = func(parcel) ([]int32, error) { return selected, nil }
	}
	route := rapid.Bool().Draw(t, "route to dead letters")
	if route {
		opts.Bury = p.bury
		p.buryFail = rapid.IntRange(0, 3).Draw(t, "dead letters fail") == 0
	}
	remote, err := sink.NewRemote(s, opts)
	if err != nil {
		t.Fatal(err)
	}
	reply := ack.NewReply(s)
	root := ack.New(s, reply)
	if err := r.Publish(nil, root, relay.Batch[parcel]{Rows: rows, IDs: relay.LineIDs("test", lines)}); err != nil {
		t.Fatal(err)
	}
	rows.Release()
	root.Ack()
	opts.From.Remove()
	if err := remote.Run(nil); err != nil {
		t.Fatal(err)
	}
	o, decided := reply.Get()
	if !decided || refs.Load() != 0 {
		inventory.Violated(outer, t, "G6.I7", "the delivery ended %t, %d references are left", decided, refs.Load())
	}
	p.judge(selected, opts.Retries, route, o.Err)
}

// The wait doubles with each retry and never exceeds its bound.
func TestRemoteWaitsDoubleUpToTheirBound(t *testing.T) {
	const retries = 6
	for _, first := range []time.Duration{0, 1, time.Second, 3 * time.Minute, 5 * time.Minute, 5*time.Minute + 1, 7 * time.Minute, sink.MaxBackoff} {
		var want time.Duration
		for wait, i := first, 0; i < retries; i++ {
			want += wait
			wait = min(2*wait, sink.MaxBackoff)
		}
		took, err := sendRemote(t, &peer{away: retries}, sink.RemoteOptions[numbers]{Retries: retries, Backoff: first}, numbers{1})
		if err != nil || took != want {
			t.Errorf("first wait %v: %v for %d retries, want %v; %v", first, took, retries, want, err)
		}
	}
}
