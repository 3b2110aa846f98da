package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/cmd/verify/internal/chaos"
)

// The time of the faults of a run: of one that somebody asks for, and of the one that gates.
const (
	chaosDefault = 60 * time.Second
	chaosGating  = 30 * time.Second
)

// chaosClients is how many clients there are unless somebody wants more.
const chaosClients = 24

// chaosGatingSeed is fixed, so that the plan of the run that gates is one that is known to hold every fault.
const chaosGatingSeed = 1

// runChaos runs replicas under faults and judges what their clients saw.
func runChaos(ctx context.Context, args []string) int { return exit("chaos", chaosCommand(ctx, args)) }

func chaosCommand(ctx context.Context, args []string) error {
	a, err := grammar{keys: []string{"time", "seed", "clients", "break"}}.parse(args)
	if err != nil {
		return err
	}
	o := chaos.Options{Time: chaosDefault, Seed: uint64(time.Now().Unix()), Break: a.values["break"]}
	if text := a.values["time"]; text != "" {
		if o.Time, err = time.ParseDuration(text); err != nil || o.Time < time.Second || o.Time > time.Hour {
			return usagef("time=%s: not a time from 1s to 1h", text)
		}
	}
	if o.Seed, err = a.seed(o.Seed); err != nil {
		return err
	}
	if o.Clients, err = a.count("clients", chaosClients); err != nil {
		return err
	}
	if o.Break != "" && !slices.Contains(chaos.Breaks(), o.Break) {
		return usagef("break=%s: want one of %s", o.Break, strings.Join(chaos.Breaks(), ", "))
	}
	s, err := open()
	if err != nil {
		return err
	}
	if err := s.providePostgres(ctx); err != nil {
		return err
	}
	return s.chaos(ctx, o)
}

// chaosStep is the run that gates.
func (g *gate) chaosStep(ctx context.Context) (tally, error) {
	return one(g.chaos(ctx, chaos.Options{Time: chaosGating, Seed: chaosGatingSeed, Clients: chaosClients}))
}

// chaos carries out one run and prints what it showed. Its folder stays when something does not hold.
func (s site) chaos(ctx context.Context, o chaos.Options) error {
	var err error
	if o.Binary, err = s.Path("bin", "millrace"); err != nil {
		return err
	}
	if err := s.run(ctx, "go", "build", "-o", o.Binary, "./cmd/millrace"); err != nil {
		return err
	}
	if o.Dir, err = s.Path("chaos", fmt.Sprintf("seed-%d-%d", o.Seed, time.Now().UnixMilli())); err != nil {
		return err
	}
	p := s.NewProgress("chaos", 0)
	p.Label(fmt.Sprintf("seed %d, faults for %v", o.Seed, o.Time))
	rep, err := chaos.Run(ctx, o)
	p.Close()
	again := fmt.Sprintf("./just chaos time=%v seed=%d clients=%d", o.Time, o.Seed, o.Clients)
	if o.Break != "" {
		again += " break=" + o.Break
	}
	if err != nil {
		return fmt.Errorf("seed %d (%s; its folder is %s): %w", o.Seed, again, o.Dir, err)
	}
	s.chaosTable(rep)
	if err := s.WriteJSON("chaos.json", rep); err != nil {
		return err
	}
	if len(rep.Wrong) == 0 {
		return os.RemoveAll(o.Dir)
	}
	for i, wrong := range rep.Wrong {
		if i == maxWrong {
			s.Printf("… and %d more, in %s\n", len(rep.Wrong)-i, filepath.Join(o.Dir, "wrong.txt"))
			break
		}
		s.Printf("%s\n", wrong)
	}
	s.Printf("seed %d; logs, plan and history are in %s\nagain: %s\n", o.Seed, o.Dir, again)
	return errFound
}

// maxWrong bounds what is printed of a failed run.
const maxWrong = 20

func (s site) chaosTable(rep *chaos.Report) {
	var faults, operations, outcomes, seconds []string
	for _, f := range slices.Sorted(maps.Keys(rep.Faults)) {
		faults = append(faults, fmt.Sprintf("%s %d", f, rep.Faults[f]))
	}
	for _, k := range slices.Sorted(maps.Keys(rep.Operations)) {
		operations = append(operations, fmt.Sprintf("%s %d (at most %.1f s)", k, rep.Operations[k], rep.Slowest[k]))
	}
	for _, k := range slices.Sorted(maps.Keys(rep.Outcomes)) {
		outcomes = append(outcomes, fmt.Sprintf("%s %d", k, rep.Outcomes[k]))
	}
	for _, k := range slices.Sorted(maps.Keys(rep.Seconds)) {
		seconds = append(seconds, fmt.Sprintf("%s %.1f", k, rep.Seconds[k]))
	}
	s.Table([]string{"chaos", fmt.Sprintf("seed %d", rep.Seed)}, [][]string{
		{"faults", strings.Join(faults, ", ")},
		{"instances", fmt.Sprint(rep.Keys)},
		{"operations", strings.Join(operations, ", ")},
		{"answers", strings.Join(outcomes, ", ")},
		{"rows in files", fmt.Sprintf("%d, %d different", rep.Rows[0], rep.Rows[1])},
		{"posts", fmt.Sprintf("%d, %d different", rep.Posts[0], rep.Posts[1])},
		{"seconds", strings.Join(seconds, ", ")},
		{"account and history", faultsWord(rep.Wrong)},
	})
}
