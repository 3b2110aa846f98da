package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/core/store/pebble/crashfs"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// cut is where an activation loses its power: when it comes to a point for the n-th time, or when it has been answered.
type cut struct {
	point string
	n     int
	keep  func(string) bool // what of the unsynced survives

	mu   sync.Mutex
	on   bool // the activation has begun
	disk *crashfs.FS
	left *crashfs.FS // what the cut leaves
	err  error
}

func (c *cut) reach(point string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.on || c.left != nil || point != c.point {
		return
	}
	if c.n--; c.n == 0 {
		c.left, c.err = c.disk.Crash(c.keep)
	}
}

// answered cuts the power now unless that has happened, and reports whether it had.
func (c *cut) answered() bool {
	c.mu.Lock()
	reached := c.left != nil
	if !reached {
		c.point, c.n = "answered", 1
	}
	c.mu.Unlock()
	c.reach("answered")
	return reached
}

// computer is a node on the embedded store, on a disk that loses power.
type computer struct {
	inventory.Judge

	versions versions
	cut      *cut
	st       *step.Store
	disk     *pebble.Engine
	e        *engine.Engine
	scope    *sched.Scope
}

// start begins a life on a disk.
func (x *computer) start(t *rapid.T, disk *crashfs.FS, reach func(string)) {
	var err error
	x.st, x.disk, err = pebble.Open(nil, pebble.Options{Dir: "/data", FS: disk, MemTableBytes: 64 << 10, Failpoint: reach})
	if err != nil {
		t.Fatal(err)
	}
	x.scope = sched.Scheduler{}.NewScope("node")
	add := func(*sched.Scope, flow.Call) (*feel.Context, error) {
		return feel.NewContext(integer("total", 7), integer("count", 1)), nil
	}
	x.e, err = engine.New(sched.Scheduler{}, x.scope, engine.Options{Lanes: 2, Failpoint: reach}, engine.Parts{
		Store: x.st, Package: x.versions["d1"], Compile: x.compile, Handlers: map[string]engine.Handler{"add": add},
		Send: func(*sched.Scope, store.Emission) error { return nil },
	})
	if err != nil {
		x.Wrong(t, "start after the cut: %v", err)
	}
}

func (x *computer) compile(id string, source []byte) (engine.Package, error) {
	if p := x.versions[id]; bytes.Equal(source, p.Source) {
		return p, nil
	}
	return engine.Package{}, fmt.Errorf("%d bytes are not the source of %s", len(source), id)
}

func (x *computer) stop(t *rapid.T) {
	x.e.Close()
	x.scope.Close()
	if err := x.disk.Close(); err != nil {
		t.Fatal(err)
	}
}

// deliver requires that a message is accepted.
func (x *computer) deliver(t *rapid.T, d engine.Delivery) engine.Reply {
	r, err := x.e.Deliver(nil, d)
	if err != nil || r.Outcome != engine.Accepted {
		x.Wrong(t, "%s: %+v, %v", d.ID, r, err)
	}
	return r
}

// begun requires that the node begins wholly with one version, and returns which.
func (x *computer) begun(t *rapid.T, parked store.InstanceID) string {
	active, draining := x.e.Active()
	source, err := x.e.Source(nil, "d2")
	switch {
	case active == "d1" && (len(draining) > 0 || !errors.Is(err, engine.ErrNoDefinition)):
		x.Wrong(t, "d1 is active beside %v, and of d2 the store has %d bytes, %v", draining, len(source), err)
	case active == "d2" && (len(draining) != 1 || err != nil || !bytes.Equal(source, x.versions["d2"].Source)):
		x.Wrong(t, "d2 is active beside %v, and the store has %d bytes of it, %v", draining, len(source), err)
	}
	if r := x.deliver(t, message("open", "open-p", "", text("account", "p"), integer("wanted", 1))); !r.Duplicate || r.Instance != parked {
		x.Wrong(t, "what was answered before the cut is started again: %+v", r)
	}
	if r := x.deliver(t, message("add", "add-p", "p", integer("amount", 7))); r.Instance != parked {
		x.Wrong(t, "the instance of d1 is not found: %+v", r)
	}
	fresh := x.deliver(t, message("open", "open-q", "", text("account", "q"), integer("wanted", 1)))
	if pin, _, err := x.st.PinOf(nil, fresh.Instance); err != nil || pin.Deployment != active {
		x.Wrong(t, "%s is active and started one of %s, %v", active, pin.Deployment, err)
	}
	return active
}

// The power is lost in an activation, at each of its points and those of its commits, and what was not synced is lost in part. The node begins
// wholly with the one version or the other; which one is certain from the decision on, and before it.
func TestModelL9ActivationSurvivesALossOfPower(t *testing.T) {
	both := bothVersions(t)
	large := both["d2"]
	large.Source = bytes.Repeat([]byte("d2"), 3<<19+1) // of several pieces
	both["d2"] = large
	inventory.Run(t, inventory.LaneModel, "L9/activation-survives-a-loss-of-power", func(outer *testing.T) int {
		cases := 0
		rapid.Check(outer, func(t *rapid.T) {
			cases++
			draw := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
			percent := rapid.SampledFrom([]int{0, 50, 100}).Draw(t, "percent kept")
			c := &cut{
				point: rapid.SampledFrom([]string{
					engine.PointKnown, engine.PointDecided, store.PointBeforeApply, store.PointAfterApply, store.PointAfterSync, "answered",
				}).Draw(t, "point"),
				n: rapid.IntRange(1, 2).Draw(t, "hit"), disk: crashfs.New(), keep: func(string) bool { return draw.IntN(100) < percent },
			}
			loseIn(&computer{Judge: inventory.Judge{Test: outer, ID: "L9.whole"}, versions: both, cut: c}, t)
		})
		return cases
	})
}

// loseIn cuts the power in an activation, or behind it, and starts on what is left.
func loseIn(x *computer, t *rapid.T) {
	c := x.cut
	x.start(t, c.disk, c.reach)
	parked := x.deliver(t, message("open", "open-p", "", text("account", "p"), integer("wanted", 1))).Instance
	c.mu.Lock()
	c.on = true
	c.mu.Unlock()
	if err := x.e.Activate(nil, x.versions["d2"]); err != nil {
		t.Fatal(err)
	}
	reached := c.answered()
	if c.err != nil {
		t.Fatal(c.err)
	}
	x.stop(t)
	x.start(t, c.left, func(string) {})
	defer x.stop(t)
	active := x.begun(t, parked)
	switch {
	case c.point == engine.PointKnown && active != "d1", c.point == engine.PointDecided && active != "d2", !reached && active != "d2":
		x.Wrong(t, "the power was lost at %s, and %s is active", c.point, active)
	}
}
