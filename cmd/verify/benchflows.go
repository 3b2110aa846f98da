package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
)

// flowsRow is one number of lanes, medians of alternating rounds.
type flowsRow struct {
	Lanes int     `json:"lanes"`
	Rate  float64 `json:"instances_per_second"`
	CPU   float64 `json:"cpu_us_per_instance"`
	Sync  string  `json:"sync"`
}

// flowsRounds is how often each number of lanes is measured, in turn.
const flowsRounds = 3

func runBenchFlows(ctx context.Context, args []string) int {
	return exit("bench-flows", benchFlows(ctx, args))
}

// benchFlows measures instances per second and CPU per instance on Pebble with 1 and 8 lanes.
func benchFlows(ctx context.Context, args []string) error {
	a, err := grammar{keys: []string{"n"}}.parse(args)
	if err != nil {
		return err
	}
	n, err := a.count("n", 5000)
	if err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	binary := filepath.Join(s.Root, "out", "bin", "flows")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./bench/flows")
	build.Dir = s.Root
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, text)
	}
	lanes := []int{1, 8}
	all := map[int][]flowsRow{}
	p := s.NewProgress("bench-flows", flowsRounds*len(lanes))
	for range flowsRounds {
		for _, l := range lanes {
			text, err := exec.CommandContext(ctx, binary, "-lanes", fmt.Sprint(l), "-n", fmt.Sprint(n)).Output()
			if err != nil {
				return fmt.Errorf("%d lanes: %w", l, err)
			}
			var r flowsRow
			if err := json.Unmarshal(text, &r); err != nil {
				return fmt.Errorf("%d lanes: %w", l, err)
			}
			all[l] = append(all[l], r)
			p.Step(1)
		}
	}
	p.Close()
	var rows []flowsRow
	var table [][]string
	for _, l := range lanes {
		r := flowsRow{
			Lanes: l, Sync: all[l][0].Sync, Rate: median(all[l], func(r flowsRow) float64 { return r.Rate }),
			CPU: median(all[l], func(r flowsRow) float64 { return r.CPU }),
		}
		rows = append(rows, r)
		table = append(table, []string{fmt.Sprint(l), fmt.Sprintf("%.0f", r.Rate), fmt.Sprintf("%.0f", r.CPU), r.Sync})
	}
	s.Printf("start → task → message → task → end; %d instances, 64 in flight, Pebble; medians of %d rounds\n", n, flowsRounds)
	s.Table([]string{"lanes", "instances/s", "µs CPU/instance", "synced"}, table)
	return s.WriteJSON("bench-flows.json", rows)
}
