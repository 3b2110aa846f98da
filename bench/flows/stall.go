package main

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
)

// stallTime is how long the task of the slow instance keeps its lane, and the time that is measured before. Few enough callers come
// to wait behind it that the other lanes have work.
const stallTime = 400 * time.Millisecond

// stallKey is the business key of the slow instance.
const stallKey = "slow"

// stalled counts the steps that lanes commit, before and while one of them is kept busy.
type stalled struct {
	lanes  []atomic.Int64
	during atomic.Int64 // start of the stall, in nanoseconds; 0 before
	lane   atomic.Int64 // which is stalled
	before []int64      // steps of each lane when the stall began
	while  []int64      // and when it was over
}

// work is the task of the flow: it takes no time, but for the slow instance.
func (x *stalled) work(_ *sched.Scope, c flow.Call) (*feel.Context, error) {
	if key, _ := c.Variables.Lookup("key"); x != nil && key == feel.String(stallKey) && x.during.CompareAndSwap(0, 1) {
		x.before = x.counts()
		time.Sleep(stallTime)
		x.while = x.counts()
	}
	return feel.NewContext(), nil
}

func (x *stalled) counts() []int64 {
	all := make([]int64, len(x.lanes))
	for i := range all {
		all[i] = x.lanes[i].Load()
	}
	return all
}

// Took implements engine.Observer.
func (x *stalled) Took(int) {}

// Done implements engine.Observer.
func (x *stalled) Done(int) {}

// Stepped implements engine.Observer: the one that took so long is the lane that stood still.
func (x *stalled) Stepped(lane int, took time.Duration) {
	if took >= stallTime {
		x.lane.Store(int64(lane))
	}
}

// Committed implements engine.Observer.
func (x *stalled) Committed(lane int, _ time.Duration, _ engine.Committed) { x.lanes[lane].Add(1) }

// HandedOff implements engine.Observer.
func (x *stalled) HandedOff(int) {}

// Bounced implements engine.Observer.
func (x *stalled) Bounced(int, engine.Bounce) {}

var errOver = errors.New("it has been measured")

// stall keeps instances in flight for a while, then one whose task keeps its lane, and returns the steps a second of the slowest
// other lane during that time, in parts of what a lane did on average before.
func stall(scope *sched.Scope, e *engine.Engine, r *result, x *stalled) error {
	r.Instances = 1 << 20 // nobody comes that far
	var over atomic.Bool
	failed := make(chan error, 1)
	go func() {
		failed <- each(r.Instances, r.InFlight, func(i int) error {
			if over.Load() {
				return errOver
			}
			key := fmt.Sprint("k-", i)
			return errors.Join(deliver(scope, e, "begin", key), deliver(scope, e, "go-on", key))
		})
	}()
	time.Sleep(stallTime) // warm
	first := x.counts()
	time.Sleep(stallTime)
	second := x.counts()
	if err := deliver(scope, e, "begin", stallKey); err != nil {
		return err
	}
	over.Store(true)
	if err := <-failed; !errors.Is(err, errOver) {
		return err
	}
	r.Others = x.others(first, second)
	return nil
}

// others compares the slowest lane beside the stalled one with the average before.
func (x *stalled) others(first, second []int64) float64 {
	usual, least := 0.0, -1.0
	for i := range first {
		usual += float64(second[i]-first[i]) / float64(len(first))
		if n := float64(x.while[i] - x.before[i]); int64(i) != x.lane.Load() && (least < 0 || n < least) {
			least = n
		}
	}
	return least / usual
}
