package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// mutantTimeout bounds one run of one check on a mutant; reaching it is an error and not a kill.
const mutantTimeout = 10 * time.Minute

// The rows of the last complete qualification, and those of the last one of some mutants: of test's sample, or of those that were named.
const (
	qualifyFile = "qualify.json"
	partialFile = "qualify-partial.json"
)

// mutantRow is what one check did with one mutant.
type mutantRow struct {
	Mutant     string  `json:"mutant"`
	What       string  `json:"what"`
	At         string  `json:"at"`
	Check      string  `json:"check"`
	Expected   string  `json:"expected"`
	Verdict    string  `json:"verdict"`
	Killed     bool    `json:"killed"`
	Unusable   bool    `json:"unusable,omitempty"` // it does not apply, does not build or changes nothing: its check was not tried
	Executions int     `json:"executions"`         // until the check failed
	Seconds    float64 `json:"seconds"`
	Replay     string  `json:"replay"`
	Error      string  `json:"error,omitempty"`
}

// runQualify shows that the checks can fail: it builds each mutant and demands its rejection.
func runQualify(ctx context.Context, args []string) int { return exit("qualify", qualify(ctx, args)) }

func qualify(ctx context.Context, args []string) error {
	a, err := grammar{words: -1, keys: []string{"seeds"}}.parse(args)
	if err != nil {
		return err
	}
	if _, err := a.count("seeds", 1); err != nil {
		return err
	}
	s, err := open()
	if err != nil {
		return err
	}
	mutants, err := s.selectMutants(a.words)
	if err != nil {
		return err
	}
	rows, err := s.qualifyAll(ctx, mutants, simBounds(a))
	if err != nil {
		return err
	}
	s.printMutants(rows)
	file := qualifyFile
	if len(a.words) > 0 {
		file = partialFile
	}
	survivors := slices.ContainsFunc(rows, func(r mutantRow) bool { return !r.Killed })
	if err := s.WriteJSON(file, rows); err != nil || !survivors {
		return err
	}
	return errFound
}

// selectMutants returns the mutants with the ids, or of the owners, named by words; all for no words.
func (s site) selectMutants(words []string) ([]catalog.Mutant, error) {
	all := s.cat.Mutants()
	if len(words) == 0 {
		if len(all) == 0 {
			return nil, fmt.Errorf("qualify %w: no mutant is declared", errNothing)
		}
		return all, nil
	}
	var selected []catalog.Mutant
	for _, word := range words {
		found := false
		for _, m := range all {
			if m.ID() == word || m.Owner == word || m.Name == word {
				selected, found = append(selected, m), true
			}
		}
		if !found {
			return nil, nothing("no owner and no mutant has the name", word)
		}
	}
	return selected, nil
}

// qualifyAll tries the mutants, as many at a time as there are cores.
func (s site) qualifyAll(ctx context.Context, mutants []catalog.Mutant, bounds []string) ([]mutantRow, error) {
	p := s.NewProgress("qualify", len(mutants))
	defer p.Close()
	p.Label("compiling the originals")
	originals, err := s.originals(ctx, mutants)
	if err != nil {
		return nil, err
	}
	rows := make([][]mutantRow, len(mutants))
	next := make(chan int)
	var workers sync.WaitGroup
	for range max(1, s.Cores) {
		workers.Go(func() {
			for i := range next {
				rows[i] = s.tryMutant(ctx, mutants[i], originals, bounds)
				p.Step(1)
				p.Label(mutants[i].ID())
				for _, r := range rows[i] {
					p.Note("%s", r.line())
				}
			}
		})
	}
	for i := range mutants {
		next <- i
	}
	close(next)
	workers.Wait()
	return slices.Concat(rows...), ctx.Err()
}

func (r mutantRow) line() string {
	if r.Killed {
		return fmt.Sprintf("%-40s killed by %s, %s, %.1f s", r.Mutant, r.Check, r.Verdict, r.Seconds)
	}
	first, _, _ := strings.Cut(r.why(), "\n")
	return fmt.Sprintf("%-40s %s %s: %s", r.Mutant, r.missed(), r.Check, first)
}

// complaint tells what is wrong with a mutant that was not killed.
func (r mutantRow) complaint() string {
	return fmt.Sprintf("%s: mutant %s (%s) %s: %s", r.At, r.Mutant, r.What, r.missed(), r.why())
}

// missed says in one word why a mutant that was not killed fails the qualification.
func (r mutantRow) missed() string {
	if r.Unusable {
		return "UNUSABLE"
	}
	return "SURVIVED"
}

// why is the error, without the word that missed says.
func (r mutantRow) why() string { return strings.TrimPrefix(r.Error, errUnusable.Error()+": ") }

// originals compiles each package whose checks the mutants need, unchanged, once.
func (s site) originals(ctx context.Context, mutants []catalog.Mutant) (map[string]string, error) {
	var dirs []string
	for _, m := range mutants {
		for _, e := range m.Expects {
			if check, ok := s.cat.Check(e.Check); ok && check.Test != nil && !slices.Contains(dirs, check.Test.Dir) {
				dirs = append(dirs, check.Test.Dir)
			}
		}
	}
	binaries, err := s.Compile(ctx, dirs)
	if err != nil {
		return nil, fmt.Errorf("compile originals: %w", err)
	}
	return binaries, nil
}

// lastQualification returns what is known of each mutant: the rows of the last complete qualification, and instead of them those of a
// later one that tried some only. There are none when there was none.
func (s site) lastQualification() ([]mutantRow, error) {
	all, at, err := keptSince[mutantRow](s, qualifyFile)
	if err != nil {
		return nil, err
	}
	some, later, err := keptSince[mutantRow](s, partialFile)
	if err != nil || later.Before(at) {
		return all, err
	}
	all = slices.DeleteFunc(all, func(r mutantRow) bool {
		return slices.ContainsFunc(some, func(x mutantRow) bool { return x.Mutant == r.Mutant })
	})
	return append(all, some...), nil
}

func (s site) printMutants(rows []mutantRow) {
	var table [][]string
	killed, unusable := 0, 0
	for _, r := range rows {
		verdict := r.Verdict
		if r.Killed {
			killed++
		} else {
			verdict = r.missed()
		}
		table = append(table, []string{
			r.Mutant, r.Check, verdict, harness.Count(r.Executions), fmt.Sprintf("%.1f", r.Seconds), r.Replay,
		})
	}
	s.Table([]string{"mutant", "rejected by", "verdict", "executions", "seconds", "counterexample"}, table)
	for _, r := range rows {
		if !r.Killed {
			s.Printf("\n%s\n", r.complaint())
		}
		if r.Unusable {
			unusable++
		}
	}
	s.Printf("\nqualify: %d of %d mutants rejected", killed, len(rows))
	if unusable > 0 {
		s.Printf(", %d unusable", unusable)
	}
	s.Printf("\n")
}

// simulated reports whether a lane's checks leave schedules that replay.
func simulated(lane inventory.Lane) bool {
	return lane == inventory.LaneSim || lane == inventory.LaneExhaustive || lane == inventory.LaneSpec
}
