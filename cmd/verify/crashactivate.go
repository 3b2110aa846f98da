package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/millrace-dev/millrace/cmd/verify/internal/chaos"
)

// activationTime is how long clients run around an activation that dies.
const activationTime = 6 * time.Second

// activationRow is one death of a replica in the middle of `millrace apply`.
type activationRow struct {
	Point     string   `json:"point"`
	Store     string   `json:"store"`
	Instances int      `json:"instances"`
	Lost      int      `json:"lost"` // answers
	Seconds   float64  `json:"seconds"`
	Faults    []string `json:"faults"`
	Folder    string   `json:"folder,omitempty"`
}

// crashActivations kills a replica at each point of the activation that it was asked for, while clients go on. What died before the decision
// was durable must have left nothing, what died after it must be active, and every instance must be accounted for. First the replica is alone
// on its own store, then it is one of three on a database.
func (s site) crashActivations(ctx context.Context, binary string, seed uint64) (rows []activationRow, err error) {
	if err := s.providePostgres(ctx); err != nil {
		return nil, err
	}
	p := s.NewProgress("crash activate", 2*len(chaos.Points()))
	defer p.Close()
	for i, point := range chaos.Points() {
		p.Label(point + " alone")
		row, err := s.crashAlone(ctx, binary, point, i%2 == 1)
		p.Step(1)
		if rows = append(rows, row); err != nil {
			return rows, err
		}
	}
	for _, point := range chaos.Points() {
		dir, err := os.MkdirTemp("", "millrace-crash-")
		if err != nil {
			return rows, err
		}
		p.Label(point)
		began := time.Now()
		rep, err := chaos.Run(ctx, chaos.Options{Binary: binary, Dir: dir, Seed: seed, Time: activationTime, Point: point})
		if err != nil {
			return rows, fmt.Errorf("activation that dies at %s (data in %s): %w", point, dir, err)
		}
		p.Step(1)
		row := activationRow{
			Point: point, Store: "postgresql", Instances: rep.Keys, Lost: rep.Outcomes[chaos.Lost], Seconds: time.Since(began).Seconds(), Faults: rep.Wrong, Folder: dir,
		}
		if len(row.Faults) == 0 {
			row.Folder = ""
			err = os.RemoveAll(dir)
		}
		if rows = append(rows, row); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// activationTable prints the rows and returns errFound when one does not hold.
func (s site) activationTable(rows []activationRow) error {
	var table [][]string
	var err error
	for _, r := range rows {
		table = append(table, []string{r.Point, r.Store, fmt.Sprint(r.Instances), fmt.Sprint(r.Lost), fmt.Sprintf("%.1f", r.Seconds), faultsWord(r.Faults)})
	}
	s.Table([]string{"apply dies at", "store", "instances", "answers lost", "seconds", "account"}, table)
	for _, r := range rows {
		for _, fault := range r.Faults {
			err = errFound
			s.Printf("%s (data in %s): %s\n", r.Point, r.Folder, fault)
		}
	}
	return err
}
