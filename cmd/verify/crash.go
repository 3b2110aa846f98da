package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/cmd/internal/orders"
	example "github.com/millrace-dev/millrace/examples/orders"
)

// crashOptions are the bounds of a crash run.
type crashOptions struct {
	runs, orders int
	seed         uint64
}

// crashRow is one run: where the node died, and what the account said.
type crashRow struct {
	Run int `json:"run"`
	// Points are the failpoints at which the node is to die, one after the other; a run without any kills it at random
	// instants alone.
	Points  []crashPoint `json:"points,omitempty"`
	Deaths  int          `json:"deaths"`
	Retries int64        `json:"retries"`
	Lines   int          `json:"lines"`
	Seconds float64      `json:"seconds"`
	Faults  []string     `json:"faults"`
	Folder  string       `json:"folder,omitempty"`
}

// crashPoint is one failpoint of a run, and whether the node died there.
type crashPoint struct {
	Name    string `json:"name"`
	Hit     int    `json:"hit"`
	Reached bool   `json:"reached"`
}

// crashPoints are the failpoints between write, fsync, commit, acknowledge and outbox delete. A node that is started with
// MILLRACE_FAILPOINT=NAME:N ends itself with SIGKILL when it reaches NAME for the N-th time.
var crashPoints = []string{
	"sink/before-write", "sink/after-write", "sink/after-sync", "sink/after-commit", "sink/after-settle",
	"store/before-apply", "store/after-apply", "store/after-sync",
	"source/before-reply", "outbox/before-send", "outbox/before-delete",
}

// crashPointHits is the range of the drawn hit.
const crashPointHits = 12

// pointRuns is from how many runs on a failpoint at which no run died is a finding: each has a run of its own then. With fewer runs it is
// only told.
const pointRuns = 30

func runCrash(ctx context.Context, args []string) int { return exit("crash", crash(ctx, args)) }

