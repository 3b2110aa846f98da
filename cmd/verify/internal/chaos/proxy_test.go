package chaos

import (
	"bufio"
	"io"
	"net"
	"testing"
	"time"
)

// echo is a server that answers each line with itself, until the test ends.
func echo(t *testing.T) func() (net.Conn, error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var served tasks
	served.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				_, _ = io.Copy(c, c) // it ends as the test wants
				_ = c.Close()
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		served.Wait()
	})
	return func() (net.Conn, error) { return net.Dial("tcp", l.Addr().String()) }
}

// caller is a connection through a proxy.
type caller struct {
	*net.TCPConn
	t    *testing.T
	read *bufio.Reader
}

func call(t *testing.T, p *Proxy) *caller {
	t.Helper()
	c, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &caller{c.(*net.TCPConn), t, bufio.NewReader(c)}
}

// ask sends a line and returns the answer, within a time.
func (c *caller) ask(patience time.Duration) (string, error) {
	c.t.Helper()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(c, "hello\n"); err != nil {
		return "", err
	}
	return c.read.ReadString('\n')
}

func (c *caller) works() {
	c.t.Helper()
	if got, err := c.ask(10 * time.Second); got != "hello\n" || err != nil {
		c.t.Errorf("through a whole proxy came %q, %v", got, err)
	}
}

func newProxy(t *testing.T) *Proxy {
	t.Helper()
	p, err := NewProxy(echo(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// Each fault does what its name says to a connection, and after Heal new ones work.
func TestProxySpoilsAndHeals(t *testing.T) {
	for name, fault := range map[string]func(*Proxy){
		"cut": (*Proxy).Cut, "mute": (*Proxy).Mute,
		"half-to":   func(p *Proxy) { p.HalfClose(true) },
		"half-from": func(p *Proxy) { p.HalfClose(false) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProxy(t)
			before := call(t, p)
			before.works()
			fault(p)
			if got, err := before.ask(300 * time.Millisecond); err == nil {
				t.Errorf("a spoilt connection answered %q", got)
			}
			p.Heal()
			if got, err := before.ask(10 * time.Second); err == nil {
				t.Errorf("a spoilt connection answers after it was healed: %q", got)
			}
			call(t, p).works()
		})
	}
}

// A connection that was only delayed goes on, later, and is whole afterwards.
func TestProxyDelays(t *testing.T) {
	p := newProxy(t)
	c := call(t, p)
	c.works()
	p.Delay(50 * time.Millisecond)
	began := time.Now()
	c.works()
	if took := time.Since(began); took < 100*time.Millisecond {
		t.Errorf("two directions of 50 ms took %v", took)
	}
	p.Heal()
	c.works()
}

// While connections are refused, new ones come to nothing.
func TestProxyRefuses(t *testing.T) {
	p := newProxy(t)
	p.Cut()
	c, err := net.Dial("tcp", p.Address())
	if err != nil {
		return // it was reset at once
	}
	refused := &caller{c.(*net.TCPConn), t, bufio.NewReader(c)}
	if got, err := refused.ask(10 * time.Second); err == nil {
		t.Errorf("a refused connection answered %q", got)
	}
	_ = c.Close() // it has ended
}
