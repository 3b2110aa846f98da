package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
)

// fuzzRow is what fuzzing one target did.
type fuzzRow struct {
	Target  string  `json:"target"`
	Dir     string  `json:"package"`
	Seconds float64 `json:"seconds"`
	Passed  bool    `json:"passed"`
	Last    string  `json:"last"` // the fuzzer's last line: executions and new inputs
	output  string
}

// runFuzz fuzzes each target for a time. New failing inputs land under the package's testdata/fuzz, as
// the go command leaves them.
func runFuzz(ctx context.Context, args []string) int { return exit("fuzz", fuzz(ctx, args)) }

func fuzz(ctx context.Context, args []string) error {
	a, err := grammar{words: 1, keys: []string{"time"}}.parse(args)
	if err != nil {
		return err
	}
	length := 30 * time.Second
	if text, ok := a.values["time"]; ok {
		if length, err = time.ParseDuration(text); err != nil || length < time.Second {
			return usagef("time=%s: not a duration of at least 1s", text)
		}
	}
	s, err := open()
	if err != nil {
		return err
	}
	rows, err := s.fuzzTargets(ctx, a.word(), length)
	if err != nil {
		return err
	}
	failed := 0
	var table [][]string
	for _, r := range rows {
		table = append(table, []string{r.Target, r.Dir, passedWord(r.Passed), r.Last})
		if !r.Passed {
			failed++
			s.Printf("\n--- %s (%s)\n%s\n", r.Target, r.Dir, r.output)
		}
	}
	s.Table([]string{"target", "package", "result", "at the end"}, table)
	if failed > 0 {
		err = errFound
	}
	return errors.Join(s.WriteJSON("fuzz.json", rows), err)
}

func passedWord(ok bool) string {
	if ok {
		return "passed"
	}
	return "FAILED"
}

func (s site) fuzzTargets(ctx context.Context, filter string, length time.Duration) ([]fuzzRow, error) {
	var targets []*catalog.Test
	for _, t := range s.cat.Tests {
		if t.Fuzz() && (strings.Contains(t.Name, filter) || strings.Contains(t.Dir, filter)) {
			targets = append(targets, t)
		}
	}
	if len(targets) == 0 {
		return nil, nothing("fuzz", filter)
	}
	p := s.NewProgress("fuzz", len(targets))
	defer p.Close()
	var rows []fuzzRow
	for _, t := range targets {
		if ctx.Err() != nil {
			return rows, ctx.Err()
		}
		p.Label(t.Name)
		rows = append(rows, s.fuzzOne(ctx, t, length))
		p.Step(1)
	}
	return rows, nil
}

func (s site) fuzzOne(ctx context.Context, t *catalog.Test, length time.Duration) fuzzRow {
	started := time.Now()
	text, err := s.Command(ctx, ".", "go", "test", "-run=^$", "-fuzz=^"+t.Name+"$", "-fuzztime="+length.String(),
		"./"+t.Dir).CombinedOutput()
	row := fuzzRow{Target: t.Name, Dir: t.Dir, Seconds: time.Since(started).Seconds(), Passed: err == nil}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "fuzz: elapsed") {
			row.Last = strings.TrimSpace(strings.TrimPrefix(line, "fuzz: "))
		}
	}
	row.output = harness.Tail(string(text), 60)
	return row
}
