package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
)

// validated is what one event of a binding costs: mapping the words of the owner, the action, and the invariants.
type validated struct {
	Binding string    `json:"binding"`
	Nanos   []float64 `json:"cpu_nanoseconds_an_event"` // of each round
}

// eventUnit is what the benchmarks of bindings report.
const eventUnit = "cpu-ns/event"

// eventBindings are those whose cost has a bar.
var eventBindings = []struct{ name, dir string }{
	{"acknowledgement tree (A1)", "tla/ack"}, {"claim (L3)", "tla/claim"}, {"fan-out queue (C6)", "tla/relay"},
}

// measureEvents runs the benchmarks of bindings. They are compiled before, so that nothing else runs beside them.
func (s site) measureEvents(ctx context.Context, r *tlaReport, rounds int) error {
	var dirs []string
	for _, b := range eventBindings {
		dirs = append(dirs, b.dir)
	}
	binaries, err := s.Compile(ctx, dirs)
	if err != nil {
		return err
	}
	for _, b := range eventBindings {
		v := validated{Binding: b.name}
		for range rounds {
			text, err := s.Command(ctx, b.dir, binaries[b.dir], "-test.run", "^$", "-test.bench", "Event$", "-test.benchtime", "20000x").CombinedOutput()
			if err != nil {
				return fmt.Errorf("measure events of %s: %w\n%s", b.dir, err, text)
			}
			n, err := benchmarkFigure(string(text), eventUnit)
			if err != nil {
				return fmt.Errorf("measure events of %s: %w", b.dir, err)
			}
			v.Nanos = append(v.Nanos, n)
		}
		r.Events = append(r.Events, v)
	}
	return nil
}

// benchmarkFigure returns the number before a unit in the output of one Go benchmark.
func benchmarkFigure(text, unit string) (float64, error) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		for i := 2; i < len(fields) && strings.HasPrefix(line, "Benchmark"); i++ {
			if fields[i] == unit {
				return strconv.ParseFloat(fields[i-1], 64)
			}
		}
	}
	return 0, fmt.Errorf("no figure in %s in\n%s: %w", unit, text, errNothing)
}

func (s site) printEvents(r *tlaReport) {
	s.Printf("\ntrace validation, one event with every word of the owner shown; medians\n")
	var rows [][]string
	for _, v := range r.Events {
		n := median(v.Nanos, func(x float64) float64 { return x })
		rows = append(rows, r.judge(v.Binding, harness.Count(int(n))+" ns", "≤ "+harness.Count(maxEvent)+" ns", n <= maxEvent))
	}
	s.Table([]string{"binding", "CPU an event", "bar", ""}, rows)
}
