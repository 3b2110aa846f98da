package deploy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/millrace-dev/millrace/core/sched"
)

// Flip (L9) changes which deployment the lanes of one node spawn, and which ones they know.
//
// It owns the publication that every lane reads at each dequeue, what each lane knows, and the order in which a change goes through
// both. It never makes a lane wait, and it decides nothing by itself: a decision is durable before any lane spawns by it.
//
//	settled ──Activate──▶ telling ──every lane knows──▶ deciding ──durable──▶ published ──▶ settled
//	   ▲                     │ a lane refuses, scope ends    │ not durable, definitely
//	   └──"forget" is behind the "know" in every queue───────┘
//
//	settled ──Retire──▶ fencing ──every lane passed──▶ nothing left? ──durable──▶ published ──▶ every lane is told to drop it
//
// Invariants
//
//	I1  A view's number rises with every publication.
//	I2  The deployment that spawns is known to every lane.
//	I3  Every deployment that drains is known to every lane, so a delivery after a reply finds its instance.
//
//	Orders         Activate: every queue has the "know" → every lane has acknowledged this very attempt → the decision is durable →
//	               the publication. Abort: "forget" enters each queue behind the "know" that it takes back.
//	               Retire: every lane dequeued after the publication → nothing is left → durable → the publication → "drop".
//	               A lane: reads the publication at each dequeue, before the request.
//	Linearization  Activate, Follow, Retire: the store to the publication. A lane knows at its place in its own queue.
//	Waits          Changes wait for each other, for room in queues and for acknowledgements, until their scope ends or the lanes
//	               have: a message may come into the queue of a lane that has just ended. An abort waits for room until the lanes
//	               stop. Lanes never wait.
//	Hot path       One atomic load a request, and one look at a short list that only the lane touches.
//
// Spec tla/flip/Flip.tla · Checks TestSimL9*, TestExhaustL9*, TestTraceL9* · Mutants L9.*
type Flip[D any] struct {
	s       sched.Scheduler
	post    Post[D]
	learn   Learn[D]
	changes sched.Semaphore // one change at a time
	view    sched.Publication[View[D]]
	lanes   []book[D]
	told    sched.Notify           // a lane acknowledged or refused, or all have ended
	ended   sched.WriteOnce[error] // the lanes have, and why

	// Of the one change that is under way.
	attempt sched.Cell[uint64]
	numbers sched.Cell[numbers]
}

// Post puts a message into the queue of a lane and returns when it is in. It waits for room until scope ends; nil never ends. The lane
// calls Apply with it at its place in the queue.
type Post[D any] func(scope *sched.Scope, lane int, m *Message[D]) error

// Learn is asked by a lane before it takes definitions: an error refuses the activation. Nil refuses none.
type Learn[D any] func(lane int, d Deployment[D]) error

// book is what one lane knows. Only the lane's task touches known; acknowledged is the attempt that it answered last.
type book[D any] struct {
	known        sched.Cell[[]Deployment[D]]
	acknowledged sched.Uint64
}

// numbers judge I1.
type numbers struct {
	last   uint64
	broken error
}

// kind is what a message asks of a lane.
type kind uint8

const (
	know   kind = iota + 1 // learn the definitions and acknowledge
	forget                 // the activation was aborted
	fence                  // acknowledge only: everything before is done
	drop                   // the deployment has retired
)

var kindNames = [...]string{"none", "know", "forget", "fence", "drop"}

func (k kind) String() string { return kindNames[k] }

// Message is one word to a lane, which takes it at its place in its queue.
type Message[D any] struct {
	kind    kind
	attempt uint64
	about   []Deployment[D]
	refused *sched.WriteOnce[error] // of the attempt, shared by its messages
}

// Kind names what the message asks for.
func (m *Message[D]) Kind() string { return m.kind.String() }

// Attempt is the number of the change that the message belongs to.
func (m *Message[D]) Attempt() uint64 { return m.attempt }

// ErrRefused is wrapped when a lane did not take new definitions: the activation was aborted and nothing of it is left.
var ErrRefused = errors.New("activation was aborted")

// ErrUnknown is wrapped by what makes a decision durable when it cannot be known any more whether it is, because the store has ended or the
// caller has gone. The change is then neither published nor taken back: whoever follows the store, or the next start, reads it.
var ErrUnknown = errors.New("decision is not known to be durable")

