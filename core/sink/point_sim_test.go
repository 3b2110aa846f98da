package sink_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/sink/vfs"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
)

const ledger = "ledger.ndjson"

// files are those of the commit point: a group writes and syncs more than one.
var files = []string{"first.ndjson", ledger}

// outside is what survives the node: the disk, the store, and the source that sends a row until it is acknowledged.
type outside struct {
	w      *sim.World
	rows   int
	disk   vfs.Crashable
	store  store.Store
	engine *memory.Engine
	acked  map[int]bool
}

func newOutside(w *sim.World, rows int, faults memory.Options) *outside {
	o := &outside{w: w, rows: rows, acked: map[int]bool{}}
	o.store, o.engine = memory.Open(w.Scheduler(), faults)
	return o
}

// settled is the source's view of one unit.
type settled struct {
	outcome sched.WriteOnce[error]
	refused func() // when set, is called in the moment of a refusal that is no fence
}

func newSettled(s sched.Scheduler) *settled {
	return &settled{outcome: sched.NewWriteOnce[error](s, "settled")}
}

func (r *settled) Settled(err error) {
	if r.refused != nil && err != nil && !errors.Is(err, sink.ErrFenced) {
		r.refused()
	}
	r.outcome.Set(err)
}

func line(id int) []byte { return fmt.Appendf(nil, "row %d\n", id) }

// life is one incarnation: it opens the point, sends what is not acknowledged, two rows at a time, and stops.
func (o *outside) life() {
	s := o.w.Scheduler()
	scope := s.NewScope("node")
	p := sink.NewPoint(s, o.store, &o.disk, sink.Options{Files: files})
	o.w.Own(p)
	err := p.Open(scope)
	o.w.Require(err == nil, "G6.I4", "%v", err)
	o.clean("G6.I4", "the files were opened")
	s.Go(scope, "point", func() {
		if err := p.Run(scope); err != nil {
			o.w.Require(errors.Is(err, sink.ErrFenced), "G6.run", "%v", err)
		}
	})
	senders := s.NewScope("senders")
	for half := range 2 {
		s.Go(senders, "source", func() {
			for id := half; id < o.rows; id += 2 {
				o.send(scope, p, id)
			}
		})
	}
	senders.Join()
	p.Close()
	scope.Join()
}

// send is one attempt at a row: what a deduplicator does, with the store as its memory.
func (o *outside) send(scope *sched.Scope, p *sink.Point, id int) {
	if o.acked[id] {
		return
	}
	key := strconv.Itoa(id)
	_, ticket, err := o.store.Row(scope, "keys", key)
	if err == nil {
		o.w.NoError(o.store.WaitDurable(scope, ticket))
		o.acked[id] = true // a duplicate
		return
	}
	if !errors.Is(err, store.ErrNotFound) {
		return
	}
	reply := newSettled(o.w.Scheduler())
	reply.refused = func() { o.clean("G6.I5", "a unit was refused") }
	u := p.NewUnit([]store.Row{{Space: "keys", Key: key}}, reply)
	u.Stage(0, line(id))
	u.Stage(1, line(id))
	u.Submit()
	err, ended := reply.outcome.Wait(scope)
	o.w.NoError(ended)
	if err == nil {
		o.acked[id] = true
	}
}

// clean is I5: when a unit is refused, each file is as long as its committed length says, and a reader sees nothing of the
// unit; so is it, by I4, when the files were opened.
func (o *outside) clean(id, when string) {
	d, err := step.InspectIn(o.engine.Peek)
	o.w.NoError(err)
	committed := map[string]int{}
	for _, row := range d.Rows {
		if row.Space == sink.LengthSpace {
			committed[row.Key] = int(binary.BigEndian.Uint64(row.Value))
		}
	}
	for _, file := range files {
		n := len(o.disk.Content(file))
		o.w.Require(n == committed[file], id, "%s, and %s has %d bytes, %d of them committed", when, file, n, committed[file])
	}
}

// crash ends the node between two steps, with what it had not synced.
func (o *outside) crash(n *sim.Node) {
	n.Crash()
	o.engine.Crash()
	o.disk.Crash(o.w.Choose)
}

// account requires that every acknowledged row is in each file once, and every other one at most once.
func (o *outside) account() {
	for _, file := range files {
		content := o.disk.Content(file)
		for id := range o.rows {
			n := bytes.Count(content, line(id))
			o.w.Require(n == 1 || n == 0 && !o.acked[id], "G6.I4", "row %d is in %s %d times, acknowledged %t", id, file, n, o.acked[id])
			content = bytes.ReplaceAll(content, line(id), nil)
		}
		o.w.Require(len(content) == 0, "G6.I4", "%s also holds %q", file, content)
	}
}

