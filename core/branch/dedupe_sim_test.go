package branch_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/branch"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/linearizability"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
	spec "github.com/millrace-dev/millrace/tla/dedupe"
)

// splitBy gives the rows of a batch to the branches that name says.
func splitBy(name func(key string) string) func(b *batch) ([]branch.Part, error) {
	return func(b *batch) (parts []branch.Part, err error) {
		for row, key := range b.rows() {
			at := slices.IndexFunc(parts, func(p branch.Part) bool { return p.Branch == name(key) })
			if at < 0 {
				at = len(parts)
				parts = append(parts, branch.Part{Branch: name(key)})
			}
			parts[at].Rows = append(parts[at].Rows, int32(row))
		}
		return parts, nil
	}
}

// splitByKey gives every key a branch of its own.
var splitByKey = splitBy(func(key string) string { return key })

// clients are sources outside of the node: each has one delivery, and sends it until it was acknowledged.
type clients struct {
	w     *sim.World
	o     *outside
	sends []records
	acked []bool
}

// life boots a node, requires that what was acknowledged survived, sends what was not, and stops the node.
func (c *clients) life() {
	n, err := c.o.boot()
	c.w.NoError(err)
	c.attempt(n)
	stopped(c.w, n)
}

// tolerant is a life that may end while it opens its file, or by a fence.
func (c *clients) tolerant() {
	n, err := c.o.boot()
	if err != nil {
		return
	}
	c.attempt(n)
	if err := n.stop(); err != nil {
		c.w.Require(errors.Is(err, relay.ErrFenced), "E2.fence", "%v", err)
	}
}

// attempt sends what was not acknowledged once.
func (c *clients) attempt(n *node) {
	c.account(false)
	n.start()
	tasks := c.w.Scheduler().NewScope("clients")
	for i, keys := range c.sends {
		if c.acked[i] {
			continue
		}
		c.w.Scheduler().Go(tasks, "client", func() {
			outcome, err := n.send(keys)
			c.w.NoError(err)
			if outcome.Err == nil {
				c.acked[i] = true
			}
		})
	}
	tasks.Join()
}

// account requires that no key is in the file twice, and that those of acknowledged deliveries are there; at the end all are.
func (c *clients) account(end bool) {
	for i, keys := range c.sends {
		for _, key := range keys {
			n := c.o.times(key)
			c.w.Require(n == 1 || n == 0 && !c.acked[i] && !end, "E2.once",
				"key %s of delivery %d is in the file %d times, acknowledged %t", key, i, n, c.acked[i])
		}
	}
}

// Three sources send records with common keys and the node crashes, anywhere. What was acknowledged, as first or as
// duplicate, is in the file when the next node is up; what was not is sent again and is there once in the end.
func TestSimE2CrashAnywhere(t *testing.T) {
	sim.Check(t, "E2/crash-anywhere", func(w *sim.World) {
		crashAnywhere(w, w.Choose("branches", 2) == 1)
	}, sim.Runs(300))
}

func crashAnywhere(w *sim.World, branches bool) {
	sends := []records{{"a", "b"}, {"b", "c"}, {"a", "a"}}
	c := &clients{w: w, o: newOutside(w.Scheduler(), memory.Options{}), sends: sends, acked: make([]bool, len(sends))}
	if branches {
		c.o.split = splitByKey // three branches, with room for two
	} else {
		spec.Attach(w, c.o.traced())
	}
	n := w.Node("node")
	n.Go("life", c.life)
	for range w.Choose("steps before the crash", 100) {
		w.Scheduler().Yield()
	}
	n.Crash()
	c.o.engine.Crash()
	c.o.disk.Crash(w.Choose)
	w.Node("node").Go("life", func() {
		for range len(sends) { // a duplicate of an attempt that failed is sent again
			c.life()
		}
	})
	w.Join()
	c.account(true)
}

// refusing attaches a consumer that fails its first n deliveries.
func refusing(n *node, failures int) {
	c := n.out.Attach("refusing", 2)
	n.o.s.Go(n.scope, "refusing", func() {
		for {
			d, err := c.Receive(n.scope, nil)
			if errors.Is(err, relay.ErrClosed) || err != nil {
				return
			}
			d.Rows.Release()
			if failures > 0 {
				failures--
				d.Share.Fail(errStop)
				continue
			}
			d.Share.Ack()
		}
	})
	n.extra = append(n.extra, c)
}

// The output of the first attempt fails. Its key is released before the source learns of it, so the record passes
// when it is sent again, and a repetition that came meanwhile was not acknowledged.
func TestSimE2FailedOutputPassesAgain(t *testing.T) {
	sim.Check(t, "E2/failed-output-passes-again", failedOutput)
}

