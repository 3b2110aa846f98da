package inventory

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Run runs a check that is not a simulated one (a model, a linearizability check, a workload, a trace
// validation) as the rest of the test t, and appends its record. The body returns how many cases it
// executed; none is a failure, because a check that examined nothing has not passed.
//
// A body that finds the fault it looks for calls Observe before it fails t, so that the record carries
// the verdict as data.
func Run(t *testing.T, lane Lane, check string, body func(t *testing.T) int) {
	t.Helper()
	function, _, _ := strings.Cut(t.Name(), "/")
	if of, ok := LaneOfTest(function); !ok || of != lane {
		t.Errorf("check %s: %s is not a test of lane %s (prefix %s)", check, function, lane, lane.Prefix())
	}
	if err := setModelBounds(os.Getenv(ModelVar)); err != nil {
		t.Fatal(err)
	}
	run(t, Record{Check: check, Test: function, Package: callerPackage(2), Lane: lane}, body)
}

// ModelVar is the environment variable with the bounds of property checks: "seed=N checks=N steps=N
// nofailfile=true", the names of the property library's flags.
const ModelVar = "MILLRACE_MODEL"

// bounding keeps tests that run side by side from setting flags at the same time.
var bounding sync.Mutex

// Seed returns the seed among the bounds of property checks, for workloads that draw from one of their own; 1 when none is set.
func Seed() (uint64, error) {
	for _, field := range strings.Fields(os.Getenv(ModelVar)) {
		if value, ok := strings.CutPrefix(field, "seed="); ok {
			seed, err := strconv.ParseUint(value, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("read seed: %s: %q: %w", ModelVar, field, err)
			}
			return seed, nil
		}
	}
	return 1, nil
}

// setModelBounds sets the flags of the property library, which this package does not import: a test
// binary without the library has none of them. Without a seed the same sequences are drawn in every run, so
// that a gate does not fail by luck.
func setModelBounds(text string) error {
	bounding.Lock()
	defer bounding.Unlock()
	for _, field := range append([]string{"seed=1"}, strings.Fields(text)...) {
		name, value, _ := strings.Cut(field, "=")
		if !slices.Contains([]string{"seed", "checks", "steps", "nofailfile"}, name) {
			return fmt.Errorf("set bounds of property checks: %s: unknown bound %q", ModelVar, field)
		}
		known := flag.Lookup("rapid." + name)
		if known == nil || field == "seed=1" && known.Value.String() != known.DefValue {
			continue
		}
		if err := known.Value.Set(value); err != nil {
			return fmt.Errorf("set bounds of property checks: %s: %q: %w", ModelVar, field, err)
		}
	}
	return nil
}

// run runs body and appends rec, completed.
func run(t *testing.T, rec Record, body func(t *testing.T) int) {
	t.Helper()
	started := time.Now()
	running.Store(t.Name(), true)
	defer running.Delete(t.Name())
	// The record is written in a defer: t.FailNow inside the body ends this goroutine.
	defer func() {
		rec.Nanos = time.Since(started).Nanoseconds()
		finish(t, &rec)
	}()
	rec.Executions = body(t)
	if rec.Executions <= 0 && !t.Failed() {
		t.Errorf("check %s executed no case", rec.Check)
	}
}

// finish completes rec with the outcome and appends it.
func finish(t *testing.T, rec *Record) {
	t.Helper()
	rec.Verdict = takeObserved(t.Name())
	if rec.Verdict != nil && !t.Failed() {
		t.Errorf("check %s observed %s but did not fail", rec.Check, rec.Verdict)
	}
	rec.Passed = !t.Failed() && !t.Skipped()
	// A failure nobody described carries no id, so it can never pass for the rejection of a mutant.
	if t.Failed() && rec.Verdict == nil {
		rec.Verdict = &Verdict{Kind: KindAssertion, Message: "failed without an observed verdict"}
	}
	if err := Append(*rec); err != nil {
		t.Error(err)
	}
}

// running holds the names of the tests that are running checks, observed the last verdict of each.
var running, observed sync.Map

// checkOf returns the test whose check a test is part of: itself, or the nearest above it that runs one.
func checkOf(test string) string {
	for name := test; ; {
		if _, runs := running.Load(name); runs {
			return name
		}
		slash := strings.LastIndexByte(name, '/')
		if slash < 0 {
			return test
		}
		name = name[:slash]
	}
}

// Violated observes that the invariant id is violated, and fails t: the test itself, or what a property library runs inside it.
func Violated(test *testing.T, t interface{ Fatal(args ...any) }, id, format string, args ...any) {
	test.Helper()
	message := fmt.Sprintf(format, args...)
	Observe(test, Verdict{Kind: KindAssertion, ID: id, Message: message})
	t.Fatal(message)
}

// Judge fails one check by one invariant. What drives an owner beside its model embeds it.
type Judge struct {
	Test *testing.T
	ID   string // of the invariant
}

// Wrong says where the two differ. t is the test, or what a property library runs inside it.
func (j Judge) Wrong(t interface{ Fatal(args ...any) }, format string, args ...any) {
	j.Test.Helper()
	Violated(j.Test, t, j.ID, format, args...)
}

// Observe notes what a check run by Run found, in its test or in a subtest; the caller then fails the test. The last verdict counts:
// a shrinking property ends with its smallest failure.
func Observe(t testing.TB, v Verdict) {
	t.Helper()
	if !v.Kind.Known() || v.ID == "" {
		t.Errorf("observe verdict %q: needs a known kind and an id", v)
	}
	observed.Store(checkOf(t.Name()), v)
}

func takeObserved(test string) *Verdict {
	v, ok := observed.LoadAndDelete(test)
	if !ok {
		return nil
	}
	verdict, ok := v.(Verdict)
	if !ok {
		return nil
	}
	return &verdict
}

// callerPackage returns the import path of the function that is skip frames above its caller. An
// external test package counts as the package it tests.
func callerPackage(skip int) string {
	pc, _, _, ok := runtime.Caller(skip)
	if !ok {
		return ""
	}
	return packageOf(runtime.FuncForPC(pc).Name())
}

// packageOf cuts the function off a name such as "example.org/m/core/claim_test.TestX.func1".
func packageOf(function string) string {
	slash := strings.LastIndexByte(function, '/') + 1
	pkg, _, _ := strings.Cut(function[slash:], ".")
	return strings.TrimSuffix(function[:slash]+pkg, "_test")
}