// crash runs the orders example over and over: even runs kill the node at random instants, odd ones at failpoints, so many
// that all of them have their turn. Each must end with a balanced account. Then a replica dies at each point of an activation.
func crash(ctx context.Context, args []string) error {
	o := crashOptions{}
	f := flag.NewFlagSet("crash", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.IntVar(&o.runs, "runs", 30, "")
	f.IntVar(&o.orders, "orders", 10_000, "")
	f.Uint64Var(&o.seed, "seed", 1, "")
	if err := f.Parse(args); err != nil || f.NArg() > 0 || o.runs < 1 || o.orders < 1 {
		return usagef("crash [--runs N] [--orders N] [--seed S]")
	}
	s, err := open()
	if err != nil {
		return err
	}
	binary := filepath.Join(s.Root, "out", "bin", "millrace")
	if err := s.run(ctx, "go", "build", "-o", binary, "./cmd/millrace"); err != nil {
		return err
	}
	var rows []crashRow
	var table [][]string
	p := s.NewProgress("crash", o.runs)
	failed := 0
	for i := range o.runs {
		row, err := crashRun(ctx, binary, o, i)
		if err != nil {
			return fmt.Errorf("run %d: %w", i, err)
		}
		p.Label(row.cells()[1])
		p.Step(1)
		if len(row.Faults) > 0 {
			failed++
		}
		rows = append(rows, row)
		table = append(table, row.cells())
	}
	p.Close()
	s.Table([]string{"run", "where", "reached", "deaths", "sent again", "lines", "seconds", "account"}, table)
	if missed := missedPoints(rows); len(missed) > 0 {
		s.Printf("failpoints at which no run died: %s\n", strings.Join(missed, ", "))
		if o.runs >= pointRuns {
			failed++
		}
	}
	for _, r := range rows {
		if len(r.Faults) > 0 {
			s.Printf("run %d: all differences are in %s\n", r.Run, filepath.Join(r.Folder, orders.FaultsFile))
		}
		for _, fault := range r.Faults {
			s.Printf("run %d (--seed %d, data in %s): %s\n", r.Run, o.seed, r.Folder, fault)
		}
	}
	if failed > 0 {
		err = errFound
	}
	activations, failure := s.crashActivations(ctx, binary, o.seed)
	if failure == nil {
		failure = s.activationTable(activations)
	}
	return errors.Join(s.WriteJSON("crash.json", rows), s.WriteJSON("crash-activate.json", activations), err, failure)
}

func (r crashRow) cells() []string {
	where, reached := "random instants", "-"
	if len(r.Points) > 0 {
		where, reached = r.Points[0].Name, fmt.Sprintf("%d of %d", len(r.Points)-r.pending(), len(r.Points))
		if more := len(r.Points) - 1; more > 0 {
			where += fmt.Sprintf(" and %d more", more)
		}
	}
	return []string{
		fmt.Sprint(r.Run), where, reached, fmt.Sprint(r.Deaths), fmt.Sprint(r.Retries), fmt.Sprint(r.Lines),
		fmt.Sprintf("%.1f", r.Seconds), faultsWord(r.Faults),
	}
}

// pending returns how many failpoints the node has not died at yet: the last ones.
func (r crashRow) pending() int {
	n := 0
	for _, p := range r.Points {
		if !p.Reached {
			n++
		}
	}
	return n
}

// arm makes the node die at the next failpoint when it is started again, and at none when all have had their turn.
func (r *crashRow) arm(n *orders.Node) {
	n.Env = nil
	if left := r.pending(); left > 0 {
		p := r.Points[len(r.Points)-left]
		n.Env = []string{fmt.Sprintf("MILLRACE_FAILPOINT=%s:%d", p.Name, p.Hit)}
	}
}

// died notes that the node has died at its failpoint.
func (r *crashRow) died() {
	r.Points[len(r.Points)-r.pending()].Reached = true
	r.Deaths++
}

// pointsOf draws the failpoints of a run. Odd runs share them, each several when there are few runs; a single run has all.
func pointsOf(r *rand.Rand, run, runs int) (points []crashPoint) {
	if run%2 == 0 && runs > 1 {
		return nil
	}
	sharing := max(runs/2, 1)
	for i := range max(len(crashPoints), sharing) {
		if i%sharing == run/2 {
			points = append(points, crashPoint{Name: crashPoints[i%len(crashPoints)], Hit: 1 + r.IntN(crashPointHits)})
		}
	}
	return points
}

// missedPoints lists the failpoints at which no run died, in their order.
func missedPoints(rows []crashRow) []string {
	died := map[string]bool{}
	for _, r := range rows {
		for _, p := range r.Points {
			died[p.Name] = died[p.Name] || p.Reached
		}
	}
	var missed []string
	for _, p := range crashPoints {
		if !died[p] {
			missed = append(missed, p)
		}
	}
	return missed
}

func faultsWord(faults []string) string {
	if len(faults) == 0 {
		return "balances"
	}
	return fmt.Sprintf("%d FAULTS", len(faults))
}

// crashRun is one run in a folder of its own, kept when the account does not balance.
func crashRun(ctx context.Context, binary string, o crashOptions, i int) (row crashRow, err error) {
	dir, err := os.MkdirTemp("", "millrace-crash-")
	if err != nil {
		return row, err
	}
	row = crashRow{Run: i, Folder: dir}
	defer func() {
		if err == nil && len(row.Faults) == 0 {
			row.Folder = ""
			err = os.RemoveAll(dir)
		}
	}()
	r := rand.New(rand.NewPCG(o.seed, uint64(i)))
	pkg, data := filepath.Join(dir, "package"), filepath.Join(dir, "data")
	address, err := orders.FreeAddress()
	if err := errors.Join(err, os.CopyFS(pkg, example.FS), os.MkdirAll(data, 0o755)); err != nil {
		return row, err
	}
	n := &orders.Node{Binary: binary, Package: pkg, Data: data, Address: address}
	row.Points = pointsOf(r, i, o.runs)
	row.arm(n)
	in := orders.Generate(r.Uint64(), o.orders, 50)
	row.Lines = in.Lines
	started := time.Now()
	a, err := crashFeed(ctx, n, in, r, &row)
	row.Seconds = time.Since(started).Seconds()
	if err == nil {
		row.Faults = a.Shown()
		err = a.Keep(dir)
	}
	return row, err
}

// crashFeed sends everything while the node dies and comes back, then balances the account.
func crashFeed(ctx context.Context, n *orders.Node, in *orders.Input, r *rand.Rand, row *crashRow) (a *orders.Account, err error) {
	path := filepath.Join(n.Data, "..", "client.log")
	log, err := orders.NewLog(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	client := &orders.Client{Base: "http://" + n.Address, Input: in, Log: log, Workers: 4, Answered: func(int) {}}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := crashStart(ctx, n, row); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	go func() { done <- client.Run(ctx) }()
	if err := crashLoop(ctx, n, r, row, done); err != nil {
		cancel(err)
		return nil, errors.Join(err, n.Kill())
	}
	row.Retries = client.Retries.Load()
	flows, err := orders.Flows(ctx, n)
	if err := errors.Join(err, n.Stop(ctx)); err != nil {
		return nil, err
	}
	if a, err = orders.BalanceLog(in, path, n.Data); err == nil {
		a.CheckFlows(flows)
	}
	return a, err
}

// crashStart starts the node. A point of the store may lie before it is ready: then it dies there and starts once more.
func crashStart(ctx context.Context, n *orders.Node, row *crashRow) error {
	for {
		err := n.Start(ctx)
		if err == nil || n.Env == nil {
			return err
		}
		select {
		case <-n.Gone():
		default:
			return err
		}
		if n.Status() != -1 {
			return err
		}
		row.died()
		row.arm(n)
		if err := n.Kill(); err != nil {
			return err
		}
	}
}

// maxDeaths bounds how often a run kills its node at random instants, so that it ends.
const maxDeaths = 6

func crashLoop(ctx context.Context, n *orders.Node, r *rand.Rand, row *crashRow, done <-chan error) error {
	for {
		var instant <-chan time.Time
		if n.Env == nil && row.Deaths < maxDeaths {
			instant = time.After(time.Duration(5+r.IntN(250)) * time.Millisecond)
		}
		select {
		case err := <-done:
			return err
		case <-n.Gone():
			if n.Env == nil || n.Status() != -1 {
				return fmt.Errorf("node ended by itself with status %d", n.Status())
			}
			row.died()
			row.arm(n) // after the last one it dies at random instants
		case <-instant:
			row.Deaths++
		}
		if err := errors.Join(n.Kill(), crashStart(ctx, n, row)); err != nil {
			return err
		}
	}
}
