// Package network is a network in a simulated world: messages and byte streams between named places, with delay, loss,
// duplication, reordering, one-way partitions and resets as choices.
//
// What is sent stands in a link, one for each direction between two places, until the link's task lets it arrive. When that happens
// is the schedule; what happens to it is drawn with World.Fault, so faults replay, shrink, are bounded by sim.Faults and
// end with World.StopFaults. A network belongs to one execution: make it inside a check's body.
package network

import (
	"errors"
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

// ErrReset is what both ends of a stream get when its connection broke.
var ErrReset = errors.New("network: connection reset")

// ErrClosed is what a stream gives after the other end was closed and everything before was read.
var ErrClosed = errors.New("network: closed")

// ErrUnreachable is the error of a dial to a place where nobody listens.
var ErrUnreachable = errors.New("network: unreachable")

// Latency is how long a message is held that is drawn to be late: longer than any timeout that a check means to see expire.
const Latency = 10 * time.Second

// Room bounds what stands in one link or at one place; a sender waits for more.
const Room = 64

// Network connects places by name.
type Network struct {
	w *sim.World
	s sched.Scheduler

	drawn sched.Notify // links whose task is to be started

	mu     sched.Mutex // guards the rest
	places []*Place
	links  []*link
	pipes  []*pipe
	cuts   []direction
}

// direction is from one place to another.
type direction struct{ from, to string }

// String returns "from→to".
func (d direction) String() string { return d.from + "→" + d.to }

// New returns a network without places. It is called outside of every node, to which the network would belong otherwise.
func New(w *sim.World) *Network {
	s := w.Scheduler()
	n := &Network{w: w, s: s, mu: sched.NewMutex(s, "network"), drawn: sched.NewNotify(s, "links drawn")}
	s.Go(w.Scope(), "network", n.lay)
	return n
}

// Place is where messages for a name arrive, and where streams to it are accepted.
type Place struct {
	n    *Network
	name string
	in   *sched.Chan[Message]
	dial *sched.Chan[*Stream]
}

// Message is one datagram.
type Message struct {
	From string
	Body []byte
}

// Place opens the named place. A second one of the same name takes over, as a restarted node does: what is still under way
// arrives there.
func (n *Network) Place(name string) *Place {
	p := &Place{
		n: n, name: name, in: sched.NewChan[Message](n.s, name+" in", Room), dial: sched.NewChan[*Stream](n.s, name+" dial", Room),
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for i := range n.places {
		if n.places[i].name == name {
			n.places[i] = p
			return p
		}
	}
	n.places = append(n.places, p)
	return p
}

// Cut lets nothing pass from one place to another until Heal; the other direction stays as it is. Messages are lost,
// streams stand still.
func (n *Network) Cut(from, to string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if d := (direction{from, to}); !n.isCut(d) {
		n.cuts = append(n.cuts, d)
	}
	n.s.Emit(cut{}, "partition "+from+"→"+to)
}

// cut is an event that counts as a fault that was taken.
type cut struct{}

// Fault says so.
func (cut) Fault() {}

// Heal undoes Cut.
func (n *Network) Heal(from, to string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, d := range n.cuts {
		if d == (direction{from, to}) {
			n.cuts = append(n.cuts[:i], n.cuts[i+1:]...)
			break
		}
	}
	for _, l := range n.links {
		if l.at == (direction{from, to}) {
			l.more.One()
		}
	}
	for _, p := range n.pipes {
		if p.at == (direction{from, to}) {
			p.changed.One()
		}
	}
	n.w.Logf("partition %s→%s heals", from, to)
}

// isCut needs the guard.
func (n *Network) isCut(at direction) bool {
	for _, d := range n.cuts {
		if d == at {
			return true
		}
	}
	return false
}

// place needs the guard.
func (n *Network) place(name string) *Place {
	for _, p := range n.places {
		if p.name == name {
			return p
		}
	}
	return nil
}

// Send puts a message on its way to a place, whether or not there is one. It never waits: a full link loses the message, as
// datagrams are lost.
func (p *Place) Send(to string, body []byte) {
	n := p.n
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.link(direction{p.name, to})
	if len(l.waiting) == Room {
		n.w.Logf("%s is full: a message is lost", l.at)
		return
	}
	l.waiting = append(l.waiting, Message{p.name, append([]byte(nil), body...)})
	l.more.One()
}

// Receive waits for a message until scope ends: then the error is its cause.
func (p *Place) Receive(scope *sched.Scope) (Message, error) {
	m, _, err := p.in.ReceiveWithin(scope)
	if err != nil {
		return Message{}, fmt.Errorf("receive at %s: %w", p.name, err)
	}
	return m, nil
}
