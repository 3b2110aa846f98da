package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strconv"

	profiles "github.com/google/pprof/profile"
	"github.com/millrace-dev/millrace/core/sched/bench"
)

// nodeProfile is what cmd/millrace is compiled with: the compiler inlines what it says is hot, a mutex behind its nil
// check among others. It is made by `verify profile`, and need not be fresh to be of use.
const nodeProfile = "cmd/millrace/default.pgo"

func runProfile(ctx context.Context, args []string) int {
	return exit("profile", profile(ctx, args))
}

// profile makes the profile of the node under the load of bench-node, and of the structures of bench-sched, and merges both.
func profile(ctx context.Context, args []string) error {
	if _, err := (grammar{}).parse(args); err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	bin := filepath.Join(s.Root, "out", "bin") + string(filepath.Separator)
	if err := s.run(ctx, "go", "build", "-pgo=off", "-o", bin, "./cmd/millrace"); err != nil {
		return err
	}
	structures := bin + "structures.pprof"
	parts := []string{structures}
	if err := profileStructures(structures); err != nil {
		return err
	}
	for _, size := range []int{1, 100, 1000} {
		part := fmt.Sprintf("%snode-%d.pprof", bin, size)
		if _, err := benchRound(ctx, s.Root, bin, []string{"run", "--cpuprofile", part}, size, 0); err != nil {
			return fmt.Errorf("bodies of %d: %w", size, err)
		}
		parts = append(parts, part)
	}
	return mergeProfiles(filepath.Join(s.Root, nodeProfile), parts)
}

// mergeProfiles writes the sum of the profiles, without the paths of the machine that made them: the compiler reads the names of
// functions and lines.
func mergeProfiles(path string, parts []string) error {
	var all []*profiles.Profile
	for _, part := range parts {
		text, err := os.ReadFile(part)
		if err != nil {
			return err
		}
		p, err := profiles.ParseData(text)
		if err != nil {
			return fmt.Errorf("parse %s: %w", filepath.Base(part), err)
		}
		for _, m := range p.Mapping {
			m.File, m.BuildID = "", ""
		}
		for _, f := range p.Function {
			f.Filename = filepath.Base(f.Filename)
		}
		all = append(all, p)
	}
	sum, err := profiles.Merge(all)
	if err != nil {
		return fmt.Errorf("merge profiles: %w", err)
	}
	var out bytes.Buffer
	if err := sum.Write(&out); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

func profileStructures(path string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	for _, p := range bench.Pairs() {
		if p.Structure {
			bench.Measure(p, 40*schedRounds) // the compiler weighs a call by the samples of the callee itself, which are few
		}
	}
	return nil
}

// asTheNodeIsBuilt runs a command of this program in one that was compiled with the node's profile, its functions in the order
// that the linker draws from layout.
func (s site) asTheNodeIsBuilt(ctx context.Context, layout int, args ...string) error {
	binary := filepath.Join(s.Root, "out", "bin", "verify")
	order := "-ldflags=-randlayout=" + strconv.Itoa(layout)
	if err := s.run(ctx, "go", "build", "-pgo="+nodeProfile, order, "-o", binary, "./cmd/verify"); err != nil {
		return err
	}
	child := exec.CommandContext(ctx, binary, args...)
	child.Dir, child.Stdout, child.Stderr = s.Root, os.Stdout, os.Stderr
	if err := child.Run(); err != nil {
		return fmt.Errorf("%s as the node is built: %w", args[0], err)
	}
	return nil
}

func (s site) run(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = s.Root
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w\n%s", name, args, err, text)
	}
	return nil
}
