package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/millrace-dev/millrace/core/store/postgres/pgtest"
)

// flowsRow is one engine on one store, medians of alternating rounds.
type flowsRow struct {
	Name   string  `json:"name"`
	Rate   float64 `json:"instances_per_second"`
	CPU    float64 `json:"cpu_us_per_instance"`
	Server float64 `json:"server_cpu_us_per_instance,omitempty"`
	Resume float64 `json:"resume_p99_ms,omitempty"`
	Sync   string  `json:"sync"`
}

// flowsHeap is the heap with a number of parked instances.
type flowsHeap struct {
	Parked int    `json:"parked"`
	Bytes  uint64 `json:"bytes"`
}

// flowsBar is one demand and what was measured for it.
type flowsBar struct {
	What string  `json:"what"`
	Got  float64 `json:"got"`
	Bar  float64 `json:"bar"`
	Most bool    `json:"most"` // the bar is an upper one
}

func (b flowsBar) holds() bool {
	if b.Most {
		return b.Got <= b.Bar
	}
	return b.Got >= b.Bar
}

// flowsVariant is a program with its arguments. share is its part of the instances: the slow ones run fewer.
type flowsVariant struct {
	name   string
	peer   bool
	server bool
	share  float64
	args   []string
}

// The variants, by the names that bars use.
const (
	onPebble1   = "Millrace, Pebble, 1 lane"
	onPebble8   = "Millrace, Pebble, 8 lanes"
	onPebble64  = "Millrace, Pebble, 64 lanes"
	onSQLite    = "go-workflows, SQLite"
	onPostgres  = "Millrace, PostgreSQL, 64 lanes"
	inGroups    = "Millrace, PostgreSQL, 64 lanes, group commit"
	onDBOS      = "DBOS, PostgreSQL"
	onSlow1     = "Millrace, 5 ms a commit, 1 lane"
	onSlow8     = "Millrace, 5 ms a commit, 8 lanes"
	onSlowAlone = "Millrace, 5 ms a commit, 8 lanes, 4 in flight"
)

// flowsVariants are measured in turn. A package says how many lanes its node has, 1 … 256; the bars are for as many as
// instances are in flight, so that each can be inside its commit: commits that wait together share a sync.
func flowsVariants() []flowsVariant {
	return []flowsVariant{
		{name: onPebble1, share: 1, args: []string{"-lanes", "1"}},
		{name: onPebble8, share: 1, args: []string{"-lanes", "8"}},
		{name: onPebble64, share: 1, args: []string{"-lanes", "64"}},
		{name: onSQLite, peer: true, share: 0.1, args: []string{"-engine", "go-workflows"}},
		{name: onPostgres, server: true, share: 1, args: []string{"-store", "postgres", "-lanes", "64"}},
		{name: inGroups, server: true, share: 1, args: []string{"-store", "postgres", "-lanes", "64", "-group"}},
		{name: onDBOS, peer: true, server: true, share: 0.2, args: []string{"-engine", "dbos"}},
		{name: onSlow1, share: 0.1, args: []string{"-store", "slow", "-lanes", "1"}},
		{name: onSlow8, share: 0.2, args: []string{"-store", "slow", "-lanes", "8"}},
		{name: onSlowAlone, share: 0.1, args: []string{"-store", "slow", "-lanes", "8", "-inflight", "4"}},
	}
}

// flowsBench is one run of the command.
type flowsBench struct {
	site
	server *pgtest.Server
	rounds int
	count  int
	runs   int // makes the name of a schema
}

func runBenchFlows(ctx context.Context, args []string) int {
	return exit("bench-flows", benchFlows(ctx, args))
}

