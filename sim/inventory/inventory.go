// Package inventory is the one register of what is checked: every concurrency owner, the checks it has
// in each lane, the mutants those checks must reject, and a written reason for each lane it leaves empty.
//
// An owner joins with one declaration in an inventory_test.go beside it, so production binaries carry
// nothing of it:
//
//	var _ = inventory.Owner("L3", "ownership claim", (*Claims)(nil),
//		inventory.Sim("L3/stale-owner-cannot-commit"),
//		inventory.Exhaustive("L3/two-owners-one-claim"),
//		inventory.Mutant("commit-without-epoch", "commit does not assert the epoch",
//			inventory.RejectedBy("L3/stale-owner-cannot-commit", "invariant L3.I2")),
//		inventory.Reason(inventory.LaneSpec, "arrives with issue 5"))
//
// Every argument except the type is a literal: cmd/verify reads the declarations with go/parser, which
// takes milliseconds and needs no build, while the compiler keeps them typed and the type existing.
// cmd/verify audits the declarations against the test functions in the tree and against the records
// (Record) that the checks append when they run.
//
// The package depends on the standard library only and is imported by tests, by the simulator and by
// cmd/verify.
package inventory

import "strings"

// Lane names one kind of check by the letter the catalogue of owners uses.
type Lane string

// The lanes. A check belongs to exactly one of them, and the prefix of its test function says which.
const (
	LaneSim        Lane = "S" // simulated schedules: TestSim…
	LaneExhaustive Lane = "X" // exhaustive exploration that completed: TestExhaust…
	LaneModel      Lane = "M" // operation sequences against a reference model: TestModel…
	LaneLinear     Lane = "P" // linearizability of histories: TestLinear…
	LaneDeadlock   Lane = "D" // instrumented deadlock workload: TestDeadlock…
	LaneSpec       Lane = "T" // specification with trace validation: TestTrace…
)

// laneInfo is what the rest of the toolchain needs to know about a lane.
type laneInfo struct {
	lane   Lane
	prefix string // of its test functions
	name   string // for people
	call   string // the function of this package that declares its checks
}

var lanes = [...]laneInfo{
	{LaneSim, "TestSim", "simulation", "Sim"},
	{LaneExhaustive, "TestExhaust", "exhaustive", "Exhaustive"},
	{LaneModel, "TestModel", "model", "Model"},
	{LaneLinear, "TestLinear", "linearizability", "Linear"},
	{LaneDeadlock, "TestDeadlock", "deadlock", "Deadlock"},
	{LaneSpec, "TestTrace", "specification", "Spec"},
}

// Lanes returns every lane in the catalogue's order.
func Lanes() []Lane {
	all := make([]Lane, 0, len(lanes))
	for _, l := range lanes {
		all = append(all, l.lane)
	}
	return all
}

// Prefix returns the prefix of the lane's test functions, or "" for an unknown lane.
func (l Lane) Prefix() string { return l.info().prefix }

// Name returns the lane's name for people, or the letter itself for an unknown lane.
func (l Lane) Name() string {
	if info := l.info(); info.name != "" {
		return info.name
	}
	return string(l)
}

// Known reports whether l is one of the lanes above.
func (l Lane) Known() bool { return l.info().lane != "" }

func (l Lane) info() laneInfo {
	for _, info := range lanes {
		if info.lane == l {
			return info
		}
	}
	return laneInfo{}
}

// LaneOfTest returns the lane that a test function belongs to by its name. "TestSimple" is not a
// simulated check: the prefix must be followed by nothing, a digit or an upper-case letter.
func LaneOfTest(function string) (Lane, bool) {
	for _, info := range lanes {
		rest, ok := strings.CutPrefix(function, info.prefix)
		if ok && (rest == "" || rest[0] < 'a' || rest[0] > 'z') {
			return info.lane, true
		}
	}
	return "", false
}

// LaneOfCall returns the lane whose checks are declared with the named function of this package.
func LaneOfCall(function string) (Lane, bool) {
	for _, info := range lanes {
		if info.call == function {
			return info.lane, true
		}
	}
	return "", false
}

// Part is one argument of Owner after its type.
type Part struct {
	Lane    Lane        // of the checks or of the reason; empty for a mutant
	Checks  []string    // ids of checks
	Reason  string      // why the lane is empty
	Mutant  string      // name of a mutant
	What    string      // what the mutant does instead
	Expects []Rejection // who must reject it
}

// Rejection says which check must reject a mutant, and with which verdict.
type Rejection struct {
	Check   string // id of a registered check
	Verdict string // "kind id", as in Verdict.String
}

// Declaration is what Owner and Planted return. Nothing reads it at run time.
type Declaration struct {
	ID    string
	Title string
	Parts []Part
}

// Owner declares the owner id of the catalogue. The type is a typed nil pointer, so that a renamed or
// deleted type breaks the declaration at compile time. Each lane has checks or a reason, never neither.
func Owner(id, title string, _ any, parts ...Part) Declaration {
	return Declaration{ID: id, Title: title, Parts: parts}
}

// Planted declares a program that is wrong on purpose and whose test asserts that the simulator finds
// it. It is a check of the simulator and not of an owner.
func Planted(id, what string) Declaration { return Declaration{ID: id, Title: what} }

// Sim registers simulated checks.
func Sim(checks ...string) Part { return Part{Lane: LaneSim, Checks: checks} }

// Exhaustive registers exhaustive checks; one that does not report complete fails the audit.
func Exhaustive(checks ...string) Part { return Part{Lane: LaneExhaustive, Checks: checks} }

// Model registers operation sequences against a reference model.
func Model(checks ...string) Part { return Part{Lane: LaneModel, Checks: checks} }

// Linear registers linearizability checks.
func Linear(checks ...string) Part { return Part{Lane: LaneLinear, Checks: checks} }

// Deadlock registers instrumented workloads.
func Deadlock(checks ...string) Part { return Part{Lane: LaneDeadlock, Checks: checks} }

// Spec registers specifications with their trace validation.
func Spec(checks ...string) Part { return Part{Lane: LaneSpec, Checks: checks} }

// Reason says why an owner has no check in a lane.
func Reason(lane Lane, why string) Part { return Part{Lane: lane, Reason: why} }

// Mutant declares a deliberate bug, kept in testdata/mutants/<owner>.<name>.mutant beside the
// declaration. Each rejection names a registered check and the verdict it must give.
func Mutant(name, what string, first Rejection, more ...Rejection) Part {
	return Part{Mutant: name, What: what, Expects: append([]Rejection{first}, more...)}
}

// RejectedBy says that check must fail with verdict, written "kind id", on the mutant.
func RejectedBy(check, verdict string) Rejection { return Rejection{Check: check, Verdict: verdict} }
