package network_test

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
	"github.com/millrace-dev/millrace/sim/network"
)

func TestMain(m *testing.M) { sim.Main(m) }

var (
	_ = inventory.Planted("fault/message-lost", "a receiver that counts on every message")
	_ = inventory.Planted("fault/message-duplicated", "a receiver that counts on one copy")
	_ = inventory.Planted("fault/message-overtaken", "a receiver that counts on order")
	_ = inventory.Planted("fault/message-late", "a receiver that takes a timeout for a loss")
	_ = inventory.Planted("fault/partition", "two places that conclude from hearing that they are heard")
	_ = inventory.Planted("fault/stream-reset", "a reader that counts on a connection")
	_ = inventory.Planted("fault/stream-stalled", "a reader that takes a timeout for the end")
	_ = inventory.Planted("network/resends-until-acknowledged", "a check of safety under faults and progress after them")
)

// pair runs one task at each of two places of a network.
func pair(a, b func(w *sim.World, p *network.Place)) func(*sim.World) {
	return func(w *sim.World) {
		n := network.New(w)
		first, second := n.Place("a"), n.Place("b")
		w.Go("at a", func() { a(w, first) })
		w.Go("at b", func() { b(w, second) })
	}
}

// within is a bound for one wait.
func within(w *sim.World, d time.Duration) *sched.Scope { return w.Scope().ChildTimeout("limit", d) }

// heard returns the first bytes of all messages until none comes for a minute.
func heard(w *sim.World, p *network.Place) string {
	var all []byte
	for range 8 {
		m, err := p.Receive(within(w, time.Minute))
		if err != nil {
			break
		}
		all = append(all, m.Body[0])
	}
	return string(all)
}

func send(bodies ...string) func(*sim.World, *network.Place) {
	return func(_ *sim.World, p *network.Place) {
		for _, b := range bodies {
			p.Send("b", []byte(b))
		}
	}
}

// stream lets a write to b, and b read.
func stream(read func(w *sim.World, s *network.Stream)) func(*sim.World) {
	return pair(func(w *sim.World, p *network.Place) {
		s, err := p.Dial(w.Scope(), "b")
		w.NoError(err)
		_, err = s.Write(w.Scope(), []byte("abc"))
		w.NoError(ignoring(err, network.ErrReset))
		s.Close()
	}, func(w *sim.World, p *network.Place) {
		s, err := p.Accept(w.Scope())
		w.NoError(err)
		read(w, s)
	})
}

