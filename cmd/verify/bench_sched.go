package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/core/sched/bench"
)

// schedRounds is how many interleaved rounds each pair gets: enough for a median on a busy machine.
const schedRounds = 301

// runBenchSched compares the primitives with the bare standard library.
func runBenchSched(ctx context.Context, args []string) int {
	return exit("bench-sched", benchSched(ctx, args))
}

func benchSched(ctx context.Context, args []string) error {
	a, err := grammar{words: 1, keys: []string{"rounds"}, flags: []string{"--here"}}.parse(args)
	if err != nil {
		return err
	}
	rounds, err := a.count("rounds", schedRounds)
	if err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	if !a.flags["--here"] {
		return s.asTheNodeIsBuilt(ctx, "bench-sched", append(args, "--here"))
	}
	pairs := slices.DeleteFunc(bench.Pairs(), func(p bench.Pair) bool { return !strings.Contains(p.Name, a.word()) })
	if len(pairs) == 0 {
		return usagef("no pair has %q in its name", a.word())
	}
	p := s.NewProgress("bench-sched", len(pairs))
	var rows []bench.Row
	for _, pair := range pairs {
		if ctx.Err() != nil {
			break
		}
		p.Label(pair.Name)
		rows = append(rows, bench.Measure(pair, rounds))
		p.Step(1)
	}
	p.Close()
	s.printSched(rows)
	if err := s.WriteJSON("bench-sched.json", rows); err != nil {
		return err
	}
	return missedSched(rows, a.flags["--check"], ctx.Err())
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
	if len(rows) > 0 {
		s.Printf("medians of %d interleaved rounds of each pair\n", rows[0].Rounds)
	}
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

// missedSched names the rows that miss their bar, when bars are to be held.
func missedSched(rows []bench.Row, check bool, interrupted error) error {
	if interrupted != nil || !check {
		return interrupted
	}
	for _, r := range rows {
		if r.Missed {
			return fmt.Errorf("%s: ratio %.3f, %+.2f ns: %w", r.Name, r.Ratio, r.Extra, errFound)
		}
	}
	return nil
}