// The node crashes twice, anywhere. Afterwards a node that is left alone finishes: every row is acknowledged, and is
// in the file once.
func TestSimG6CrashKeepsWhatWasAcknowledged(t *testing.T) {
	sim.Check(t, "G6/crash-keeps-what-was-acknowledged", func(w *sim.World) {
		o := newOutside(w, 4, memory.Options{})
		for range 2 {
			n := w.Node("node")
			n.Go("life", o.life)
			for range w.Choose("steps before the crash", 60) {
				w.Scheduler().Yield()
			}
			o.crash(n)
		}
		w.Node("node").Go("life", o.life)
		w.Join()
		w.Require(len(o.acked) == o.rows, "G6.progress", "acknowledged %v", o.acked)
		o.account()
	}, sim.Runs(400))
}

// Writes, syncs, truncations and commits fail, or their outcome stays unknown. What was refused may be sent again at
// once; a point that is fenced acknowledges nothing more, and only the next life tells what happened.
func TestSimG6PointFailsHonestly(t *testing.T) {
	sim.Check(t, "G6/point-fails-honestly", func(w *sim.World) {
		o := newOutside(w, 4, memory.Options{Only: []string{"write"}, Refuse: 4, Lose: 4, Budget: 3})
		budget := 2
		o.disk.Fail = func(string, string) bool {
			if budget == 0 || w.Choose("fault", 4) > 0 {
				return false
			}
			budget--
			return true
		}
		o.disk.Torn = func(n int) int { return w.Choose("torn", n+1) }
		for life := 0; len(o.acked) < o.rows; life++ {
			w.Require(life < 10, "G6.progress", "acknowledged %v after %d lives", o.acked, life)
			n := w.Node("node")
			n.Go("life", func() { o.tolerant() })
			w.Join()
			o.crash(n)
		}
		o.account()
	}, sim.Runs(400))
}

// tolerant is a life that may also end while it opens its files.
func (o *outside) tolerant() {
	s := o.w.Scheduler()
	scope := s.NewScope("node")
	p := sink.NewPoint(s, o.store, &o.disk, sink.Options{Files: files})
	if err := p.Open(scope); err != nil {
		o.w.Require(!errors.Is(err, sink.ErrShort), "G6.I4", "%v", err)
		return
	}
	o.clean("G6.I4", "the files were opened")
	s.Go(scope, "point", func() {
		if err := p.Run(scope); err != nil {
			o.w.Require(errors.Is(err, sink.ErrFenced), "G6.run", "%v", err)
		}
	})
	for id := range o.rows {
		o.send(scope, p, id)
	}
	p.Close()
	scope.Join()
}

// Somebody removes or cuts a file while the point has it open. What comes after that is not acknowledged, and the next start refuses
// the file, unless it is told that this was meant: then it goes on with what is there.
func TestSimG6WhatIsTakenAwayIsNoticed(t *testing.T) {
	sim.Check(t, "G6/what-is-taken-away-is-noticed", func(w *sim.World) {
		o := newOutside(w, 0, memory.Options{})
		s := w.Scheduler()
		scope := s.NewScope("node")
		p := sink.NewPoint(s, o.store, &o.disk, sink.Options{Files: files})
		w.Own(p)
		w.NoError(p.Open(scope))
		var why error
		s.Go(scope, "point", func() { why = p.Run(scope) })
		send := func(id int) error {
			reply := newSettled(s)
			u := p.NewUnit(nil, reply)
			u.Stage(1, line(id))
			u.Submit()
			err, ended := reply.outcome.Wait(scope)
			w.NoError(ended)
			return err
		}
		w.NoError(send(0))
		sent := s.NewScope("sender")
		var during error
		s.Go(sent, "sender", func() { during = send(1) })
		how := w.Choose("how", 3)
		switch how {
		case 0:
			o.disk.Remove(ledger)
		case 1:
			o.disk.Cut(ledger, w.Choose("left", len(line(0))))
		default: // while it is synced
			o.disk.Fail = func(op, name string) bool {
				if op == "sync" && name == ledger {
					o.disk.Remove(ledger)
				}
				return false
			}
		}
		after := send(2)
		o.disk.Fail = nil
		w.Require(errors.Is(after, sink.ErrFenced), "G6.I8", "a row that came after the file was taken away is settled with %v", after)
		sent.Join()
		w.Require(during == nil && how < 2 || errors.Is(during, sink.ErrFenced), "G6.I8", "settled with %v", during)
		scope.Join()
		w.Require(errors.Is(why, sink.ErrGone) || errors.Is(why, sink.ErrShort), "G6.I8", "the point ended with %v", why)
		again := sink.NewPoint(s, o.store, &o.disk, sink.Options{Files: files})
		err := again.Open(nil)
		w.Require(errors.Is(err, sink.ErrShort), "G6.I8", "the next start ended with %v", err)
		asked := ""
		meant := sink.NewPoint(s, o.store, &o.disk, sink.Options{Files: files, Short: func(name string, size, committed int64) bool {
			asked = fmt.Sprint(name, size < committed)
			return true
		}})
		w.NoError(meant.Open(nil))
		w.Require(asked == ledger+"true", "G6.I8", "asked about %s", asked)
	})
}