// New returns the flip of a node whose lanes have not started, with the view that the store says.
func New[D any](s sched.Scheduler, lanes int, first *View[D], post Post[D], learn Learn[D]) *Flip[D] {
	f := &Flip[D]{
		s: s, post: post, learn: learn, changes: sched.NewSemaphore(s, "deployment changes", 1),
		view: sched.NewPublication(s, "deployments", first), told: sched.NewNotify(s, "lanes told"),
		ended:   sched.NewWriteOnce[error](s, "lanes ended"),
		attempt: sched.NewCell(s, "activation attempt", uint64(0)), numbers: sched.NewCell(s, "deployment numbers", numbers{last: first.Number}),
	}
	for range lanes {
		f.lanes = append(f.lanes, book[D]{
			known: sched.NewCell(s, "known deployments", first.All()), acknowledged: sched.NewUint64(s, "acknowledged attempt", 0),
		})
	}
	s.Own("L9", f, f.checkInvariants)
	return f
}

// Ended ends every change that still waits for lanes, and every later one, for the reason why: no lane takes a message any more.
func (f *Flip[D]) Ended(why error) {
	f.ended.Set(why)
	f.told.All()
}

// Observe returns the view, for whoever brings requests: one atomic load.
func (f *Flip[D]) Observe() *View[D] { return f.view.Observe() }

// Take returns the view that a lane works with for the request that it has just dequeued. It is the same publication for all lanes.
func (f *Flip[D]) Take(int) *View[D] { return f.view.Observe() }

// Known returns a deployment that the lane knows. Only the lane's own task may ask.
func (f *Flip[D]) Known(lane int, id string) (d Deployment[D], found bool) {
	for _, d := range *f.lanes[lane].known.View() {
		if d.ID == id {
			return d, true
		}
	}
	return d, false
}

// Apply is how a lane takes a message, when it comes to it in its queue. It does not wait.
func (f *Flip[D]) Apply(lane int, m *Message[D]) {
	b := &f.lanes[lane]
	switch m.kind {
	case know:
		if err := f.mayLearn(lane, m); err != nil {
			m.refused.Set(err)
			f.emit("KnowFails", lane)
			f.told.One()
			return
		}
		for _, d := range m.about {
			*b.known.Edit() = append(without(*b.known.View(), d.ID), d)
		}
		f.emit("Control", lane)
		f.acknowledge(b, m)
	case fence:
		f.emit("Control", lane)
		f.acknowledge(b, m)
	default: // forget, drop
		for _, d := range m.about {
			*b.known.Edit() = without(*b.known.View(), d.ID)
		}
		f.emit("Control", lane)
	}
}

func (f *Flip[D]) mayLearn(lane int, m *Message[D]) error {
	if f.learn == nil {
		return nil
	}
	for _, d := range m.about {
		if err := f.learn(lane, d); err != nil {
			return fmt.Errorf("lane %d, deployment %s: %w", lane, d.ID, err)
		}
	}
	return nil
}

func (f *Flip[D]) acknowledge(b *book[D], m *Message[D]) {
	b.acknowledged.Store(m.attempt)
	f.told.One()
}

// without returns a new list: what the lane had may be shared with the view.
func without[D any](list []Deployment[D], id string) []Deployment[D] {
	return slices.DeleteFunc(slices.Clone(list), func(d Deployment[D]) bool { return d.ID == id })
}

// emit reports an action of the specification.
func (f *Flip[D]) emit(action string, args ...any) {
	if f.s.Traced() {
		f.s.Emit(f, action, args...)
	}
}

func (f *Flip[D]) checkInvariants() error {
	if err := f.numbers.Peek().broken; err != nil {
		return err
	}
	v := f.view.Peek()
	for lane := range f.lanes {
		known := *f.lanes[lane].known.Peek()
		for i, want := range v.All() {
			if !slices.ContainsFunc(known, func(d Deployment[D]) bool { return d.ID == want.ID }) {
				id := "L9.I3"
				if i == 0 {
					id = "L9.I2"
				}
				return sched.Broken(id, "lane %d does not know deployment %s of view %d", lane, want.ID, v.Number)
			}
		}
	}
	return nil
}

// Words are what the specification sees.
type Words[D any] struct {
	View  *View[D]
	Known [][]Deployment[D] // by lane
}

// Peek returns the words without announcing a read. For checks only.
func (f *Flip[D]) Peek() Words[D] {
	w := Words[D]{View: f.view.Peek()}
	for i := range f.lanes {
		w.Known = append(w.Known, *f.lanes[i].known.Peek())
	}
	return w
}
