package chaos

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Proxy stands between one replica and the database and spoils its connections when it is told to.
//
// A connection that was muted or half-closed can never be used again as if nothing had happened, so Heal ends it with a reset; the
// replica then connects anew.
type Proxy struct {
	listener net.Listener
	dial     func() (net.Conn, error)
	tasks    sync.WaitGroup

	mu     sync.Mutex // guards the rest
	closed bool
	refuse bool          // new connections are reset
	delay  time.Duration // of each piece, in both directions
	mute   bool          // what the database says is swallowed: commits land and nobody hears of it
	spoilt bool
	links  map[*link]struct{}
}

// duplex is a connection whose directions end apart.
type duplex interface {
	net.Conn
	CloseWrite() error
}

// link is one connection through the proxy.
type link struct{ client, server duplex }

// NewProxy listens on a loopback port. dial connects to the database.
func NewProxy(dial func() (net.Conn, error)) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start proxy: %w", err)
	}
	p := &Proxy{listener: l, dial: dial, links: map[*link]struct{}{}}
	p.tasks.Go(p.accept)
	return p, nil
}

// Address is where the proxy listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Close resets every connection and returns when nothing of the proxy runs any more.
func (p *Proxy) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	err := p.listener.Close()
	p.reset()
	p.tasks.Wait()
	return err
}

// Cut resets every connection, and each new one until Heal.
func (p *Proxy) Cut() {
	p.mu.Lock()
	p.refuse = true
	p.mu.Unlock()
	p.reset()
}

// Delay makes every piece late by d, in both directions.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Mute swallows what the database says.
func (p *Proxy) Mute() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mute, p.spoilt = true, true
}

// HalfClose ends one direction of the present connections: the one to the database, or the one from it.
func (p *Proxy) HalfClose(toDatabase bool) {
	p.mu.Lock()
	p.spoilt = true
	p.mu.Unlock()
	for _, l := range p.present() {
		if toDatabase {
			_ = l.server.CloseWrite() // it may have ended by itself
		} else {
			_ = l.client.CloseWrite() // likewise
		}
	}
}

// Heal lets everything through again.
func (p *Proxy) Heal() {
	p.mu.Lock()
	spoilt := p.spoilt
	p.refuse, p.mute, p.spoilt, p.delay = false, false, false, 0
	p.mu.Unlock()
	if spoilt {
		p.reset()
	}
}

func (p *Proxy) present() []*link {
	p.mu.Lock()
	defer p.mu.Unlock()
	links := make([]*link, 0, len(p.links))
	for l := range p.links {
		links = append(links, l)
	}
	return links
}

func (p *Proxy) reset() {
	for _, l := range p.present() {
		l.reset()
	}
}

// reset ends both sides at once; what was under way is lost.
func (l *link) reset() {
	for _, c := range []duplex{l.client, l.server} {
		if t, tcp := c.(*net.TCPConn); tcp {
			_ = t.SetLinger(0) // a connection that has ended needs none
		}
		_ = c.Close() // likewise
	}
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // this connection came to nothing
		}
		p.tasks.Go(func() { p.serve(c.(*net.TCPConn)) })
	}
}

// serve carries one connection until both directions have ended.
func (p *Proxy) serve(client *net.TCPConn) {
	server, err := p.dial()
	if err != nil {
		_ = client.Close() // there is nobody to talk to
		return
	}
	l := &link{client, server.(duplex)}
	if !p.join(l) {
		l.reset()
		return
	}
	var way sync.WaitGroup
	way.Go(func() { p.carry(l.server, l.client, false) })
	way.Go(func() { p.carry(l.client, l.server, true) })
	way.Wait()
	l.reset()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// join admits a connection unless connections are refused.
func (p *Proxy) join(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse || p.closed {
		return false
	}
	p.links[l] = struct{}{}
	return true
}

// carry moves pieces until its source ends, then ends its target's direction.
func (p *Proxy) carry(to, from duplex, answers bool) {
	piece := make([]byte, 32<<10)
	for {
		n, err := from.Read(piece)
		delay, mute := p.fault()
		if delay > 0 {
			time.Sleep(delay)
		}
		if n > 0 && !(answers && mute) {
			if _, werr := to.Write(piece[:n]); werr != nil {
				err = werr
			}
		}
		if err != nil {
			_ = to.CloseWrite() // it may have ended by itself
			return
		}
	}
}

func (p *Proxy) fault() (delay time.Duration, mute bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.delay, p.mute
}
