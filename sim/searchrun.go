package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// searchName is the exhaustive strategy's name. With a number behind it, it leaves out schedules with more preemptions.
const searchName = "dfs"

// reducedName is the search that begins fewer executions which lead to nothing new. It agrees with the other on generated programs, but
// for one thing: of a program that can fail in several ways it may see fewer of them. It fills no X cell.
const reducedName = "dpor"

// unlimited is the bound of a search without one.
const unlimited = -1

// maxPreemptions is the largest bound that a name may ask for.
const maxPreemptions = 99

// searchNamed returns the bound on preemptions of a search's name.
func searchNamed(name string) (bound int, ok bool) {
	if name == reducedName {
		return unlimited, true
	}
	number, ok := strings.CutPrefix(name, searchName)
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

// searching is a search in progress.
type searching struct {
	s      *search
	opts   *options
	result Result
	seen   map[uint64]struct{}
	more   bool
	rounds int
}

// searchAll runs a search, on one core. With a bound on preemptions it goes through the bounds from zero on, so that the first failure
// has as few as possible, and is complete when nothing was left out.
func searchAll(id, name string, bound int, body func(*World), o *options) Result {
	started := time.Now()
	w := newWorld(id, body, o)
	guard := watch(w)
	defer guard.end()
	defer w.drain()
	r := &searching{s: &search{reduce: name == reducedName}, opts: o, more: true, rounds: max(o.rounds, 1), seen: map[uint64]struct{}{}}
	r.result.Strategy = name
	if bound != unlimited {
		r.s.plain, r.s.bounded = true, true
	}
	for {
		r.run(w)
		if bound == unlimited || r.result.Failure != nil || !r.result.Complete {
			break
		}
		if r.result.Complete = !r.s.cut; r.result.Complete {
			break
		}
		if r.s.bound == bound {
			r.result.Bound = fmt.Sprintf("%d preemptions", bound)
			break
		}
		r.s.bound++
		r.s.cut, r.more = false, true
		r.result.Executions, r.result.Pruned, r.result.Complete = 0, 0, false
	}
	r.result.Distinct, r.result.Points, r.result.Elapsed = len(r.seen), w.points, time.Since(started)
	return r.result
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
		r.seen[w.hash] = struct{}{}
		if len(r.result.Hashes) < r.opts.hashes && !r.s.bounded { // bounds start over: no index names one execution
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
	case r.rounds > 1:
		r.rounds--
		r.result.Executions, r.result.Pruned = 0, 0
	default:
		r.result.Complete, r.more = true, false
	}
}
