package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
	"github.com/millrace-dev/millrace/tla/check"
	"github.com/millrace-dev/millrace/tla/specs"
)

// Bars of the checker on two cores.
const (
	minStates = 4e6                    // generated per second, TwoPhase with 8 resource managers
	maxBytes  = 120                    // of peak memory for each distinct state of it
	maxStart  = 100 * time.Millisecond // a model below smallStates, from start of the process to its end
)

const (
	smallStates = 10_000
	tlaRounds   = 3
	maxEvent    = 10_000 // nanoseconds of a processor for one event of a binding, with every word of the owner shown
)

// explored is one run of the checker in a process of its own.
type explored struct {
	Model     string  `json:"model"`
	Verdict   string  `json:"verdict"`
	Generated int     `json:"generated"`
	Distinct  int     `json:"distinct"`
	Depth     int     `json:"depth"`
	Wall      float64 `json:"wall_seconds"`
	CPU       float64 `json:"cpu_seconds"`
	Peak      int     `json:"peak_bytes"`
}

// tlaReport is out/bench-tla.json.
type tlaReport struct {
	TwoPhase []explored  `json:"two_phase"`
	Small    []explored  `json:"small"`
	Specs    []explored  `json:"specifications"`
	Events   []validated `json:"trace_validation"`
	missed   []error
}

// runBenchTLA measures the specification checker.
func runBenchTLA(ctx context.Context, args []string) int {
	return exit("bench-tla", benchTLA(ctx, args))
}

func benchTLA(ctx context.Context, args []string) error {
	a, err := grammar{keys: []string{"rounds"}, flags: []string{"--check"}}.parse(args)
	if err != nil {
		return err
	}
	rounds, err := a.count("rounds", tlaRounds)
	if err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	var r tlaReport
	if err := s.measureTLA(ctx, &r, rounds); err != nil {
		return err
	}
	if err := s.measureEvents(ctx, &r, rounds); err != nil {
		return err
	}
	s.printTwoPhase(&r)
	s.printSmall(&r)
	s.printExplored("specifications of the repository, small models", r.Specs)
	s.printEvents(&r)
	if err := s.WriteJSON("bench-tla.json", r); err != nil {
		return err
	}
	if a.flags["--check"] {
		return errors.Join(r.missed...)
	}
	return nil
}

func (s site) measureTLA(ctx context.Context, r *tlaReport, rounds int) error {
	p := s.NewProgress("bench-tla", 0)
	defer p.Close()
	data := filepath.Join(s.Root, "tla", "testdata")
	measure := func(to *[]explored, module, config string) error {
		p.Label(filepath.Base(config))
		p.Step(1)
		x, err := s.explore(ctx, module, config)
		*to = append(*to, x)
		return err
	}
	for range rounds {
		if err := measure(&r.TwoPhase, filepath.Join(data, "TwoPhase.tla"), filepath.Join(data, "TwoPhase-8.cfg")); err != nil {
			return err
		}
	}
	for _, m := range [][2]string{{"Clock", "ok"}, {"Counter", "ok"}, {"Fine", "ok"}, {"Token", "ok"}, {"All", "ok"}, {"TwoPhase", "4"}} {
		for range rounds {
			if err := measure(&r.Small, filepath.Join(data, m[0]+".tla"), filepath.Join(data, m[0]+"-"+m[1]+".cfg")); err != nil {
				return err
			}
		}
	}
	all, err := specs.Find(filepath.Join(s.Root, "tla"))
	if err != nil {
		return err
	}
	for _, protocol := range all {
		for _, m := range protocol.Models {
			if m.Kind != specs.Small {
				continue
			}
			if err := measure(&r.Specs, m.Module, m.Config); err != nil {
				return err
			}
		}
	}
	return nil
}

