package network

import "github.com/millrace-dev/millrace/core/sched"

// link carries the messages of one direction.
type link struct {
	n       *Network
	at      direction
	waiting []Message // guarded by the network's guard
	more    sched.Notify
}

// What may happen to a message.
const (
	lose = iota + 1
	duplicate
	reorder
	late
)

var messageFaults = []string{"lost", "duplicated", "overtaken", "late"}

// link returns the link of a direction and has its task started. It needs the guard.
func (n *Network) link(at direction) *link {
	for _, l := range n.links {
		if l.at == at {
			return l
		}
	}
	l := &link{n: n, at: at, more: sched.NewNotify(n.s, at.String())}
	n.links = append(n.links, l)
	n.drawn.One()
	return l
}

// lay starts the tasks of links. A task belongs to the node of who starts it: a node that crashed would take the wire along that it
// was the first to send on.
func (n *Network) lay() {
	laid := 0
	for n.drawn.Wait(n.w.Scope()) == nil {
		n.mu.Lock()
		all := n.links
		n.mu.Unlock()
		for _, l := range all[laid:] {
			n.s.Go(n.w.Scope(), l.at.String(), l.carry)
		}
		laid = len(all)
	}
}

// carry lets messages arrive until the world ends.
func (l *link) carry() {
	for {
		m, ok := l.take()
		if !ok {
			if l.more.Wait(l.n.w.Scope()) != nil {
				return // what is still under way never arrives
			}
			continue
		}
		if l.happens(m) != nil {
			return
		}
	}
}

func (l *link) take() (m Message, ok bool) {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	if len(l.waiting) == 0 {
		return m, false
	}
	m = l.waiting[0]
	l.waiting = append(l.waiting[:0:0], l.waiting[1:]...)
	return m, true
}

// happens draws what becomes of m. The error is the end of the world.
func (l *link) happens(m Message) error {
	w := l.n.w
	switch w.Fault("message "+l.at.String(), messageFaults...) {
	case lose:
		return nil
	case duplicate:
		if err := l.arrive(m); err != nil {
			return err
		}
	case reorder:
		next, ok := l.take()
		if !ok { // nobody there to overtake it yet
			if l.more.Wait(w.Scope()) != nil {
				return l.arrive(m)
			}
			next, ok = l.take()
		}
		if ok {
			if err := l.arrive(next); err != nil {
				return err
			}
		}
	case late:
		if err := l.n.s.Sleep(w.Scope(), "late", Latency); err != nil {
			return err
		}
	default:
	}
	return l.arrive(m)
}

// arrive hands m to whoever has the place now.
func (l *link) arrive(m Message) error {
	l.n.mu.Lock()
	p, cut := l.n.place(l.at.to), l.n.isCut(l.at)
	l.n.mu.Unlock()
	if p == nil || cut {
		return nil
	}
	return p.in.SendWithin(l.n.w.Scope(), m)
}
