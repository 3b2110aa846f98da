package sim

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/sim/inventory"
)

// options is how a check is explored.
type options struct {
	runs       int      // executions of each sampling strategy; ≥ 1
	strategies []string // names as strategyNamed takes them
	steps      int      // step bound of one execution, a verdict
	early      bool     // timers may fire before their time
	races      bool     // vector clocks and race detection
	tso        bool     // stores may reach memory late
	faults     int      // most faults of one execution
	seed       uint64
	cores      int
	limit      int           // executions of a search, after which it is not exhaustive
	stall      time.Duration // wall time without a finished execution that counts as real blocking
	rounds     int           // how often a search is done from the start: for measuring
	pairs      bool          // the pairs of write and read go into the record, whatever the strategy
	hashes     int           // trace hashes of that many executions go into the record
	at         caller        // the test that runs the check, for what ends the process
	everyTrace bool          // the events of every execution are checked
	traces     uint64        // else those of one in so many; 0 is none
	actions    *actions      // of specifications, for the record; nil outside a check
}

// Option changes how a check is explored.
type Option func(*options)

// Runs sets the number of executions of each sampling strategy. The default is 100.
func Runs(n int) Option { return func(o *options) { o.runs = max(n, 1) } }

// Strategies sets the sampling strategies by name: random, pos, surw, urw, rff, pct (depth 2), pct3, pct5, …,
// portfolio (all of these but rff, mixed), or a search, with a number one that leaves out schedules with more than N preemptions: dfs, dfs0,
// dfs1, …, dpor, dpor0, …. The default is random and pct3.
func Strategies(names ...string) Option { return func(o *options) { o.strategies = names } }

// Steps sets the step bound of one execution. The default is 10,000.
func Steps(n int) Option { return func(o *options) { o.steps = n } }

// EarlyTimeouts lets timers fire before their time, at any step: slow clocks, slow machines.
func EarlyTimeouts() Option { return func(o *options) { o.early = true } }

// WithoutRaces switches vector clocks off: faster, and Cells are not checked.
func WithoutRaces() Option { return func(o *options) { o.races = false } }

// Executions bounds a search, which then reports "not exhaustive". The default is 2,000,000.
func Executions(n int) Option { return func(o *options) { o.limit = n } }

// Repeat does a search n times from the start, in one world, for measuring: a small program's search is over before the
// world is warm.
func Repeat(n int) Option { return func(o *options) { o.rounds = max(n, 1) } }

// Seed sets the seed of a check. The default is 1, so that every run of a test explores the same.
func Seed(seed uint64) Option { return func(o *options) { o.seed = seed } }

// Cores bounds the executions that run at the same time. The default is one for each core.
func Cores(n int) Option { return func(o *options) { o.cores = max(n, 1) } }

func newOptions(opts []Option) options {
	o := options{
		runs: 100, strategies: []string{"random", "pct3"}, steps: 10_000, races: true, seed: 1, faults: defaultFaults,
		cores: runtime.GOMAXPROCS(0), limit: 2_000_000, stall: 30 * time.Second, traces: traceShare,
	}
	for _, f := range opts {
		f(&o)
	}
	return o
}

// fromEnvironment applies MILLRACE_SIM: "seeds=N strategy=S seed=X cores=N hashes=N traces=N tso pairs". What it cannot read is an
// error: an ignored override would pass for evidence.
func (o *options) fromEnvironment() error {
	for _, field := range strings.Fields(os.Getenv("MILLRACE_SIM")) {
		key, value, _ := strings.Cut(field, "=")
		if key == "strategy" {
			if err := CheckStrategy(value); err != nil {
				return fmt.Errorf("MILLRACE_SIM: %w", err)
			}
			o.strategies = []string{value}
			continue
		}
		if field == inventory.PairsWord {
			o.pairs = true
			continue
		}
		if field == tsoWord {
			o.tso = true
			continue
		}
		n, err := strconv.ParseUint(value, 0, 64)
		if err != nil {
			return fmt.Errorf("MILLRACE_SIM: %q: %w", field, err)
		}
		switch key {
		case "seeds":
			o.runs = max(int(n), 1)
		case "seed":
			o.seed = n
		case "cores":
			o.cores = max(int(n), 1)
		case "hashes":
			o.hashes = int(n)
		case "traces":
			o.traces = n
		default:
			return fmt.Errorf("MILLRACE_SIM: unknown key %q", key)
		}
	}
	return nil
}

func (o *options) String() string {
	text := fmt.Sprintf("steps=%d early=%t races=%t", o.steps, o.early, o.races)
	if o.tso {
		text += " " + tsoWord
	}
	if batons {
		text += " " + DetectorWord
	}
	return text
}

// DetectorWord is how the options of a schedule say that it was found under Go's race detector.
const DetectorWord = "detector"

// strategyNamed returns a sampling strategy.
func strategyNamed(name string, m measured) (strategy, error) {
	switch {
	case name == "random":
		return &randomWalk{}, nil
	case name == "surw" || name == "urw":
		return &surw{selective: name == "surw", profile: m.profile}, nil
	case name == "pos":
		return &pos{}, nil
	case name == "rff":
		return newRFF(), nil
	case name == portfolioName:
		return newPortfolio(m), nil
	case name == "pct":
		return &pct{depth: 2, length: m.length}, nil
	case strings.HasPrefix(name, "pct"):
		if d, err := strconv.Atoi(name[3:]); err == nil && d > 0 && d < 100 {
			return &pct{depth: d, length: m.length}, nil
		}
	}
	return nil, fmt.Errorf("unknown strategy %q: random, pos, surw, urw, rff, portfolio, pct, pct<depth>, %s, %[2]s<preemptions>, %[3]s, %[3]s<preemptions>", name, searchName, optimalName)
}

// Detecting reports whether Go's race detector sees the program's memory as the program orders it: the build of `verify race`.
func Detecting() bool { return batons }