// explore checks a model in a process of its own: this program again, as "tla check".
func (s site) explore(ctx context.Context, module, config string) (explored, error) {
	x := explored{Model: filepath.Base(config)}
	self, err := os.Executable()
	if err != nil {
		return x, fmt.Errorf("find this program: %w", err)
	}
	file, err := s.Path("bench-tla-result.json")
	if err != nil {
		return x, err
	}
	cmd := exec.CommandContext(ctx, self, "tla", "check", "-quiet", "-json", file, module, config)
	started := time.Now()
	text, err := cmd.CombinedOutput()
	x.Wall = time.Since(started).Seconds()
	var status *exec.ExitError
	if err != nil && (!errors.As(err, &status) || status.ExitCode() < int(check.Assumption)) {
		return x, fmt.Errorf("check %s: %w\n%s", config, err, text)
	}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		x.Peak = int(u.Maxrss) * 1024
	}
	x.CPU = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	result, err := os.ReadFile(file)
	if err != nil {
		return x, fmt.Errorf("read result of %s: %w", config, err)
	}
	if err := json.Unmarshal(result, &x); err != nil {
		return x, fmt.Errorf("read result of %s: %w", config, err)
	}
	return x, nil
}

func (s site) printTwoPhase(r *tlaReport) {
	rate := median(r.TwoPhase, func(x explored) float64 { return float64(x.Generated) / x.Wall })
	core := median(r.TwoPhase, func(x explored) float64 { return float64(x.Generated) / x.CPU })
	size := median(r.TwoPhase, func(x explored) float64 { return float64(x.Peak) / float64(x.Distinct) })
	x := r.TwoPhase[0]
	s.Printf("TwoPhase with 8 resource managers: %s generated, %s distinct, depth %d; medians of %d runs on %d cores\n", harness.Count(x.Generated), harness.Count(x.Distinct), x.Depth, len(r.TwoPhase), runtime.NumCPU())
	s.Table([]string{"figure", "measured", "bar", ""}, [][]string{
		r.judge("generated states per second", fmt.Sprintf("%.2f M", rate/1e6), fmt.Sprintf("≥ %.0f M", minStates/1e6), rate >= minStates),
		{"generated states per core-second", fmt.Sprintf("%.2f M", core/1e6), "", ""},
		r.judge("bytes per distinct state, peak of the process", fmt.Sprintf("%.0f", size), fmt.Sprintf("≤ %d", maxBytes), size <= maxBytes),
	})
}

// judge is a row of a table; a bar that does not hold is noted.
func (r *tlaReport) judge(figure, measured, bar string, ok bool) []string {
	if ok {
		return []string{figure, measured, bar, "ok"}
	}
	r.missed = append(r.missed, fmt.Errorf("%s: %s, expected %s", figure, measured, bar))
	return []string{figure, measured, bar, "MISSED"}
}

func (s site) printSmall(r *tlaReport) {
	worst := map[string]float64{}
	byModel := map[string][]explored{}
	var order []string
	for _, x := range r.Small {
		if byModel[x.Model] == nil {
			order = append(order, x.Model)
		}
		byModel[x.Model] = append(byModel[x.Model], x)
	}
	slowest := ""
	for _, name := range order {
		worst[name] = median(byModel[name], func(x explored) float64 { return x.Wall })
		if slowest == "" || worst[name] > worst[slowest] {
			slowest = name
		}
	}
	s.Printf("\n%d models below %s states, each in a process of its own, medians\n", len(order), harness.Count(smallStates))
	s.Table([]string{"figure", "measured", "bar", ""}, [][]string{
		r.judge("slowest, start-up included: "+slowest, fmt.Sprintf("%.0f ms", worst[slowest]*1000), fmt.Sprintf("≤ %d ms", maxStart.Milliseconds()), worst[slowest] <= maxStart.Seconds()),
	})
}

func (s site) printExplored(title string, all []explored) {
	var rows [][]string
	for _, x := range all {
		rows = append(rows, []string{
			x.Model, x.Verdict, harness.Count(x.Generated), harness.Count(x.Distinct), fmt.Sprint(x.Depth),
			fmt.Sprintf("%.2f", x.Wall), fmt.Sprintf("%.2f", x.CPU), harness.Count(int(float64(x.Generated) / x.Wall)),
		})
	}
	s.Printf("\n%s\n", title)
	s.Table([]string{"model", "result", "generated", "distinct", "depth", "seconds", "CPU", "states/s"}, rows)
}