func failedOutput(w *sim.World) {
	o := newOutside(w.Scheduler(), memory.Options{})
	spec.Attach(w, o.traced())
	n, err := o.boot()
	w.NoError(err)
	refusing(n, 1)
	n.start()
	for range 2 {
		w.Go("client", func() {
			for attempt := 0; ; attempt++ {
				w.Require(attempt < 4, "E2.progress", "a record did not pass in %d attempts", attempt)
				outcome, err := n.send(records{"a"})
				w.NoError(err)
				if outcome.Err == nil {
					w.Require(o.times("a") == 1, "E2.once", "acknowledged, and in the file %d times", o.times("a"))
					return
				}
			}
		})
	}
	w.Join()
	stopped(w, n)
}

// The lane learns of a failure before the source does: what is sent again finds its key released, and does not fail
// a second time.
func TestSimE2ReleasedBeforeTheSourceLearns(t *testing.T) {
	sim.Check(t, "E2/released-before-the-source-learns", func(w *sim.World) {
		n, err := newOutside(w.Scheduler(), memory.Options{}).boot()
		w.NoError(err)
		refusing(n, 1)
		n.start()
		for attempt := range 2 {
			outcome, err := n.send(records{"a"})
			w.NoError(err)
			w.Require((outcome.Err != nil) == (attempt == 0), "E2.released", "attempt %d ended with %v", attempt+1, outcome.Err)
		}
		stopped(w, n)
	})
}

// A key is kept from its first sight. Repetitions do not prolong that, and after it the record passes again.
func TestSimE2KeptFromFirstSight(t *testing.T) {
	sim.Check(t, "E2/kept-from-first-sight", func(w *sim.World) {
		s, o := w.Scheduler(), newOutside(w.Scheduler(), memory.Options{})
		o.keep = 10 * time.Second
		n, err := o.boot()
		w.NoError(err)
		n.start()
		for i, pause := range []time.Duration{0, 6 * time.Second, 6 * time.Second} {
			w.NoError(s.Sleep(w.Scope(), "pause", pause))
			_, err := n.send(records{"a", "b"})
			w.NoError(err)
			want := 1 + i/2
			w.Require(o.times("a") == want, "E2.keep", "after sending %d the key is there %d times, want %d", i+1, o.times("a"), want)
		}
		stopped(w, n)
	})
}

// One task owns the keyspace and several look: each sees a whole generation that stays as it is, and never an older
// one after a newer.
func TestSimE2ObserversSeeGenerations(t *testing.T) {
	sim.Check(t, "E2/observers-see-generations", func(w *sim.World) {
		s := w.Scheduler()
		k := branch.NewKeyspace(s, "k", time.Hour)
		w.Own(k)
		for range 2 {
			w.Go("observer", func() {
				var last uint64
				for range 3 {
					g := k.Observe()
					w.Require(g.Number >= last, "E2.generation", "generation %d after %d", g.Number, last)
					w.Require(g.Len() == len(g.Keys()), "E2.I4", "generation %d of %d keys has %v", g.Number, g.Len(), g.Keys())
					last = g.Number
				}
			})
		}
		for _, key := range []string{"a", "b", "c"} {
			r := &branch.Reservation{}
			k.Reserve(s.Now(), key, r)
			k.Publish(s.Now())
			k.Commit(r)
			k.Publish(s.Now())
		}
	})
}

// An observer looks beside a publication that another one has asked for. Whatever it has seen, the next call of Publish brings a newer one.
func TestSimE2ObserverGetsANewerGeneration(t *testing.T) {
	sim.Check(t, "E2/observer-gets-a-newer-generation", func(w *sim.World) {
		s := w.Scheduler()
		k := branch.NewKeyspace(s, "keys", time.Hour)
		w.Own(k)
		k.Observe()
		owner := s.NewScope("owner")
		s.Go(owner, "owner", func() { k.Publish(s.Now()) })
		seen := k.Observe().Number
		owner.Join()
		k.Publish(s.Now())
		w.Require(k.Observe().Number > seen, "E2.newer", "generation %d is the newest one still", seen)
	})
}

// attempts are recorded calls of clients that send one record each, some of whose outputs fail.
func TestLinearE2(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "E2/histories", func(t *testing.T) int {
		return sim.Judge(t, "E2/histories", func(w *sim.World) {
			o := newOutside(w.Scheduler(), memory.Options{})
			n, err := o.boot()
			w.NoError(err)
			refusing(n, w.Choose("failures", 3))
			n.start()
			calls := &linearizability.Calls{}
			for id := range 3 {
				w.Go("client", func() {
					key := [...]string{"a", "a", "b"}[id]
					for range 2 {
						recordAttempt(w, n, calls, id, key)
					}
				})
			}
			w.Join()
			stopped(w, n)
			_, err = calls.Judge(linearizability.DedupeModel())
			w.Require(err == nil, "E2.linear", "%v", err)
		}, sim.Runs(150))
	})
}

func recordAttempt(w *sim.World, n *node, calls *linearizability.Calls, id int, key string) {
	end := calls.Begin(id, linearizability.DedupeInput{Key: key})
	outcome, err := n.send(records{key})
	w.NoError(err)
	switch {
	case outcome.Err != nil:
		end(linearizability.DedupeFailed)
	case outcome.Duplicates > 0:
		end(linearizability.DedupeDuplicate)
	default:
		end(linearizability.DedupePassed)
	}
}
