package check

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

// Mode is a way to explore.
type Mode int

// Modes: BreadthFirst is exhaustive, DepthFirst is exhaustive to Options.Depth (iteratively
// deepened bounds are not used), Simulate draws random behaviors.
const (
	BreadthFirst Mode = iota
	DepthFirst
	Simulate
)

// Options configure a run. The zero value checks exhaustively with one worker a core.
type Options struct {
	Mode Mode
	// Workers is the number of goroutines; 0 is one a core.
	Workers int
	// Depth bounds the length of behaviors: 0 is unbounded, for Simulate 100 states.
	Depth int
	// Traces is the number of random behaviors, 0 is 1000; Seed starts the random choices.
	Traces int
	Seed   uint64
	// MaxStates and MaxTime stop a run with the verdict Unfinished; 0 is unbounded.
	MaxStates int
	MaxTime   time.Duration
	// NoDeadlock turns the check for deadlock off, whatever the configuration says.
	NoDeadlock bool
	// Coverage counts how often actions and conjuncts are taken.
	Coverage bool
	// Progress receives a line every two seconds; Output what Print and PrintT write.
	Progress io.Writer
	Output   io.Writer
	// FrontierBytes bounds the memory of the waiting states of a breadth-first search; what exceeds it
	// waits in a temporary file in SpillDir (empty: the system's folder). 0 keeps all in memory.
	FrontierBytes int64
	SpillDir      string
	// Checkpoint names a file to which a breadth-first search saves itself each CheckpointEvery (zero:
	// only when a bound ends it). With Resume it goes on from that file instead of the initial states.
	Checkpoint      string
	CheckpointEvery time.Duration
	Resume          bool
}

// Verdict is the outcome of a run.
type Verdict int

// Verdicts. The numbers are the exit codes of the command.
const (
	Success    Verdict = 0
	Unfinished Verdict = 2 // a bound of the options was reached before the end, or a liveness property was not looked at
	Assumption Verdict = 10
	Deadlock   Verdict = 11
	Safety     Verdict = 12
	Liveness   Verdict = 13
	Fault      Verdict = 3 // the specification could not be evaluated
)

var verdictNames = map[Verdict]string{
	Success: "success", Unfinished: "unfinished", Assumption: "assumption failure", Deadlock: "deadlock",
	Safety: "safety failure", Liveness: "liveness failure", Fault: "error",
}

// String names the verdict.
func (v Verdict) String() string { return verdictNames[v] }

// State is one state of a trace.
type State struct {
	// Action names the action that led here, with its place; "Initial" for the first state.
	Action string
	Place  string
	Vars   []Var
	vals   []value.Value
}

// Var is a variable, or an entry of the ALIAS, with its value.
type Var struct {
	Name  string
	Value string
	// Changed marks a value that differs from the state before.
	Changed bool
	v       value.Value
}

// Result is what a run found.
type Result struct {
	Verdict   Verdict
	Violated  string // name of the invariant or property
	Conjunct  string // the part of it that fails
	Err       error  // for Fault
	Generated int64
	Distinct  int64
	Depth     int
	Queue     int
	Elapsed   time.Duration
	Collision float64
	Trace     []State
	// Loop is the index of the state that a lasso returns to, -1 for none; the last state then leads
	// back to it. Stutters says that the behavior stays in its last state for ever.
	Loop     int
	Stutters bool
	Warnings []string
	// Unchecked are the liveness properties that were not looked at: they need the whole graph, which only a breadth-first search
	// that reaches its end has. Without a violation the verdict is then Unfinished.
	Unchecked []string
	// Bounded says that a bound of the options ended the run.
	Bounded bool
	Actions []Count
	Parts   []Count
}

// Count says how often an action or conjunct was taken; for actions Distinct counts new states.
type Count struct {
	Name     string
	Place    string
	Taken    int64
	Distinct int64
}

// String summarizes the result in one line.
func (r *Result) String() string {
	s := fmt.Sprintf("%s: %d states generated, %d distinct, depth %d, %.2fs", r.Verdict, r.Generated, r.Distinct, r.Depth, r.Elapsed.Seconds())
	if r.Violated != "" {
		s = r.Violated + " violated: " + s
	}
	if r.Err != nil {
		s += ": " + r.Err.Error()
	}
	if len(r.Unchecked) > 0 {
		s += "; not checked: " + strings.Join(r.Unchecked, " ") + " (liveness needs a breadth-first search that reaches its end)"
	}
	return s
}

func placeOf(t eval.Term) string {
	f, p := t.Place()
	return f + ":" + p.String()
}
