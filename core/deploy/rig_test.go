package deploy_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/deploy"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// version is the definitions of these checks: 1 is active at first, 2 is activated.
func version(v int) deploy.Deployment[int] {
	return deploy.Deployment[int]{ID: fmt.Sprint(v), Definitions: v}
}

// What the rig's disk says, in the order in which it comes about.
const (
	oldActive = iota + 1
	newActive
	oldRetired
)

// rig is what outlives a node: a disk, instances, and clients. Shared words are primitives, so that a search sees every conflict.
type rig struct {
	*sim.World
	disk   sched.Int64
	parked map[string]*sched.Int64 // by client: the version of its parked instance, or 0; the map is never changed
	lanes  int
	queue  int
	refuse func(lane int) error // phase 1
	life   *life
}

func newRig(w *sim.World, lanes, queue int) *rig {
	s := w.Scheduler()
	r := &rig{World: w, disk: sched.NewInt64(s, "disk", oldActive), parked: map[string]*sched.Int64{}, lanes: lanes, queue: queue}
	was, is := sched.NewInt64(s, "parked old", 1), sched.NewInt64(s, "parked new", 0)
	r.parked["old"], r.parked["new"] = &was, &is
	return r
}

// life is one life of the node: its lanes, their queues and its flip.
type life struct {
	*rig
	node   *sim.Node
	scope  *sched.Scope // ends when the node crashes or stops
	flip   *deploy.Flip[int]
	queues []*sched.Chan[item]
}

// item is what waits in a lane's queue.
type item struct {
	control      *deploy.Message[int]
	kind, client string
	reply        *sched.Chan[int]
	served       *int // the answer, when it took effect: what the inbox remembers after a crash
}

// start begins a life from what the disk says.
func (r *rig) start() *life {
	l := r.born()
	l.run()
	return l
}

// run starts the lanes, as tasks of the node.
func (l *life) run() {
	l.node.Go("start", func() {
		for lane := range l.lanes {
			l.Scheduler().Go(l.scope, fmt.Sprintf("lane %d", lane), func() { l.loop(lane) })
		}
	})
}

// born makes a life that does not run yet, in no step of its own.
func (r *rig) born() *life {
	s := r.Scheduler()
	l := &life{rig: r, node: r.Node("node"), scope: s.NewScope("life")}
	for range r.lanes {
		l.queues = append(l.queues, sched.NewChan[item](s, "lane queue", r.queue))
	}
	l.flip = deploy.New(s, r.lanes, view(r.disk.Peek()), l.post, l.learn)
	r.life = l
	return l
}

func view(disk int64) *deploy.View[int] {
	v := &deploy.View[int]{Number: uint64(disk), Active: version(2)}
	switch disk {
	case oldActive:
		v.Active = version(1)
	case newActive:
		v.Draining = []deploy.Deployment[int]{version(1)}
	}
	return v
}

func (l *life) post(scope *sched.Scope, lane int, m *deploy.Message[int]) error {
	return l.queues[lane].SendWithin(scope, item{control: m})
}

func (l *life) learn(lane int, _ deploy.Deployment[int]) error {
	if l.refuse == nil {
		return nil
	}
	return l.refuse(lane)
}

// loop is a lane: it reads the publication at each dequeue, and works with it to the end of the request.
func (l *life) loop(lane int) {
	for {
		x, open, err := l.queues[lane].ReceiveWithin(l.scope)
		switch {
		case err != nil || !open:
			return
		case x.control != nil:
			l.flip.Apply(lane, x.control)
		default:
			v := l.flip.Take(lane)
			l.emit("Take", lane)
			l.serve(lane, x, v)
		}
	}
}

func (l *life) emit(action string, args ...any) { l.Scheduler().Emit(l.flip, action, args...) }

// serve runs a delivery as the specification does: it spawns, spawns again, or ends the instance that the client has parked.
func (l *life) serve(lane int, x item, v *deploy.View[int]) {
	active := v.Active
	if x.kind != "correlate" {
		_, known := l.flip.Known(lane, active.ID)
		l.Require(known, "L9.spawn", "lane %d spawns version %s and does not know it", lane, active.ID)
	}
	answer := active.Definitions
	switch x.kind {
	case "spawn":
		l.parked[x.client].Store(int64(answer))
	case "correlate":
		answer = int(l.parked[x.client].Load())
		_, known := l.flip.Known(lane, fmt.Sprint(answer))
		_, seen := v.Find(fmt.Sprint(answer))
		l.Require(known && seen, "L9.lost", "lane %d does not find the instance of %s, which is of version %d", lane, x.client, answer)
		l.parked[x.client].Store(0)
	}
	l.emit("Serve", lane)
	if x.served != nil {
		*x.served = answer
	}
	x.reply.Send(answer)
}

var errCrashed = errors.New("the node crashed")

// ask sends a delivery to a lane and returns the answer: the version that it met.
func (l *life) ask(client string, lane int, kind string) (int, error) {
	x := item{kind: kind, client: client, reply: sched.NewChan[int](l.Scheduler(), "reply", 1), served: new(int)}
	if sched.Select2(l.queues[lane].OnSend(x), l.scope.Done()).Index == 1 {
		return 0, errCrashed
	}
	if l.life != l {
		return 0, errCrashed // into a queue that is no more
	}
	l.emit("Request", client, lane, kind)
	got := sched.Select2(x.reply.OnReceive(), l.scope.Done())
	switch {
	case got.Index == 0:
		return got.A, nil
	case *x.served != 0:
		return *x.served, nil // sent again it is a duplicate
	}
	return 0, errCrashed
}

// decide makes a view durable: one write, which is what the specification calls Decide or Retire.
func (l *life) decide(next *deploy.View[int]) error {
	state, action := int64(newActive), "Decide"
	if len(next.Draining) == 0 {
		state, action = oldRetired, "Retire"
	}
	if l.scope != nil { // a search needs no disk
		l.disk.Store(state)
	}
	l.emit(action)
	return nil
}

// quiet reports whether no instance of version 1 is parked.
func (l *life) quiet() (bool, error) {
	for _, client := range []string{"old", "new"} {
		if l.parked[client].Load() == 1 {
			return false, nil
		}
	}
	return true, nil
}

// activate makes version 2 active; an aborted attempt is made again. It may not take more than a hundred.
func (l *life) activate(scope *sched.Scope) {
	for range 100 {
		_, err := l.flip.Activate(scope, version(2), l.decide)
		if err == nil {
			return
		}
		l.Require(errors.Is(err, deploy.ErrRefused), "L9.refused", "%v", err)
	}
	l.Require(false, "L9.progress", "a hundred attempts were refused")
}

// retire lets version 1 go, looked at once a second. One who spawned again has left an instance parked for ever.
func (l *life) retire(scope *sched.Scope) {
	for range 10 {
		done, err := l.flip.Retire(scope, "1", l.quiet, l.decide)
		l.NoError(err)
		if done || l.flip.Observe().Number == oldRetired {
			return
		}
		l.NoError(l.Scheduler().Sleep(scope, "retirement", time.Second))
	}
	l.Require(l.parked["new"].Peek() == 1, "L9.progress", "version 1 never retired")
}

// retired requires that version 1 is gone, unless an instance of it is parked for ever.
func (r *rig) retired() {
	r.Require(r.disk.Peek() == oldRetired || r.parked["new"].Peek() == 1, "L9.end", "the disk says %d", r.disk.Peek())
}

// stop ends the life without a crash.
func (l *life) stop() { l.scope.Cancel(nil) }
