package sim

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Result is what one strategy did.
type Result struct {
	Strategy   string
	Executions int
	Distinct   int    // different traces
	Pruned     int    // executions of a search that ended early because they led to nothing new
	Complete   bool   // a search that visited everything
	Bound      string // what a search that is not complete was bounded by
	Points     uint64 // scheduling points passed
	Elapsed    time.Duration
	Hashes     []uint64       // of the first executions
	Faults     map[string]int // taken, by place and kind
	Pairs      int            // reads-from pairs that rff saw, or any strategy when they are asked for
	PairHashes []uint64       // their names, when they are asked for
	Failure    *Failure       // of the lowest failing index, or nil
	traces     []uint64       // hashes of the different ones, in no order
}

// Failure is one failed execution: enough to run it again.
type Failure struct {
	Kind, ID, Message string
	Step              int
	Strategy          string
	Seed              uint64
	Execution         int
	Choices           Choices
	Hash              uint64
	Faults            []string // taken, by place and kind, in order
	trace             []event
	original          *Failure // before it was shrunk
}

// Verdict returns "kind id", as inventories name it.
func (f *Failure) Verdict() string { return verdict{kind: f.Kind, id: f.ID}.String() }

// Explore runs body under one strategy and returns what happened. Sampling strategies run the number of executions of
// Runs; "dfs" and "dpor" search until they are complete or reach Executions. An unknown strategy runs nothing. Check and Exhaust are built on it.
func Explore(id, strategy string, body func(*World), opts ...Option) (Result, error) {
	o := newOptions(opts)
	return explore(id, strategy, body, &o)
}

func explore(id, name string, body func(*World), o *options) (Result, error) {
	if batons {
		o.cores = 1 // the detector counts for the process
	}
	if bound, ok := searchNamed(name); ok {
		return searchAll(id, name, bound, body, o), nil
	}
	if err := CheckStrategy(name); err != nil { // before anything of body runs
		return Result{}, err
	}
	r := &sampling{id: id, name: name, body: body, opts: o, measured: measureFor(name, id, body, o)}
	return r.run(), nil
}

// measured is what a strategy knows of the program before it begins.
type measured struct {
	length  int      // choices of one random execution
	profile *profile // for surw and urw
}

// measureFor runs the random execution that a strategy needs to know.
func measureFor(name, id string, body func(*World), o *options) measured {
	switch {
	case name == "surw" || name == "urw":
		return measured{profile: measureProfile(id, body, o)}
	case strings.HasPrefix(name, "pct"):
		return measured{length: measureLength(id, body, o)}
	case name == portfolioName:
		return measured{length: measureLength(id, body, o), profile: measureProfile(id, body, o)}
	default:
		return measured{}
	}
}

// measureLength counts the choices of one random execution.
func measureLength(id string, body func(*World), o *options) int {
	w := newWorld(id, body, o)
	defer w.drain()
	execute(w, &randomWalk{}, derive(o.seed, "measure", 0))
	return len(w.schedule)
}

func newWorld(id string, body func(*World), o *options) *World {
	return &World{check: id, body: body, opts: o}
}

// maxHand is the largest number of executions that a worker takes at once: short ones would be slowed down by the counter.
const maxHand = 64

// sampling spreads the executions of one strategy over cores. An execution depends on its index alone.
type sampling struct {
	id, name string
	body     func(*World)
	opts     *options
	measured measured

	next atomic.Int64 // index to hand out
	hand int64        // how many at once
	_    [64]byte
	stop atomic.Int64 // lowest failing index; those above need not run
	_    [64]byte

	mu     sync.Mutex // guards the rest
	result Result
	seen   map[uint64]int // traces, with the first index that showed them
	pairs  map[uint64]struct{}
}

