package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-dev/millrace/sim"
)

// arguments are those of one command: words, key=value bounds and --flags.
type arguments struct {
	words  []string
	values map[string]string
	flags  map[string]bool
}

// grammar says what a command accepts. Words is the most it takes, -1 for any number. Every command
// accepts --check: commands of this program fail on a missed bar anyway.
type grammar struct {
	words int
	keys  []string
	flags []string
}

func (g grammar) parse(args []string) (arguments, error) {
	a := arguments{values: map[string]string{}, flags: map[string]bool{}}
	for _, arg := range args {
		key, value, set := strings.Cut(arg, "=")
		switch {
		case strings.HasPrefix(arg, "--"):
			if arg != "--check" && !slices.Contains(g.flags, arg) {
				return a, usagef("unknown flag %s; known are %s", arg, strings.Join(append(g.flags, "--check"), ", "))
			}
			a.flags[arg] = true
		case set && !strings.ContainsAny(key, "/."):
			if !slices.Contains(g.keys, key) {
				return a, usagef("unknown bound %q; known are %q", key, g.keys)
			}
			a.values[key] = value
		case len(a.words) == g.words:
			return a, usagef("one word too many: %q", arg)
		default:
			a.words = append(a.words, arg)
		}
	}
	return a, nil
}

// word returns the first word or "".
func (a arguments) word() string {
	if len(a.words) == 0 {
		return ""
	}
	return a.words[0]
}

// strategy refuses a strategy= that names none.
func (a arguments) strategy() error {
	name, ok := a.values["strategy"]
	if !ok {
		return nil
	}
	if err := sim.CheckStrategy(name); err != nil {
		return usagef("strategy=%s: %w", name, err)
	}
	return nil
}

// simulates refuses the bounds of a simulated run that cannot be.
func (a arguments) simulates() error {
	_, err := a.seed(0)
	errs := []error{err, a.strategy()}
	for _, key := range []string{"seeds", "cores"} {
		_, err := a.count(key, 1)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// nothing is the error of a selection that has nothing in it: the caller's when there was a filter, else the tree's.
func nothing(what, filter string) error {
	if filter == "" {
		return fmt.Errorf("%s: %w", what, errNothing)
	}
	return usagef("%s: %w: filter %q", what, errNothing, filter)
}

// seed returns the value of seed=, or fallback when it is not given.
func (a arguments) seed(fallback uint64) (uint64, error) {
	text, ok := a.values["seed"]
	if !ok {
		return fallback, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, usagef("seed=%s: not a number", text)
	}
	return n, nil
}

// count returns a bound that must be a number of at least 1; fallback when it is not set.
func (a arguments) count(key string, fallback int) (int, error) {
	text, ok := a.values[key]
	if !ok {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, usagef("%s=%s: not a number of at least 1", key, text)
	}
	return n, nil
}
