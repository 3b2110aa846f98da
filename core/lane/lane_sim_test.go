package lane_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
	spec "github.com/millrace-dev/millrace/tla/lane"
)

// work is one request of these checks: it adds one to the counter of its instance, in a transaction.
type work struct {
	instance string
	number   int
}

type router = lane.Router[work, int]

// counters stands in for a store: every transaction is a point in which others may run. It is a Cell, so
// two steps of one instance that overlap are a race.
type counters struct {
	w    *sim.World
	cell map[string]*sched.Cell[int]
}

func newCounters(w *sim.World, instances ...string) *counters {
	c := &counters{w: w, cell: map[string]*sched.Cell[int]{}}
	for _, name := range instances {
		cell := sched.NewCell(w.Scheduler(), "instance "+name, 0)
		c.cell[name] = &cell
	}
	return c
}

// prepare reads, and returns a transaction that writes what was read plus one.
func (c *counters) prepare(_ int, q work) lane.Step[work, int] {
	before := *c.cell[q.instance].View()
	return lane.Step[work, int]{Commit: func() lane.Answer[work, int] {
		c.w.Scheduler().Yield() // the store takes its time
		*c.cell[q.instance].Edit() = before + 1
		return lane.Answer[work, int]{Reply: before + 1}
	}}
}

// start returns a running router that is closed when the check's other tasks have ended.
func start(w *sim.World, o lane.Options, prepare func(int, work) lane.Step[work, int]) *router {
	r, err := lane.NewRouter(w.Scheduler(), o, prepare)
	w.NoError(err)
	w.Own(r)
	spec.Attach(w)
	r.Start(w.Scope())
	return r
}

// One lane runs steps of one instance one after the other: two that overlapped would race on the
// instance's Cell, or lose an addition.
func TestSimL1StepsDoNotOverlap(t *testing.T) {
	sim.Check(t, "L1/steps-do-not-overlap", stepsDoNotOverlap)
}

func stepsDoNotOverlap(w *sim.World) {
	c := newCounters(w, "a")
	r := start(w, lane.Options{Queue: 2}, c.prepare)
	replies := sched.NewChan[int](w.Scheduler(), "replies", 4)
	for i := range 4 {
		w.Go(fmt.Sprintf("caller %d", i), func() {
			got, err := r.Straight(w.Scope(), "a", work{"a", i})
			w.NoError(err)
			replies.Send(got)
		})
	}
	w.Join()
	r.Close()
	sum := 0
	for range 4 {
		got, _ := replies.Receive()
		sum += got
	}
	w.Require(sum == 1+2+3+4, "L1.order", "the replies add up to %d: a step was lost or done twice", sum)
}

// A reply says that the transaction is decided: whoever has the reply sees its effect.
func TestSimL1ReplyFollowsCommit(t *testing.T) {
	sim.Check(t, "L1/reply-follows-commit", func(w *sim.World) {
		c := newCounters(w, "a", "b")
		r := start(w, lane.Options{Queue: 1}, c.prepare)
		for _, name := range []string{"a", "b"} {
			w.Go("caller "+name, func() {
				got, err := r.Straight(w.Scope(), name, work{instance: name})
				w.NoError(err)
				w.Require(got == *c.cell[name].View(), "L1.reply", "replied %d before it was so", got)
			})
		}
		w.Join()
		r.Close()
	})
}

// What completes while a transaction is under way is a request of its own: it runs when that one is decided and replied to. The store
// brings it in the middle of the commit.
func TestSimL1CompletionIsARequestOfItsOwn(t *testing.T) {
	sim.Check(t, "L1/completion-is-a-request-of-its-own", func(w *sim.World) {
		s := w.Scheduler()
		begun, brought := sched.NewNotify(s, "begun"), sched.NewNotify(s, "brought")
		ran := sched.NewCell(s, "ran", []int(nil))
		prepare := func(_ int, q work) lane.Step[work, int] {
			*ran.Edit() = append(*ran.View(), q.number)
			return lane.Step[work, int]{Commit: func() lane.Answer[work, int] {
				if q.number == 1 {
					begun.One()
					w.NoError(brought.Wait(nil))
				}
				*ran.Edit() = append(*ran.View(), -q.number)
				return lane.Answer[work, int]{}
			}}
		}
		r := start(w, lane.Options{Queue: 1}, prepare)
		w.Go("store", func() {
			w.NoError(begun.Wait(nil))
			p, err := r.Accept(w.Scope(), "a", work{"a", 2})
			w.NoError(err)
			brought.One()
			_, err = p.Wait(w.Scope())
			w.NoError(err)
		})
		_, err := r.Straight(w.Scope(), "a", work{"a", 1})
		w.NoError(err)
		w.Join()
		r.Close()
		w.Finally(func() {
			w.Require(slices.Equal(*ran.Peek(), []int{1, -1, 2, -2}), "L1.order", "ran %v", *ran.Peek())
		})
	})
}