func (r *sampling) run() Result {
	started := time.Now()
	r.result.Strategy, r.result.Faults = r.name, map[string]int{}
	r.seen, r.pairs = map[uint64]int{}, map[uint64]struct{}{}
	r.stop.Store(int64(r.opts.runs))
	r.result.Hashes = make([]uint64, min(r.opts.hashes, r.opts.runs))
	var workers sync.WaitGroup
	r.hand = int64(max(1, min(maxHand, r.opts.runs/(16*r.opts.cores))))
	for range min(r.opts.cores, r.opts.runs, mostCores(r.name)) {
		workers.Go(r.work)
	}
	workers.Wait()
	if f := r.result.Failure; f != nil {
		// Others may have run executions after it: which, depends on the machine.
		r.result.Executions = f.Execution + 1
		r.result.Hashes = r.result.Hashes[:min(len(r.result.Hashes), f.Execution+1)]
		maps.DeleteFunc(r.seen, func(_ uint64, index int) bool { return index > f.Execution })
	}
	r.result.traces = slices.Collect(maps.Keys(r.seen)) //order:a set
	r.result.Distinct, r.result.Pairs = len(r.seen), len(r.pairs)
	if r.opts.pairs {
		r.result.PairHashes = slices.Sorted(maps.Keys(r.pairs))
	}
	r.result.Complete = r.result.Failure == nil && r.result.Executions == r.opts.runs
	r.result.Elapsed = time.Since(started)
	return r.result
}

// mostCores is on how many cores a strategy can run: one that learns from execution to execution needs them in order.
func mostCores(name string) int {
	if name == "rff" {
		return 1
	}
	return math.MaxInt
}

// work runs executions until none is left.
func (r *sampling) work() {
	w := newWorld(r.id, r.body, r.opts)
	guard := watch(w)
	defer guard.end()
	defer w.drain()
	s, _ := strategyNamed(r.name, r.measured) // the name was checked by explore
	s, pairs := pairing(s, r.opts)
	seen := map[uint64]int{}
	faults := map[string]int{}
	done, seed := 0, uint64(0)
	index, end := -1, 0
	drive(w, func() bool {
		if index++; index >= end {
			end = int(r.next.Add(r.hand))
			index = end - int(r.hand)
		}
		if int64(index) >= r.stop.Load() {
			return false
		}
		seed = derive(r.opts.seed, r.name, index)
		w.reset(s, seed)
		return true
	}, func() {
		done++
		if _, again := seen[w.hash]; !again {
			seen[w.hash] = index // indexes of one worker rise
		}
		for _, f := range w.faults.taken {
			faults[f]++
		}
		if index < len(r.result.Hashes) {
			r.result.Hashes[index] = w.hash
		}
		if w.failed {
			r.failed(w, seed, index)
		}
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.Executions += done
	r.result.Points += w.points
	for f, n := range faults { //order:sums
		r.result.Faults[f] += n
	}
	if pairs != nil {
		for p := range pairs.seen { //order:a set
			r.pairs[p.hash()] = struct{}{}
		}
	}
	for h, index := range seen { //order:the lowest index is kept
		if first, known := r.seen[h]; !known || index < first {
			r.seen[h] = index
		}
	}
}

// failed keeps the failure with the lowest index, so that the verdict does not depend on the number of cores.
func (r *sampling) failed(w *World, seed uint64, i int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if int64(i) < r.stop.Load() {
		r.stop.Store(int64(i))
		r.result.Failure = w.failure(r.name, seed, i)
	}
}

func (w *World) failure(name string, seed uint64, i int) *Failure {
	return &Failure{
		Kind: w.verdict.kind, ID: w.verdict.id, Message: w.verdict.message, Step: w.verdict.step,
		Strategy: name, Seed: seed, Execution: i, Hash: w.hash,
		Choices: Choices{append([]int32(nil), w.schedule...), append([]uint64(nil), w.data...)},
		Faults:  slices.Clone(w.faults.taken),
		trace:   append([]event(nil), w.trace...),
	}
}

// execute runs one execution.
func execute(w *World, s strategy, seed uint64) {
	more := true
	drive(w, func() bool {
		if more {
			w.reset(s, seed)
		}
		return more
	}, func() { more = false })
}

// drive runs executions: begin resets the world and reports whether there is one more, end looks at the result. Goexit inside a
// task, which a real t.FailNow calls, ends the goroutine that resumed it, so they run in one that can be
// replaced.
func drive(w *World, begin func() bool, end func()) {
	for !driveMost(w, begin, end) {
		t := w.goexit
		w.aborting = false
		w.fail("panic", t.name, "task called runtime.Goexit: fail a check through its World, not through the testing.T")
		t.state = ended
		w.live--
		w.conclude()
		end()
	}
}

// driveMost reports false when a Goexit cut an execution short.
func driveMost(w *World, begin func() bool, end func()) (whole bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for begin() {
			w.run()
			end()
		}
		whole = true
	}()
	<-done
	return whole
}