// benchFlows measures instances per second and CPU of the same flow on Millrace's stores and on its peers, in turn, and the heap
// with parked instances.
func benchFlows(ctx context.Context, args []string) (err error) {
	a, err := grammar{keys: []string{"n", "rounds", "parked"}}.parse(args)
	if err != nil {
		return err
	}
	b := &flowsBench{}
	var parked int
	for key, into := range map[string]*int{"n": &b.count, "rounds": &b.rounds, "parked": &parked} { //order:each has its own place
		if *into, err = a.count(key, map[string]int{"n": 5000, "rounds": 3, "parked": 100_000}[key]); err != nil {
			return err
		}
	}
	if b.site, err = open(); err != nil {
		return err
	}
	if err := errors.Join(b.providePostgres(ctx), b.build(ctx)); err != nil {
		return err
	}
	if b.server, err = pgtest.Start(pgtest.Options{Sync: true, Settings: []string{"shared_buffers=256MB", "max_wal_size=4GB"}}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.server.Stop()) }()
	rows, err := b.measure(ctx)
	if err != nil {
		return err
	}
	heaps, err := b.park(ctx, parked)
	if err != nil {
		return err
	}
	others, err := b.stall(ctx)
	if err != nil {
		return err
	}
	bars := append(flowsBars(rows, heaps), flowsBar{What: "steps of the slowest lane beside a slow instance, in parts of its usual", Got: others, Bar: 0.9})
	b.show(rows, heaps, bars)
	if err := b.WriteJSON("bench-flows.json", map[string]any{"rows": rows, "heap": heaps, "bars": bars}); err != nil {
		return err
	}
	for _, bar := range bars {
		if a.flags["--check"] && !bar.holds() {
			return fmt.Errorf("%s: %.2f, bar %.2f: %w", bar.What, bar.Got, bar.Bar, errFound)
		}
	}
	return nil
}

func (b *flowsBench) binary(name string) string { return filepath.Join(b.Root, "out", "bin", name) }

func (b *flowsBench) build(ctx context.Context) error {
	for name, dir := range map[string]string{"flows": "bench/flows", "peers": "bench/peers"} { //order:each is built once
		c := exec.CommandContext(ctx, "go", "build", "-pgo", filepath.Join(b.Root, nodeProfile), "-o", b.binary(name), ".")
		c.Dir = filepath.Join(b.Root, dir)
		if text, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w\n%s", dir, err, text)
		}
	}
	return nil
}

func (b *flowsBench) measure(ctx context.Context) ([]flowsRow, error) {
	variants := flowsVariants()
	all := make([][]flowsRow, len(variants))
	p := b.NewProgress("bench-flows", b.rounds*len(variants))
	defer p.Close()
	for range b.rounds {
		for i, v := range variants {
			r, err := b.one(ctx, v)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", v.name, err)
			}
			all[i] = append(all[i], r)
			p.Step(1)
		}
	}
	var rows []flowsRow
	for i, v := range variants {
		rows = append(rows, flowsRow{
			Name: v.name, Sync: all[i][0].Sync,
			Rate:   median(all[i], func(r flowsRow) float64 { return r.Rate }),
			CPU:    median(all[i], func(r flowsRow) float64 { return r.CPU }),
			Server: median(all[i], func(r flowsRow) float64 { return r.Server }),
			Resume: median(all[i], func(r flowsRow) float64 { return r.Resume }),
		})
	}
	return rows, nil
}

// one runs a variant once, on fresh data.
func (b *flowsBench) one(ctx context.Context, v flowsVariant) (r flowsRow, err error) {
	n := max(100, int(float64(b.count)*v.share))
	args := append([]string{"-n", strconv.Itoa(n)}, v.args...)
	program := "flows"
	if v.peer {
		program = "peers"
	}
	if v.server {
		args = append(args, "-url", b.server.URL())
	}
	if v.server && !v.peer {
		b.runs++
		args = append(args, "-schema", fmt.Sprint("flows", b.runs))
	}
	before := time.Duration(0)
	if v.server {
		if before, err = b.server.CPU(); err != nil {
			return r, err
		}
	}
	text, err := exec.CommandContext(ctx, b.binary(program), args...).Output()
	if err != nil {
		return r, fmt.Errorf("%w%s", err, stderrOf(err))
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, err
	}
	if v.server {
		after, err := b.server.CPU()
		r.Server = float64((after - before).Microseconds()) / float64(n)
		return r, err
	}
	return r, nil
}

func stderrOf(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return ": " + string(exit.Stderr)
	}
	return ""
}