func ignoring(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// Each kind of fault breaks the program that forgets it; the schedule that shows it replays with an equal hash, or
// Planted fails.
func TestSimEveryNetworkFaultIsFoundAndReplays(t *testing.T) {
	sim.Planted(t, "fault/message-lost", "assertion arrives", pair(send("x"), func(w *sim.World, p *network.Place) {
		w.Require(heard(w, p) != "", "arrives", "nothing came")
	}))
	sim.Planted(t, "fault/message-duplicated", "assertion once", pair(send("x"), func(w *sim.World, p *network.Place) {
		w.Require(len(heard(w, p)) <= 1, "once", "it came twice")
	}))
	sim.Planted(t, "fault/message-overtaken", "assertion order", pair(send("1", "2"), func(w *sim.World, p *network.Place) {
		w.Require(heard(w, p) != "21", "order", "the second came first")
	}))
	sim.Planted(t, "fault/message-late", "assertion late", pair(send("x"), func(w *sim.World, p *network.Place) {
		_, err := p.Receive(within(w, network.Latency/2))
		w.Require(err == nil || heard(w, p) == "", "late", "it came after the timeout")
	}))
	sim.Planted(t, "fault/stream-reset", "assertion reset", stream(func(w *sim.World, s *network.Stream) {
		_, err := s.Read(w.Scope(), make([]byte, 3))
		w.Require(!errors.Is(err, network.ErrReset), "reset", "the connection broke")
	}))
	sim.Planted(t, "fault/stream-stalled", "assertion stalled", stream(func(w *sim.World, s *network.Stream) {
		_, err := s.Read(within(w, network.Latency/2), make([]byte, 3))
		w.Require(!errors.Is(err, sched.ErrTimeout), "stalled", "nothing came in time")
	}))
}

// neededFaults are those without which the planted programs do not fail.
var neededFaults = map[string][]string{
	"fault/message-lost":       {"message a→b lost"},
	"fault/message-duplicated": {"message a→b duplicated"},
	"fault/message-overtaken":  {"message a→b overtaken"},
	"fault/message-late":       {"message a→b late"},
	"fault/stream-reset":       {"stream a→b reset"},
	"fault/stream-stalled":     {"stream a→b stalled"},
	"fault/partition":          {"partition a→b"},
}

// So it does in another process, whatever strategy found it, and shrunk to the one fault that the program forgets.
func TestNetworkFaultsReplayInAFreshProcess(t *testing.T) {
	sim.RoundTrip(t, "(TestSimEveryNetworkFaultIsFoundAndReplays|TestSimPartition)", neededFaults)
}

// A partition is one-way: each side hears the other only where its own direction is whole.
func TestSimPartition(t *testing.T) {
	sim.Planted(t, "fault/partition", "assertion both-or-none", func(w *sim.World) {
		n := network.New(w)
		a, b := n.Place("a"), n.Place("b")
		var toA, toB string
		w.Go("operator", func() { n.Cut("a", "b") })
		w.Go("at a", func() {
			a.Send("b", []byte("x"))
			toA = heard(w, a)
		})
		w.Go("at b", func() {
			b.Send("a", []byte("y"))
			toB = heard(w, b)
		})
		w.Join()
		w.Require(toA != "", "whole", "the whole direction lost a message")
		w.Require(toB == toA || toB != "", "both-or-none", "a hears b, and b does not hear a")
	}, sim.Faults(0))
}

// A sender that repeats until it is acknowledged, and a receiver that drops what it has: never twice while things go wrong, and once
// when they have stopped.
func TestSimResendsUntilAcknowledged(t *testing.T) {
	sim.Check(t, "network/resends-until-acknowledged", func(w *sim.World) {
		n := network.New(w)
		a, b := n.Place("a"), n.Place("b")
		taken := sched.NewInt64(w.Scheduler(), "taken", 0)
		w.Invariant("never-twice", func() error {
			if got := taken.Peek(); got > 1 {
				return sched.Broken("never-twice", "taken %d times", got)
			}
			return nil
		})
		w.Eventually("taken", func() bool { return taken.Peek() == 1 }, &taken)
		done := w.Scheduler().NewScope("done")
		w.Go("sender", func() {
			n.Cut("a", "b")
			for attempt := 0; done.Err() == nil; attempt++ {
				a.Send("b", []byte("x"))
				if attempt == 1 {
					n.Heal("a", "b")
				}
				if attempt == 3 {
					w.StopFaults()
				}
				if _, err := a.Receive(within(w, time.Second)); err == nil {
					done.Cancel(nil)
				}
			}
		})
		w.Go("receiver", func() {
			seen := false
			for {
				if _, err := b.Receive(done); err != nil {
					return
				}
				if !seen {
					taken.Add(1)
				}
				seen = true
				b.Send("a", []byte("y"))
			}
		})
	})
}

// Bytes arrive in order and in pieces of every size; nothing is lost, and the end comes last.
func TestAStreamKeepsOrder(t *testing.T) {
	pieces := map[int]bool{}
	r, err := sim.Explore("stream", "random", stream(func(w *sim.World, s *network.Stream) {
		var all []byte
		for range 10 {
			piece := make([]byte, 8)
			n, err := s.Read(w.Scope(), piece)
			if err != nil {
				w.NoError(ignoring(err, network.ErrClosed))
				break
			}
			pieces[n] = true
			all = append(all, piece[:n]...)
		}
		w.Require(string(all) == "abc", "abc", "read %q", all)
	}), sim.Faults(0), sim.Cores(1), sim.Runs(200))
	if err != nil || r.Failure != nil {
		t.Fatalf("%+v, %v", r.Failure, err)
	}
	if !pieces[1] || !pieces[2] || !pieces[3] {
		t.Errorf("pieces %v", pieces)
	}
}

func TestDialNeedsSomebodyWhoListens(t *testing.T) {
	r, err := sim.Explore("dial", "random", func(w *sim.World) {
		n := network.New(w)
		_, err := n.Place("a").Dial(w.Scope(), "b")
		w.Require(errors.Is(err, network.ErrUnreachable), "dial", "%v", err)
	})
	if err != nil || r.Failure != nil {
		t.Fatalf("%+v, %v", r.Failure, err)
	}
}

// What is under way to a place arrives at its next incarnation.
func TestARestartedPlaceHearsWhatIsUnderWay(t *testing.T) {
	r, err := sim.Explore("restart", "pct3", func(w *sim.World) {
		n := network.New(w)
		a := n.Place("a")
		old := n.Place("b")
		a.Send("b", []byte("x"))
		fresh := n.Place("b")
		_, first := old.Receive(within(w, time.Minute))
		_, second := fresh.Receive(within(w, time.Minute))
		w.Require((first == nil) != (second == nil), "one", "%v, %v", first, second)
	}, sim.Faults(0))
	if err != nil || r.Failure != nil {
		t.Fatalf("%+v, %v", r.Failure, err)
	}
}
