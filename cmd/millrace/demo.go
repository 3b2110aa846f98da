package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/millrace-dev/millrace/cmd/internal/orders"
	example "github.com/millrace-dev/millrace/examples/orders"
)

// demoOptions are the demo's flags. Without arguments it is the run that the README describes.
type demoOptions struct {
	orders, kills, perBody, workers int
	seed                            uint64
	dir                             string
}

func demo(ctx context.Context, args []string, out, errs io.Writer) int {
	o := demoOptions{perBody: 250, workers: 8}
	f := flag.NewFlagSet("demo", flag.ContinueOnError)
	f.SetOutput(errs)
	f.IntVar(&o.orders, "orders", 100_000, "orders to send")
	f.IntVar(&o.kills, "kills", 2, "times to kill the node")
	f.Uint64Var(&o.seed, "seed", 1, "seed of the orders")
	f.StringVar(&o.dir, "dir", "", "folder for data and outputs; a temporary one when empty")
	if err := f.Parse(args); err != nil || f.NArg() > 0 || o.orders < 1 || o.kills < 0 {
		say(errs, "usage: millrace demo [--orders N] [--kills N] [--seed N] [--dir DIR]\n")
		return statusRefused
	}
	a, err := runDemo(ctx, o, out)
	if err != nil {
		say(errs, "millrace demo: %v\n", err)
		return statusFailed
	}
	if len(a.Faults) > 0 {
		for _, fault := range a.Shown() {
			say(errs, "  %s\n", fault)
		}
		say(errs, "millrace demo: the account does not balance\n")
		return statusFailed
	}
	return statusOK
}

func runDemo(ctx context.Context, o demoOptions, out io.Writer) (a *orders.Account, err error) {
	dir, cleanup, err := demoFolder(o.dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err == nil && len(a.Faults) == 0 {
			err = cleanup()
		} else {
			say(out, "data is kept in %s\n", dir)
		}
	}()
	in := orders.Generate(o.seed, o.orders, o.perBody)
	say(out, "orders   %d lines in %d bodies: %d different orders, %d copies, %d malformed\n", in.Lines, len(in.Bodies), len(in.Unique), in.Copies, in.Bad)
	n, err := demoNode(dir)
	if err != nil {
		return nil, err
	}
	log, err := orders.NewLog(filepath.Join(dir, "client.log"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	show := newProgress(out, in.Lines)
	client := &orders.Client{Base: "http://" + n.Address, Input: in, Log: log, Workers: o.workers}
	started := time.Now()
	if err := feed(ctx, n, client, o.kills, show); err != nil {
		return nil, err
	}
	elapsed := time.Since(started)
	flows, flowErr := orders.Flows(ctx, n)
	if err := errors.Join(flowErr, n.Stop(ctx)); err != nil {
		return nil, err
	}
	a, err = orders.BalanceLog(in, filepath.Join(dir, "client.log"), n.Data)
	if err != nil {
		return nil, err
	}
	a.CheckFlows(flows)
	account(out, a, client, flows, elapsed, o.kills)
	return a, nil
}

// demoFolder returns an existing folder and what removes it when it was temporary.
func demoFolder(dir string) (string, func() error, error) {
	if dir != "" {
		dir, err := filepath.Abs(dir)
		return dir, func() error { return nil }, errors.Join(err, os.MkdirAll(dir, 0o755))
	}
	dir, err := os.MkdirTemp("", "millrace-demo-")
	return dir, func() error { return os.RemoveAll(dir) }, err
}

func demoNode(dir string) (*orders.Node, error) {
	pkg, data := filepath.Join(dir, "package"), filepath.Join(dir, "data")
	if err := errors.Join(os.CopyFS(pkg, example.FS), os.MkdirAll(data, 0o755)); err != nil {
		return nil, fmt.Errorf("lay out demo: %w", err)
	}
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	address, err := orders.FreeAddress()
	if err != nil {
		return nil, err
	}
	return &orders.Node{Binary: binary, Package: pkg, Data: data, Address: address}, nil
}

// feed runs the client and kills the node at equal parts of the way.
func feed(ctx context.Context, n *orders.Node, client *orders.Client, kills int, show *progress) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	bodies := len(client.Input.Bodies)
	reached := make(chan int, bodies)
	client.Answered = func(n int) { reached <- n }
	if err := n.Start(ctx); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- client.Run(ctx) }()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	killed := 0
	for {
		select {
		case err := <-done:
			show.end(client)
			if err != nil {
				return errors.Join(err, n.Kill())
			}
			return nil
		case <-n.Gone():
			cancel(fmt.Errorf("node ended by itself with status %d", n.Status()))
			return errors.Join(<-done, context.Cause(ctx))
		case <-tick.C:
			show.line(client)
		case answered := <-reached:
			if killed >= kills || answered < (killed+1)*bodies/(kills+1) {
				continue
			}
			killed++
			show.note("kill %d of %d with SIGKILL after %d of %d bodies; restarting", killed, kills, answered, bodies)
			if err := errors.Join(n.Kill(), n.Start(ctx)); err != nil {
				cancel(err)
				return errors.Join(err, <-done)
			}
		}
	}
}

func account(out io.Writer, a *orders.Account, c *orders.Client, flows orders.FlowCount, elapsed time.Duration, kills int) {
	say(out, "\nreceived        %8d lines (%d requests sent again after %d kills)\n", a.Lines, c.Retries.Load(), kills)
	say(out, "  accepted      %8d\n  duplicates    %8d (copies, and records sent again)\n  rejected      %8d\n", a.Accepted, a.Duplicates, a.Rejected)
	reasons := make([]string, 0, len(a.Reasons))
	for r := range a.Reasons {
		reasons = append(reasons, r)
	}
	sort.Strings(reasons)
	for _, r := range reasons {
		say(out, "    %8d  %s\n", a.Reasons[r], r)
	}
	say(out, "written         %8d rows in ledger.ndjson, each once\n", a.Written)
	say(out, "flows           %8d started, %d completed; %d approved rows, each once\n", flows.Started, flows.Completed, a.Approved)
	say(out, "acknowledged    %8d lines, in %.1f s\n", c.Lines.Load(), elapsed.Seconds())
	if len(a.Faults) == 0 {
		say(out, "\nthe account balances: nothing lost, nothing done twice\n")
	}
}
