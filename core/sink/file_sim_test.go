package sink_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
)

// counted is a payload of one row that counts its references.
type counted struct {
	id   int
	refs *sched.Int64
}

func newCounted(s sched.Scheduler, id int) counted {
	refs := sched.NewInt64(s, "references", 1)
	return counted{id, &refs}
}

func (counted) Rows() int  { return 1 }
func (c counted) Retain()  { c.refs.Add(1) }
func (c counted) Release() { c.refs.Add(-1) }

// plant is two file sinks behind one relay, each with a file of one commit point, and what was published to them.
type plant struct {
	w     *sim.World
	o     *outside
	point *sink.Point
	relay *relay.Relay[counted]
	sinks []*sink.FileSink[counted]
	sent  []counted
	gone  int                                // the sinks from the first that may be removed: their files may miss what was published later
	ends  []func() (err error, decided bool) // of the attempts
}

func newPlant(w *sim.World) *plant {
	s := w.Scheduler()
	o := newOutside(w, 0, memory.Options{})
	p := &plant{w: w, o: o, relay: relay.New[counted](s, "orders")}
	p.point = sink.NewPoint(s, o.store, &o.disk, sink.Options{Files: files})
	w.Own(p.point)
	w.NoError(p.point.Open(nil))
	for i, name := range files {
		p.sinks = append(p.sinks, &sink.FileSink[counted]{
			From: p.relay.Attach(name, 4), Point: p.point, File: i,
			Encode: func(c counted) ([]byte, error) {
				w.Require(c.refs.Load() > 0, "G6.I7", "row %d is encoded after its release", c.id)
				return line(c.id), nil
			},
		})
	}
	return p
}

// publish makes one attempt at a row, with a unit as a deduplicator does or without one.
func (p *plant) publish(id int, unit bool) {
	s := p.w.Scheduler()
	b := relay.Batch[counted]{Rows: newCounted(s, id)}
	var root *ack.Share
	if unit {
		settled := newSettled(s)
		u := p.point.NewUnit([]store.Row{{Space: "keys", Key: string(line(id))}}, settled)
		b.Unit, root = u, ack.New(s, u)
		p.ends = append(p.ends, settled.outcome.Get)
	} else {
		reply := ack.NewReply(s)
		root = ack.New(s, reply)
		p.ends = append(p.ends, func() (error, bool) {
			o, decided := reply.Get()
			return o.Err, decided
		})
	}
	p.sent = append(p.sent, b.Rows)
	_ = p.relay.Publish(nil, root, b) // what it could not hand over failed its share
	b.Rows.Release()
	root.Ack()
}

// account requires that every attempt has ended as the files say, and that every reference was given back.
func (p *plant) account(units map[int]bool) {
	for i, end := range p.ends {
		id := p.sent[i].id
		err, decided := end()
		p.w.Require(decided, "G6.I7", "nobody ended the attempt at row %d", id)
		p.w.Require(p.sent[i].refs.Peek() == 0, "G6.I7", "row %d has %d references at the end", id, p.sent[i].refs.Peek())
		for i, file := range files {
			n := bytes.Count(p.o.disk.Content(file), line(id))
			p.w.Require(err != nil || n == 1 || n == 0 && i < p.gone, "G6.I4", "row %d is acknowledged and in %s %d times", id, file, n)
			// Without a unit each sink's part is decided alone.
			p.w.Require(err == nil || n == 0 || !units[id] && n == 1, "G6.I5", "row %d has failed and is in %s %d times", id, file, n)
		}
	}
}

// Two sinks stage one delivery's rows for two files, at the same time, while others come. The sinks or the point may stop
// anywhere: then every attempt ends all the same, and what was acknowledged is in both files.
func TestSimG6FileSinksEndEveryDelivery(t *testing.T) {
	sim.Check(t, "G6/file-sinks-end-every-delivery", func(w *sim.World) {
		s := w.Scheduler()
		p := newPlant(w)
		sinking, pointing := s.NewScope("sinks"), s.NewScope("point")
		for _, f := range p.sinks {
			s.Go(sinking, "sink", func() {
				err := f.Run(sinking)
				w.Require(err == nil || errors.Is(err, errStop), "G6.run", "%v", err)
			})
		}
		s.Go(pointing, "point", func() { w.NoError(p.point.Run(pointing)) })
		w.Go("publisher", func() {
			for id := range 3 {
				p.publish(id, id != 1)
			}
		})
		switch w.Choose("who stops", 4) {
		case 1:
			w.Go("stop sinks", func() { sinking.Cancel(errStop) })
		case 2:
			w.Go("stop point", func() { pointing.Cancel(errStop) })
		case 3:
			p.gone = 1
			w.Go("remove a sink", p.sinks[0].From.Remove)
		}
		w.Join()
		for _, f := range p.sinks {
			f.From.Remove()
		}
		sinking.Join()
		p.point.Close()
		pointing.Join()
		p.account(map[int]bool{0: true, 2: true})
	})
}

// The same two stagings, in every order of their steps.
func TestExhaustG6TwoSinksStageOneUnit(t *testing.T) {
	sim.Exhaust(t, "G6/two-sinks-stage-one-unit", func(w *sim.World) {
		s := w.Scheduler()
		o := newOutside(w, 0, memory.Options{})
		p := sink.NewPoint(s, o.store, &o.disk, sink.Options{Files: files})
		reply := newSettled(s)
		u := p.NewUnit(nil, reply)
		for i := range files {
			w.Go("stage", func() { u.Stage(i, line(i)) })
		}
		w.Join()
		w.NoError(p.Open(nil))
		u.Submit()
		p.Close()
		w.NoError(p.Run(nil))
		for i, file := range files {
			w.Require(bytes.Equal(o.disk.Content(file), line(i)), "G6.I4", "%s holds %q", file, o.disk.Content(file))
		}
	})
}
