package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-dev/millrace/core/sched/bench"
)

const (
	schedLayouts = 5  // programs with the functions in another order each
	schedRounds  = 61 // interleaved rounds of each pair in each of them: enough together for a median on a busy machine
)

// schedSamples is where a program of one layout leaves its rounds.
const schedSamples = "bench-sched.layout.json"

// runBenchSched compares the primitives with the bare standard library.
func runBenchSched(ctx context.Context, args []string) int {
	return exit("bench-sched", benchSched(ctx, args))
}

func benchSched(ctx context.Context, args []string) error {
	a, err := grammar{words: 1, keys: []string{"rounds", "layouts"}, flags: []string{"--here"}}.parse(args)
	if err != nil {
		return err
	}
	rounds, err := a.count("rounds", schedRounds)
	if err != nil {
		return err
	}
	layouts, err := a.count("layouts", schedLayouts)
	if err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	pairs := slices.DeleteFunc(bench.Pairs(), func(p bench.Pair) bool { return !strings.Contains(p.Name, a.word()) })
	if len(pairs) == 0 {
		return usagef("no pair has %q in its name", a.word())
	}
	if a.flags["--here"] {
		return s.measurePairs(ctx, pairs, rounds)
	}
	all := make([]bench.Samples, len(pairs))
	for i := range layouts {
		s.Printf("layout %d of %d\n", i+1, layouts)
		if err := s.measureLayout(ctx, i+1, a.word(), rounds, all); err != nil {
			return err
		}
	}
	return s.judgePairs(pairs, all, layouts, a.flags["--check"])
}

// measurePairs measures in this program, and leaves the rounds in a file.
func (s site) measurePairs(ctx context.Context, pairs []bench.Pair, rounds int) error {
	p := s.NewProgress("bench-sched", len(pairs))
	defer p.Close()
	var all []bench.Samples
	for _, pair := range pairs {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p.Label(pair.Name)
		all = append(all, bench.Measure(pair, rounds))
		p.Step(1)
	}
	return s.WriteJSON(schedSamples, all)
}

// measureLayout measures in a program of its own, and adds the rounds to all.
func (s site) measureLayout(ctx context.Context, layout int, filter string, rounds int, all []bench.Samples) error {
	args := []string{"bench-sched", "--here", "rounds=" + strconv.Itoa(rounds)}
	if filter != "" {
		args = append(args, filter)
	}
	if err := s.asTheNodeIsBuilt(ctx, layout, args...); err != nil {
		return err
	}
	part, err := keptRows[bench.Samples](s, schedSamples)
	if err != nil {
		return err
	}
	if len(part) != len(all) {
		return fmt.Errorf("layout %d measured %d pairs of %d", layout, len(part), len(all))
	}
	for i := range all {
		all[i].Add(part[i])
	}
	return nil
}

func (s site) judgePairs(pairs []bench.Pair, all []bench.Samples, layouts int, check bool) error {
	var rows []bench.Row
	for i, p := range pairs {
		rows = append(rows, p.Judge(all[i]))
	}
	s.printSched(rows)
	s.Printf("medians of %d interleaved rounds of each pair, from %d programs with the functions in another order each\n", rows[0].Rounds, layouts)
	if err := s.WriteJSON("bench-sched.json", rows); err != nil {
		return err
	}
	if !check {
		return nil
	}
	return missedSched(rows)
}

func (s site) printSched(rows []bench.Row) {
	var table [][]string
	for _, r := range rows {
		table = append(table, []string{
			r.Name, fmt.Sprintf("%.2f", r.Bare), fmt.Sprintf("%.2f", r.Ours), fmt.Sprintf("%.3f", r.Ratio),
			fmt.Sprintf("%+.2f", r.Extra), schedBar(r),
		})
	}
	s.Table([]string{"pair", "bare ns", "ours ns", "ratio", "extra ns", "bar"}, table)
}

func schedBar(r bench.Row) string {
	verdict := "ok"
	if r.Missed {
		verdict = "MISSED"
	}
	switch {
	case r.MaxRatio > 0:
		return fmt.Sprintf("ratio ≤ %.2f %s", r.MaxRatio, verdict)
	case r.MaxExtra > 0:
		return fmt.Sprintf("extra ≤ %.1f ns %s", r.MaxExtra, verdict)
	}
	return ""
}

// missedSched names the first row that misses its bar.
func missedSched(rows []bench.Row) error {
	for _, r := range rows {
		if r.Missed {
			return fmt.Errorf("%s: ratio %.3f, %+.2f ns: %w", r.Name, r.Ratio, r.Extra, errFound)
		}
	}
	return nil
}