// What one task had accepted in an order runs in that order, whatever other callers do.
func TestSimL1AcceptedInOrderRunsInOrder(t *testing.T) {
	sim.Check(t, "L1/accepted-in-order-runs-in-order", acceptedInOrder)
}

func acceptedInOrder(w *sim.World) {
	ran := sched.NewCell(w.Scheduler(), "ran", []int(nil))
	prepare := func(_ int, q work) lane.Step[work, int] {
		return lane.Step[work, int]{Commit: func() lane.Answer[work, int] {
			w.Scheduler().Yield()
			*ran.Edit() = append(*ran.View(), q.number)
			return lane.Answer[work, int]{}
		}}
	}
	r := start(w, lane.Options{Queue: 2}, prepare)
	w.Go("other", func() {
		_, err := r.Straight(w.Scope(), "b", work{"b", 0})
		w.NoError(err)
	})
	var pending []*lane.Pending[work, int]
	for i := 1; i <= 3; i++ {
		p, err := r.Accept(w.Scope(), "a", work{"a", i})
		w.NoError(err)
		pending = append(pending, p)
	}
	for _, p := range pending {
		_, err := p.Wait(w.Scope())
		w.NoError(err)
	}
	w.Join()
	r.Close()
	w.Finally(func() {
		last := 0
		for _, n := range *ran.Peek() {
			w.Require(n == 0 || n == last+1, "L1.order", "ran %v", *ran.Peek())
			last = max(last, n)
		}
		w.Require(last == 3, "L1.order", "ran %v", *ran.Peek())
	})
}

// Close lets what was accepted run, refuses what comes later, and leaves nobody waiting.
func TestSimL1CloseAnswersEverybody(t *testing.T) {
	sim.Check(t, "L1/close-answers-everybody", closeAnswersEverybody)
}

func closeAnswersEverybody(w *sim.World) {
	c := newCounters(w, "a")
	r := start(w, lane.Options{Queue: 1}, c.prepare)
	done := sched.NewInt64(w.Scheduler(), "done", 0)
	for i := range 3 {
		w.Go(fmt.Sprintf("caller %d", i), func() {
			_, err := r.Straight(w.Scope(), "a", work{"a", i})
			if err == nil {
				done.Add(1)
				return
			}
			w.Require(isStopped(err), "L1.close", "refused with %v", err)
		})
	}
	w.Go("closer", r.Close)
	w.Finally(func() {
		ran := int64(*c.cell["a"].Peek())
		w.Require(ran == done.Peek(), "L1.close", "%d ran, %d were told so", ran, done.Peek())
	})
}

// What was accepted before Close runs, however the end of the lane and its queue meet: nobody who has a Pending by then is told
// that the lane stopped.
func TestSimL1AcceptedBeforeCloseRuns(t *testing.T) {
	sim.Check(t, "L1/accepted-before-close-runs", func(w *sim.World) {
		c := newCounters(w, "a")
		r := start(w, lane.Options{Queue: 3}, c.prepare)
		var pending []*lane.Pending[work, int]
		for i := range 3 {
			p, err := r.Accept(w.Scope(), "a", work{"a", i})
			w.NoError(err)
			pending = append(pending, p)
		}
		r.Close()
		for i, p := range pending {
			got, err := p.Wait(w.Scope())
			w.Require(err == nil && got.Reply == i+1, "L1.close", "request %d, accepted before Close, ended with %d, %v", i, got.Reply, err)
		}
	})
}

// Two callers and one lane, every schedule.
func TestExhaustL1TwoCallers(t *testing.T) {
	sim.Exhaust(t, "L1/two-callers", func(w *sim.World) {
		c := newCounters(w, "a")
		r := start(w, lane.Options{Queue: 1}, c.prepare)
		w.Go("caller", func() {
			_, err := r.Straight(w.Scope(), "a", work{"a", 1})
			w.NoError(err)
		})
		_, err := r.Straight(w.Scope(), "a", work{"a", 2})
		w.NoError(err)
		w.Join()
		r.Close()
	})
}
