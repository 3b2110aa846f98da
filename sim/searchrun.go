package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// searchName is the exhaustive strategy's name. With a number behind it, it leaves out schedules with more preemptions.
const searchName = "dfs"

// optimalName is the search that begins hardly an execution which leads to nothing new. It agrees with the other on generated programs; its
// reasoning is the longer one, so that one fills the X cells.
const optimalName = "dpor"

// unlimited is the bound of a search without one.
const unlimited = -1

// maxPreemptions is the largest bound that a name may ask for.
const maxPreemptions = 99

// searchNamed returns the bound on preemptions of a search's name.
func searchNamed(name string) (bound int, ok bool) {
	number, ok := strings.CutPrefix(name, searchName)
	if !ok {
		number, ok = strings.CutPrefix(name, optimalName)
	}
	if !ok || number == "" {
		return unlimited, ok
	}
	bound, err := strconv.Atoi(number)
	return bound, err == nil && bound >= 0 && bound <= maxPreemptions
}

// Coverage says how far a search came: "complete, N executions" or "not exhaustive: …".
func (r Result) Coverage() string {
	if r.Complete {
		return fmt.Sprintf("complete, %d executions", r.Executions)
	}
	return "not exhaustive: bound " + r.Bound
}

// explorer is a strategy that goes from one execution to the next until it has been everywhere.
type explorer interface {
	strategy
	// advance moves to the next execution. It reports false when there is none.
	advance(w *World) bool
	// unbounded reports whether something drawn has too many values.
	unbounded() bool
}

// searching is a search in progress.
type searching struct {
	s       explorer
	bounded *preemptionBound // its own
	opts    *options
	result  Result
	seen    hashes
	more    bool
	rounds  int
	begun   int // how often the search has started over
}

// searchAll runs a search, on one core. With a bound on preemptions it goes through the bounds from zero on, so that the first failure
// has as few as possible, and is complete when nothing was left out.
func searchAll(id, name string, bound int, body func(*World), o *options) Result {
	started := time.Now()
	w := newWorld(id, body, o)
	guard := watch(w)
	defer guard.end()
	defer w.drain()
	r := &searching{opts: o, more: true, rounds: max(o.rounds, 1)}
	r.result.Strategy = name
	limit := preemptionBound{bounded: bound != unlimited}
	if strings.HasPrefix(name, optimalName) {
		s := &dpor{preemptionBound: limit}
		r.s, r.bounded = s, &s.preemptionBound
	} else {
		s := &search{plain: limit.bounded, preemptionBound: limit}
		r.s, r.bounded = s, &s.preemptionBound
	}
	for r.run(w); r.bounded.bounded && r.deeper(bound); {
		r.run(w)
	}
	r.result.traces = r.seen.all()
	r.result.Distinct, r.result.Points, r.result.Elapsed = len(r.result.traces), w.points, time.Since(started)
	return r.result
}

// deeper raises the bound on preemptions. It reports false when the search is over.
func (r *searching) deeper(most int) bool {
	if r.result.Failure != nil || !r.result.Complete {
		return false
	}
	if r.result.Complete = !r.bounded.cut; r.result.Complete {
		return false
	}
	if r.bounded.bound == most {
		r.result.Bound = fmt.Sprintf("%d preemptions", most)
		return false
	}
	r.bounded.bound++
	r.bounded.cut, r.more = false, true
	r.restart()
	return true
}

// restart counts from zero again: what follows shows all that was shown before.
func (r *searching) restart() {
	r.result.Executions, r.result.Pruned, r.result.Hashes = 0, 0, r.result.Hashes[:0]
	r.seen.clear()
}

// astray reports whether the search went another way than it had planned: what it left out is unknown then.
func (r *searching) astray() bool {
	s, ok := r.s.(*dpor)
	return ok && s.strays > 0
}

// run visits everything within the current bound.
func (r *searching) run(w *World) {
	drive(w, func() bool {
		if r.more && r.result.Executions+r.result.Pruned >= r.opts.limit {
			r.result.Bound = fmt.Sprintf("%d executions", r.opts.limit)
			return false
		}
		if r.more {
			w.reset(r.s, 0)
		}
		return r.more
	}, func() { r.end(w) })
}

// end looks at an execution and moves to the next.
func (r *searching) end(w *World) {
	if w.pruned {
		r.result.Pruned++
	} else {
		r.result.Executions++
		r.seen.add(w.hash)
		if len(r.result.Hashes) < r.opts.hashes && !r.bounded.bounded { // bounds start over: no index names one execution
			r.result.Hashes = append(r.result.Hashes, w.hash)
		}
	}
	switch {
	case w.failed:
		r.result.Failure = w.failure(r.result.Strategy, 0, r.result.Executions-1)
		r.more = false
	case r.s.unbounded():
		r.result.Bound, r.more = "draws of more than "+strconv.Itoa(maxDraw)+" values", false
	case r.s.advance(w):
		if s, ok := r.s.(*dpor); ok && s.begun > r.begun {
			r.begun = s.begun
			r.restart()
		}
	case r.rounds > 1:
		r.rounds--
		r.restart()
	case r.astray():
		r.result.Bound, r.more = "plans that could not be followed, a fault of "+optimalName, false
	default:
		r.result.Complete, r.more = true, false
	}
}
