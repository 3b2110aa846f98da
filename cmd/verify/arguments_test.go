package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	g := grammar{words: 1, keys: []string{"seeds"}, flags: []string{"--once"}}
	a, err := g.parse([]string{"L3", "seeds=7", "--once", "--check"})
	if err != nil || a.word() != "L3" || !a.flags["--once"] {
		t.Errorf("parse = %+v, %v", a, err)
	}
	if n, err := a.count("seeds", 1); n != 7 || err != nil {
		t.Errorf("seeds = %d, %v", n, err)
	}
	if n, err := a.count("cores", 2); n != 2 || err != nil {
		t.Errorf("cores = %d, %v", n, err)
	}
	for _, bad := range [][]string{{"a", "b"}, {"seed=1"}, {"--twice"}} {
		if _, err := g.parse(bad); !errors.Is(err, errUsage) {
			t.Errorf("parse(%q): %v, want a usage error", bad, err)
		}
	}
	for _, text := range []string{"0", "-1", "many", ""} {
		a.values["seeds"] = text
		if _, err := a.count("seeds", 1); !errors.Is(err, errUsage) {
			t.Errorf("seeds=%s: %v, want a usage error", text, err)
		}
	}
	// A path may hold an equals sign.
	if a, err := g.parse([]string{"out/a=b/schedule.json"}); err != nil || a.word() != "out/a=b/schedule.json" {
		t.Errorf("path: %+v, %v", a, err)
	}
}

func TestExitCodes(t *testing.T) {
	for err, want := range map[error]int{nil: exitOK, errFound: exitFailed, usagef("x"): exitUsage} {
		if got := exit("test", err); got != want {
			t.Errorf("exit(%v) = %d, want %d", err, got, want)
		}
	}
	if got := dispatch(t.Context(), []string{"no-such-command"}); got != exitUsage {
		t.Errorf("unknown command: %d", got)
	}
	if got := dispatch(t.Context(), nil); got != exitOK {
		t.Errorf("help: %d", got)
	}
}

func TestEveryCommandRefusesWhatItDoesNotKnow(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range commands() {
		if c.help == "" || seen[c.name] {
			t.Errorf("command %s has no help or is there twice", c.name)
		}
		seen[c.name] = true
		// tla has exit statuses of its own.
		if got := c.run(t.Context(), []string{"--no-such-flag"}); got == exitOK || got == exitFailed {
			t.Errorf("%s --no-such-flag: exit %d, want that of a usage error", c.name, got)
		}
	}
}

func TestEveryCommandHasARecipe(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "justfile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands() {
		if recipe := "\n" + c.name + " *args:\n    @go run ./cmd/verify " + c.name + " \"$@\"\n"; !strings.Contains(string(text), recipe) {
			t.Errorf("the justfile has no recipe %s", c.name)
		}
	}
}

// unmeant are commands with arguments that cannot be meant; EMPTY is a file that holds no schedule.
const unmeant = `
test-sim no-such-check
test-sim strategy=best
test-sim seed=x
test-sim seeds=0
test-sim cores=-1
test-sim a b
test-sim --twice
test-sim dfs2 strategy=dfs-2
sim L3
sim -tso strategy=best
sim -tso no-such-check
race strategy=best
race seed=x
soak soon
soak 1s filter=no-such-check
soak 1s seeds=0
soak 1s seed=0
test-models no-such-check
test-models checks=0
test-linearizability no-such-check
test-deadlock no-such-check
test-traces no-such-check
feel n=0
feel seed=x
fuzz no-such-target
fuzz time=soon
crash --runs 0
crash more
chaos time=soon
chaos break=nothing
chaos clients=0
replay
replay no-such-file
replay EMPTY
replay EMPTY mode=exact
show
show no-such-file
qualify no-such-owner
qualify seeds=0
audit more
matrix more
lint --repair
ratchet more
profile more
timeline more
test slow
test quick more
bench-node more
bench-tla rounds=0
bench-sched --here no-such-pair
bench-sched rounds=0
bench-flows n=0
bench-sim no-such-table
bench-sim trials=0
bench-sim sct strategy=best
tla no-such-protocol`

// One rule for all commands: what cannot be meant is refused with 2 before anything runs; 1 is for what ran and does not hold.
func TestWhatCannotBeMeantIsAUsageError(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "schedule.json")
	if err := os.WriteFile(empty, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(strings.ReplaceAll(strings.TrimSpace(unmeant), "EMPTY", empty)) {
		args := strings.Fields(line)
		i := slices.IndexFunc(commands(), func(c command) bool { return c.name == args[0] })
		if got := commands()[i].run(t.Context(), args[1:]); got != exitUsage {
			t.Errorf("%q: exit %d, want %d", args, got, exitUsage)
		}
	}
}
