// Package tlacmd is the command "verify tla": it checks, simulates, formats and measures TLA+
// specifications.
//
//	verify tla check    [flags] FILE.tla [FILE.cfg]   explore all states
//	verify tla simulate [flags] FILE.tla [FILE.cfg]   explore random behaviors
//	verify tla trace    [flags] FILE.tla [FILE.cfg]   like check, and print only the counterexample
//	verify tla coverage [flags] FILE.tla [FILE.cfg]   like check, with counts of actions and conjuncts
//	verify tla fmt      FILE.tla…                     print modules in canonical form; -verify: parse them again
//	verify tla corpus   [flags] LIST.tsv DIR          compare with recorded verdicts and counts
//
// Exit codes: 0 the specification holds; 1 models of a corpus disagree; 2 a bound ended the run, or
// a liveness property was not looked at because the search was not breadth first;
// 3 a file cannot be read, parsed or evaluated; 10 an assumption is false; 11 deadlock; 12 an
// invariant or a property of steps is violated; 13 a liveness property is violated; 64 wrong usage.
package tlacmd

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/tla"
	"github.com/millrace-dev/millrace/tla/check"
	"github.com/millrace-dev/millrace/tla/syntax"
)

const (
	exitDisagree = 1
	exitFault    = 3
	exitUsage    = 64
)

func usage(w io.Writer, msg string) int {
	fmt.Fprintln(w, msg)
	fmt.Fprintf(w, "usage: verify tla %s FILE.tla [FILE.cfg], or verify tla corpus LIST.tsv DIR\n", strings.Join(fileCommands, "|"))
	return exitUsage
}

type flags struct {
	opt      check.Options
	json     string
	html     string
	deadlock bool
	match    string
	quiet    bool
	verify   bool
}

func parse(name string, args []string, stderr io.Writer) (*flags, []string, error) {
	f := &flags{}
	fs := flag.NewFlagSet("verify tla "+name, flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.IntVar(&f.opt.Workers, "workers", 0, "goroutines that explore; 0 is one a core")
	fs.IntVar(&f.opt.Depth, "depth", 0, "bound on the length of behaviors")
	fs.IntVar(&f.opt.Traces, "traces", 0, "random behaviors to draw")
	fs.Uint64Var(&f.opt.Seed, "seed", 1, "seed of random choices")
	fs.IntVar(&f.opt.MaxStates, "max-states", 0, "stop after so many distinct states")
	fs.DurationVar(&f.opt.MaxTime, "max-time", 0, "stop after so long")
	fs.BoolVar(&f.deadlock, "no-deadlock", false, "do not check for deadlock")
	fs.BoolVar(&f.quiet, "quiet", false, "no progress lines")
	fs.BoolVar(&f.verify, "verify", false, "fmt: only check that the printed form of each module parses to the same tree")
	fs.StringVar(&f.json, "json", "", "write the result as JSON to this file")
	fs.StringVar(&f.html, "html", "", "write the counterexample as HTML to this file")
	fs.StringVar(&f.match, "match", "", "corpus: only models whose path contains this")
	dfs := fs.Bool("depth-first", false, "explore depth first")
	fs.Int64Var(&f.opt.FrontierBytes, "frontier-bytes", 0, "memory for waiting states; more go to a file")
	fs.StringVar(&f.opt.SpillDir, "spill-dir", "", "folder for waiting states that do not fit memory")
	fs.StringVar(&f.opt.Checkpoint, "checkpoint", "", "file to which a breadth-first search saves itself, now and then and when a bound ends it")
	fs.DurationVar(&f.opt.CheckpointEvery, "checkpoint-every", 10*time.Minute, "time between two checkpoints")
	fs.BoolVar(&f.opt.Resume, "resume", false, "go on from the checkpoint")
	if err := fs.Parse(args); err != nil {
		return nil, nil, err
	}
	f.opt.NoDeadlock = f.deadlock
	if *dfs {
		f.opt.Mode = check.DepthFirst
	}
	return f, fs.Args(), nil
}

// fileCommands are the commands for one module.
var fileCommands = []string{"check", "simulate", "trace", "coverage", "fmt"}

// Commands returns the names that Main accepts as its first argument.
func Commands() []string { return append(slices.Clone(fileCommands), "corpus", "help") }

// Main runs the command and returns its exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		return usage(stderr, "a command is missing")
	}
	name := args[0]
	// Most of what the search allocates dies at once; a larger heap between collections pays.
	defer debug.SetGCPercent(debug.SetGCPercent(200))
	f, rest, err := parse(name, args[1:], stderr)
	if err != nil {
		return exitUsage
	}
	switch name {
	case "check", "trace", "coverage", "simulate":
		if len(rest) < 1 || len(rest) > 2 {
			return usage(stderr, name+" needs a module and at most one configuration")
		}
		return run(name, f, rest, stdout, stderr)
	case "fmt":
		if f.verify {
			return roundTrip(rest, stdout)
		}
		return format(rest, stdout, stderr)
	case "help":
		usage(stdout, "verify tla [PROTOCOL] [--gating] checks the specifications of the repository; its other uses:")
		return 0
	case "corpus":
		return corpus(rest, f.opt, f.match, stdout)
	}
	return usage(stderr, "unknown command "+name)
}

