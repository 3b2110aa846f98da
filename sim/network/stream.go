package network

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
)

// Stream is one end of a connection: bytes arrive in order, in pieces of any size, or the connection is reset.
type Stream struct {
	in, out *pipe
}

// pipe is one direction of a connection.
type pipe struct {
	n  *Network
	at direction
	to *pipe // the other direction, which a reset breaks too

	mu      sched.Mutex // guards the rest
	sent    []byte      // under way
	arrived []byte
	closed  bool // by the writer; what was sent before still arrives
	broken  bool
	changed sched.Notify // the carrier's
	ready   sched.Notify // the reader's
	room    sched.Notify // the writer's
}

// What may happen to a stream.
const (
	stall = iota + 1
	reset
)

var streamFaults = []string{"stalled", "reset"}

// Dial opens a stream to a place. The other end comes from its Accept.
func (p *Place) Dial(scope *sched.Scope, to string) (*Stream, error) {
	n := p.n
	n.mu.Lock()
	there, cut := n.place(to), n.isCut(direction{p.name, to}) || n.isCut(direction{to, p.name})
	n.mu.Unlock()
	if there == nil || cut {
		return nil, fmt.Errorf("dial %s from %s: %w", to, p.name, ErrUnreachable)
	}
	a, b := n.pipe(p.name, to), n.pipe(to, p.name)
	a.to, b.to = b, a
	n.mu.Lock()
	n.pipes = append(n.pipes, a, b)
	n.mu.Unlock()
	n.s.Go(n.w.Scope(), "stream "+a.at.String(), a.carry)
	n.s.Go(n.w.Scope(), "stream "+b.at.String(), b.carry)
	if err := there.dial.SendWithin(scope, &Stream{in: a, out: b}); err != nil {
		return nil, fmt.Errorf("dial %s from %s: %w", to, p.name, err)
	}
	return &Stream{in: b, out: a}, nil
}

// Accept waits for a stream that somebody dials.
func (p *Place) Accept(scope *sched.Scope) (*Stream, error) {
	s, _, err := p.dial.ReceiveWithin(scope)
	if err != nil {
		return nil, fmt.Errorf("accept at %s: %w", p.name, err)
	}
	return s, nil
}

func (n *Network) pipe(from, to string) *pipe {
	at := direction{from, to}
	name := "stream " + at.String()
	return &pipe{
		n: n, at: at, mu: sched.NewMutex(n.s, name), changed: sched.NewNotify(n.s, name+" sent"),
		ready: sched.NewNotify(n.s, name+" arrived"), room: sched.NewNotify(n.s, name+" room"),
	}
}

// Write sends all of data, and waits while Room bytes are under way. It returns how many were taken.
func (s *Stream) Write(scope *sched.Scope, data []byte) (int, error) {
	p, done := s.out, 0
	for {
		p.mu.Lock()
		if p.broken || p.closed {
			p.mu.Unlock()
			return done, fmt.Errorf("write %s: %w", p.at, ErrReset)
		}
		n := min(Room-len(p.sent), len(data)-done)
		p.sent = append(p.sent, data[done:done+n]...)
		done += n
		p.mu.Unlock()
		p.changed.One()
		if done == len(data) {
			return done, nil
		}
		if err := p.room.Wait(scope); err != nil {
			return done, fmt.Errorf("write %s: %w", p.at, err)
		}
	}
}

// Read waits for at least one byte and returns how many it put into data.
func (s *Stream) Read(scope *sched.Scope, data []byte) (int, error) {
	p := s.in
	for {
		p.mu.Lock()
		n := copy(data, p.arrived)
		p.arrived = append(p.arrived[:0:0], p.arrived[n:]...)
		broken, over := p.broken, p.closed && len(p.sent) == 0
		p.mu.Unlock()
		switch {
		case n > 0 || len(data) == 0:
			return n, nil
		case broken:
			return 0, fmt.Errorf("read %s: %w", p.at, ErrReset)
		case over:
			return 0, fmt.Errorf("read %s: %w", p.at, ErrClosed)
		}
		if err := p.ready.Wait(scope); err != nil {
			return 0, fmt.Errorf("read %s: %w", p.at, err)
		}
	}
}

// Close ends what this end writes.
func (s *Stream) Close() {
	s.out.mu.Lock()
	s.out.closed = true
	s.out.mu.Unlock()
	s.out.changed.One()
	s.out.ready.One()
}

// carry lets bytes arrive until the connection or the world ends.
func (p *pipe) carry() {
	for p.changed.Wait(p.n.w.Scope()) == nil {
		for p.under() > 0 {
			switch p.n.w.Fault("stream "+p.at.String(), streamFaults...) {
			case reset:
				p.breakOff()
				p.to.breakOff()
				return
			case stall:
				if p.n.s.Sleep(p.n.w.Scope(), "stalled", Latency) != nil {
					return
				}
			default:
			}
			if p.isCut() {
				break // until Heal or the next write
			}
			p.pass()
		}
	}
}

func (p *pipe) isCut() bool {
	p.n.mu.Lock()
	defer p.n.mu.Unlock()
	return p.n.isCut(p.at)
}

// under returns how many bytes are under way.
func (p *pipe) under() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken {
		return 0
	}
	return len(p.sent)
}

// pass lets one byte arrive, or half of them, or all.
func (p *pipe) pass() {
	p.mu.Lock()
	n := len(p.sent)
	if n > 1 {
		n = []int{n, 1, (n + 1) / 2}[p.n.w.Choose("piece of "+p.at.String(), 3)]
	}
	p.arrived = append(p.arrived, p.sent[:n]...)
	p.sent = append(p.sent[:0:0], p.sent[n:]...)
	p.mu.Unlock()
	p.ready.One()
	p.room.One()
}

func (p *pipe) breakOff() {
	p.mu.Lock()
	p.broken, p.sent, p.arrived = true, nil, nil
	p.mu.Unlock()
	p.ready.One()
	p.room.One()
	p.changed.One()
}
