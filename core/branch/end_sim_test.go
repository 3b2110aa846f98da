package branch_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/branch"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
)

// counting attaches a consumer that acknowledges at once and counts what it is offered by key: an effect outside of the
// commit point.
func counting(n *node) map[string]int {
	offered := map[string]int{}
	c := n.out.Attach("counting", 2)
	n.o.s.Go(n.scope, "counting", func() {
		for {
			d, err := c.Receive(n.scope, nil)
			if err != nil {
				c.Discard(err)
				return
			}
			for _, key := range d.Rows.rows() {
				offered[key]++
			}
			d.Rows.Release()
			d.Share.Ack()
		}
	})
	n.extra = append(n.extra, c)
	return offered
}

// The outcome of a commit is unknown, so the point is fenced: nobody knows whether the key is durable. In this life the record
// is not offered again, however often it is sent, and each attempt at it ends with a failure.
func TestSimE2FencedKeysAreNotOfferedAgain(t *testing.T) {
	sim.Check(t, "E2/fenced-keys-are-not-offered-again", func(w *sim.World) {
		o := newOutside(w.Scheduler(), memory.Options{Only: []string{"write"}})
		n, err := o.boot()
		w.NoError(err)
		o.disk.Fail = func(op, _ string) bool { return op == "sync" }
		offered := counting(n)
		n.start()
		for range 2 {
			w.Go("client", func() {
				for range 3 {
					outcome, err := n.send(records{"a"})
					w.NoError(err)
					w.Require(outcome.Err != nil, "E2.fence", "acknowledged after a fence")
				}
			})
		}
		w.Join()
		w.Require(offered["a"] == 1, "E2.fence", "the record was offered %d times", offered["a"])
		err = n.stop()
		w.Require(errors.Is(err, relay.ErrFenced) && !errors.Is(err, errHeld), "E2.fence", "the node ended with %v", err)
	})
}

// A node crashes and its store goes on: keys that the next node reads may still be lost with the power. It acknowledges nothing
// because of them before they are durable. The commit point has no file, so nothing else has waited for the store.
func TestSimE2KeysOfAnEarlierLifeAreDurable(t *testing.T) {
	sim.Check(t, "E2/keys-of-an-earlier-life-are-durable", func(w *sim.World) {
		o := newOutside(w.Scheduler(), memory.Options{Latency: 4 * time.Millisecond, Only: []string{"write", "sync"}})
		o.outputs = nil
		life := func() {
			n, err := o.boot()
			w.NoError(err)
			n.startWithoutFile()
			outcome, err := n.send(records{"a"})
			w.NoError(err)
			w.Require(outcome.Err != nil || o.durable("a"), "E2.durable", "acknowledged, duplicates %d, and the key may be lost", outcome.Duplicates)
			stopped(w, n)
		}
		first := w.Node("node")
		first.Go("life", life)
		w.NoError(w.Scheduler().Sleep(w.Scope(), "uptime", time.Duration(w.Choose("uptime", 8))*time.Millisecond))
		first.Crash()
		w.Node("node").Go("life", life)
		w.Join()
	}, sim.Runs(300))
}

// durable reports whether the worst crash would leave the key.
func (o *outside) durable(key string) (there bool) {
	_ = o.engine.PeekDurable(func(v step.View) error { // a view of memory does not fail
		d, err := step.Inspect(v)
		for _, row := range d.Rows {
			there = there || row.Space == branch.KeySpace("dedupe") && row.Key == "-/="+key
		}
		return err
	})
	return there
}

// The node is told to end at once while deliveries are everywhere: every attempt is answered, and what is answered positively
// is in the file. Nobody keeps a batch.
func TestSimE2NobodyIsLeftWaiting(t *testing.T) {
	sim.Check(t, "E2/nobody-is-left-waiting", func(w *sim.World) {
		o := newOutside(w.Scheduler(), memory.Options{})
		switch w.Choose("branches", 3) {
		case 1:
			o.split = splitByKey
		case 2: // one that cannot keep a row which belongs nowhere
			o.split = func(b *batch) ([]branch.Part, error) {
				if slices.Contains(b.rows(), "c") {
					return nil, errNoRoom
				}
				return splitByKey(b)
			}
		}
		n, err := o.boot()
		w.NoError(err)
		n.start()
		for _, keys := range []records{{"a", "b"}, {"b", "c"}, {"a"}, {"a", "a"}} {
			w.Go("client", func() {
				outcome, err := n.send(keys)
				w.NoError(err)
				for _, key := range keys {
					w.Require(outcome.Err != nil || o.times(key) == 1, "E2.once", "%v acknowledged, %s is there %d times", keys, key, o.times(key))
				}
			})
		}
		for range w.Choose("steps before the end", 60) {
			w.Scheduler().Yield()
		}
		n.scope.Cancel(errStop)
		w.Join()
		n.scope.Join()
		w.Require(n.held.Load() == 0, "E2.held", "%v", heldError(&n.held))
	}, sim.Runs(300))
}

// counted is a store of keys that counts how often a branch begins.
type counted struct {
	branch.KeyStore
	begun int
}

func (c *counted) Rows(scope *sched.Scope, space, after string, limit int) ([]store.Row, store.Ticket, error) {
	c.begun++
	return c.KeyStore.Rows(scope, space, after, limit)
}

// A branch that was idle for its time ends, whenever it came and however often all were gone before; one that is used in time
// does not.
func TestSimE2IdleBranchesEnd(t *testing.T) {
	sim.Check(t, "E2/idle-branches-end", func(w *sim.World) {
		o := newOutside(w.Scheduler(), memory.Options{})
		keys := &counted{KeyStore: o.store}
		o.keys, o.split = keys, splitBy(func(string) string { return "one" })
		n, err := o.boot()
		w.NoError(err)
		n.start()
		want := 0
		for i := range 4 {
			pause := [...]time.Duration{0, 50 * time.Second, 70 * time.Second, 5 * time.Minute}[w.Choose("pause", 4)]
			w.NoError(w.Scheduler().Sleep(w.Scope(), "pause", pause))
			if i == 0 || pause > time.Minute {
				want++
			}
			outcome, err := n.send(records{strconv.Itoa(i)})
			w.NoError(errors.Join(err, outcome.Err))
			w.Require(keys.begun == want, "E2.ttl", "the branch began %d times, want %d", keys.begun, want)
		}
		stopped(w, n)
	})
}
