package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
	"github.com/millrace-dev/millrace/tla/specs"
	"github.com/millrace-dev/millrace/tla/tlacmd"
)

// runTLA checks the specifications of the repository: all of them, or those of one protocol. With a command of the
// specification checker it hands over to that, whose exit statuses tell violations apart.
func runTLA(ctx context.Context, args []string) int {
	if len(args) > 0 && slices.Contains(tlacmd.Commands(), args[0]) {
		return tlacmd.Main(args, os.Stdout, os.Stderr)
	}
	return exit("tla", checkSpecs(ctx, args))
}

func checkSpecs(ctx context.Context, args []string) error {
	a, err := grammar{words: 1, flags: []string{"--gating"}}.parse(args)
	if err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	run := specRun{site: s, protocol: a.word(), gating: a.flags["--gating"]}
	if err := run.all(ctx); err != nil {
		return err
	}
	return run.err()
}

// specRun is one run over the specifications.
type specRun struct {
	site     `json:"-"`
	protocol string
	gating   bool        // small models and their mutants only
	Rows     []specs.Row `json:"rows"`
	Seconds  float64     `json:"seconds"`
}

// job is one model, or one mutant in its model.
type job struct {
	name string
	run  func() specs.Row
}

func (r *specRun) err() error {
	if slices.ContainsFunc(r.Rows, func(row specs.Row) bool { return !row.OK }) {
		return errFound
	}
	return nil
}

// all checks what is selected and prints the table. A model that does not hold is a row; the error says that nothing
// could be checked, or that a folder does not follow the convention.
func (r *specRun) all(ctx context.Context) error {
	jobs, faults := r.jobs()
	if len(jobs) == 0 {
		return errors.Join(faults, nothing("models of a protocol", r.protocol))
	}
	started := time.Now()
	p := r.NewProgress("tla", len(jobs))
	for _, j := range jobs {
		if ctx.Err() != nil {
			break
		}
		p.Label(j.name)
		row := j.run()
		p.Step(1)
		r.Rows = append(r.Rows, row)
		if !row.OK {
			p.Note("--- %s: expected %s, found %s\n%s", j.name, row.Expected, row.Found, harness.Tail(row.Detail, 60))
		}
	}
	p.Close()
	r.Seconds = time.Since(started).Seconds()
	r.print()
	name := "tla.json"
	if r.protocol != "" {
		name = "tla-" + harness.Slug(r.protocol) + ".json"
	}
	return errors.Join(faults, ctx.Err(), r.WriteJSON(name, r))
}

func (r *specRun) jobs() ([]job, error) {
	all, faults := specs.Find(filepath.Join(r.Root, "tla"))
	var jobs []job
	for _, p := range all {
		if r.protocol != "" && p.Name != r.protocol {
			continue
		}
		for _, m := range p.Models {
			if !r.gating || m.Kind == specs.Small {
				jobs = append(jobs, job{p.Name + " " + m.Name, func() specs.Row { return p.Check(m) }})
			}
		}
		for _, m := range p.Mutants {
			if !r.gating || m.Model.Kind == specs.Small {
				jobs = append(jobs, job{p.Name + " mutant " + m.Name, func() specs.Row { return p.CheckMutant(m) }})
			}
		}
	}
	return jobs, faults
}

func (r *specRun) print() {
	var rows [][]string
	for _, row := range r.Rows {
		name, result := row.Model, row.Found
		if row.Mutant != "" {
			name += " with " + row.Mutant
		}
		if row.Mutant != "" && row.OK {
			result = "violates " + row.Found
		}
		if !row.OK {
			result += " (FAILED: expected " + row.Expected + ")"
		}
		rows = append(rows, []string{
			row.Protocol, name, result, harness.Count(row.Generated), harness.Count(row.Distinct),
			fmt.Sprint(row.Depth), fmt.Sprintf("%.2f", row.Seconds),
		})
	}
	r.Table([]string{"protocol", "model", "result", "generated", "distinct", "depth", "seconds"}, rows)
	models, mutants := 0, 0
	for _, row := range r.Rows {
		if row.Mutant == "" {
			models++
		} else {
			mutants++
		}
	}
	r.Printf("\n%d models, %d mutants, %.1f s\n", models, mutants, r.Seconds)
}

// specsStep is the step of the gate: small models and their mutants.
func (g *gate) specsStep(ctx context.Context) (tally, error) {
	run := specRun{site: g.site, gating: true}
	if err := run.all(ctx); err != nil {
		return tally{}, err
	}
	var t tally
	for _, row := range run.Rows {
		if row.OK {
			t.passed++
		} else {
			t.failed++
		}
	}
	return t, nil
}

// specs runs the step, unless the tree has no specification at all.
func (g *gate) specs(ctx context.Context) {
	if _, err := specs.Find(filepath.Join(g.Root, "tla")); errors.Is(err, specs.ErrNone) {
		g.Printf("== tla\n   no specification in this tree\n")
		return
	}
	g.step(ctx, "tla", g.specsStep)
}