func format(files []string, stdout, stderr io.Writer) int {
	code := 0
	for _, name := range files {
		m, err := syntax.ParseFile(name)
		if err != nil {
			fmt.Fprintln(stderr, err)
			code = exitFault
			continue
		}
		fmt.Fprint(stdout, syntax.FormatModule(m))
	}
	return code
}

// roundTrip parses the printed form of each module again; modules that the parser refuses are counted.
func roundTrip(files []string, stdout io.Writer) int {
	same, refused, code := 0, 0, 0
	for _, name := range files {
		m, err := syntax.ParseFile(name)
		if err != nil {
			refused++
			continue
		}
		text := syntax.FormatModule(m)
		again, err := syntax.Parse(name, text)
		switch {
		case err != nil:
			fmt.Fprintf(stdout, "%s: the printed form does not parse: %v\n", name, err)
		case !syntax.Same(m, again):
			fmt.Fprintf(stdout, "%s: the printed form has another tree\n", name)
		case syntax.FormatModule(again) != text:
			fmt.Fprintf(stdout, "%s: printing the printed form changes it\n", name)
		default:
			same++
			continue
		}
		code = exitDisagree
	}
	fmt.Fprintf(stdout, "%d of %d modules parse to the same tree when printed; %d more were refused\n", same, len(files)-refused, refused)
	return code
}

func run(name string, f *flags, files []string, stdout, stderr io.Writer) int {
	spec := tla.Spec{Module: files[0], Options: f.opt}
	if len(files) == 2 {
		spec.Config = files[1]
	}
	if name == "simulate" {
		spec.Options.Mode = check.Simulate
	}
	spec.Options.Coverage = name == "coverage"
	spec.Options.Output = stdout
	if !f.quiet {
		spec.Options.Progress = stderr
	}
	r, err := tla.Run(spec)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitFault
	}
	if err := write(f, r); err != nil {
		fmt.Fprintln(stderr, err)
		return exitFault
	}
	report(name, r, stdout)
	if len(r.Unchecked) > 0 && spec.Options.Mode != check.BreadthFirst {
		fmt.Fprintf(stderr, "not checked: %s; run %q without -depth-first: liveness needs the whole graph\n", strings.Join(r.Unchecked, " "), "verify tla check")
	}
	return int(r.Verdict)
}

func report(name string, r *check.Result, w io.Writer) {
	if name != "trace" {
		for _, warn := range r.Warnings {
			fmt.Fprintln(w, "warning:", warn)
		}
	}
	if r.Conjunct != "" {
		fmt.Fprintln(w, "fails:", r.Conjunct)
	}
	fmt.Fprint(w, r.Text())
	if name == "coverage" {
		for _, c := range r.Actions {
			fmt.Fprintf(w, "%12d taken %12d new  %s (%s)\n", c.Taken, c.Distinct, c.Name, c.Place)
		}
		for _, c := range r.Parts {
			fmt.Fprintf(w, "%12d evaluated  %s (%s)\n", c.Taken, c.Name, c.Place)
		}
	}
	if name != "trace" {
		fmt.Fprintln(w, r)
		fmt.Fprintf(w, "probability that two states shared a fingerprint: %.1e\n", r.Collision)
	}
}

func write(f *flags, r *check.Result) error {
	for path, render := range map[string]func(io.Writer) error{f.json: r.JSON, f.html: r.HTML} {
		if path == "" {
			continue
		}
		out, err := os.Create(path)
		if err != nil {
			return fmt.Errorf("write result %s: %w", path, err)
		}
		if err := render(out); err != nil {
			return fmt.Errorf("write result %s: %w", path, err)
		}
		if err := out.Close(); err != nil {
			return fmt.Errorf("write result %s: %w", path, err)
		}
	}
	return nil
}