func (b *flowsBench) park(ctx context.Context, n int) ([]flowsHeap, error) {
	text, err := exec.CommandContext(ctx, b.binary("flows"), "-lanes", "64", "-inflight", "256", "-parked", strconv.Itoa(n)).Output()
	if err != nil {
		return nil, fmt.Errorf("park %d instances: %w%s", n, err, stderrOf(err))
	}
	var r struct{ Heap []flowsHeap }
	err = json.Unmarshal(text, &r)
	return r.Heap, err
}

// stall returns what the slowest of eight lanes does while an instance keeps another lane busy, in parts of what it does else.
func (b *flowsBench) stall(ctx context.Context) (float64, error) {
	text, err := exec.CommandContext(ctx, b.binary("flows"), "-store", "slow", "-lanes", "8", "-inflight", "256", "-stall").Output()
	if err != nil {
		return 0, fmt.Errorf("one slow instance: %w%s", err, stderrOf(err))
	}
	var r struct {
		Others float64 `json:"others_beside_a_slow_instance"`
	}
	err = json.Unmarshal(text, &r)
	return r.Others, err
}

// heapSlack is by how much the heap may grow between the first and the last measurement: what a store caches on the way.
const heapSlack = 16 << 20

func flowsBars(rows []flowsRow, heaps []flowsHeap) []flowsBar {
	at := func(name string) flowsRow {
		for _, r := range rows {
			if r.Name == name {
				return r
			}
		}
		return flowsRow{}
	}
	first, last := heaps[0], heaps[len(heaps)-1]
	return []flowsBar{
		{What: "Pebble, 64 lanes, to go-workflows, instances/s", Got: at(onPebble64).Rate / at(onSQLite).Rate, Bar: 50},
		{What: "Pebble, 64 lanes, µs CPU an instance", Got: at(onPebble64).CPU, Bar: 250, Most: true},
		{What: "PostgreSQL to DBOS, instances/s", Got: at(onPostgres).Rate / at(onDBOS).Rate, Bar: 3},
		{What: "PostgreSQL with group commit to DBOS, instances/s", Got: at(inGroups).Rate / at(onDBOS).Rate, Bar: 8},
		{What: "eight lanes to one, 5 ms a commit", Got: at(onSlow8).Rate / at(onSlow1).Rate, Bar: 7.5},
		{What: "p99 of a resume, in commits of 5 ms", Got: at(onSlowAlone).Resume / 5, Bar: 3, Most: true},
		{What: fmt.Sprintf("heap growth from %d to %d parked, MiB", first.Parked, last.Parked), Got: (float64(last.Bytes) - float64(first.Bytes)) / (1 << 20), Bar: heapSlack >> 20, Most: true},
	}
}

func (b *flowsBench) show(rows []flowsRow, heaps []flowsHeap, bars []flowsBar) {
	b.Printf("start → task → message → task → end; up to %d instances, 64 in flight unless the row says otherwise; medians of %d rounds\n", b.count, b.rounds)
	var table [][]string
	for _, r := range rows {
		table = append(table, []string{
			r.Name, fmt.Sprintf("%.0f", r.Rate), fmt.Sprintf("%.0f", r.CPU), fmt.Sprintf("%.0f", r.Server), fmt.Sprintf("%.1f", r.Resume), r.Sync,
		})
	}
	b.Table([]string{"engine", "instances/s", "µs CPU/instance", "server's µs CPU", "p99 resume ms", "every commit durable by"}, table)
	table = nil
	for _, h := range heaps {
		table = append(table, []string{fmt.Sprint(h.Parked), fmt.Sprintf("%.1f", float64(h.Bytes)/(1<<20))})
	}
	b.Table([]string{"parked", "heap MiB"}, table)
	table = nil
	for _, bar := range bars {
		sign, verdict := "≥", "holds"
		if bar.Most {
			sign = "≤"
		}
		if !bar.holds() {
			verdict = "MISSED"
		}
		table = append(table, []string{bar.What, fmt.Sprintf("%.2f", bar.Got), fmt.Sprintf("%s %.1f", sign, bar.Bar), verdict})
	}
	b.Table([]string{"bar", "measured", "demanded", ""}, table)
}
