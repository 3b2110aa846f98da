package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/pprof"

	"github.com/millrace-dev/millrace/core/node"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/store"
)

func runNode(ctx context.Context, args []string, out, errs io.Writer) int {
	o := node.Options{Log: slog.New(slog.NewTextHandler(errs, nil))}
	f := flag.NewFlagSet("run", flag.ContinueOnError)
	f.SetOutput(errs)
	f.StringVar(&o.Data, "data", "data", "folder of the store and of file sinks")
	f.StringVar(&o.Listen, "listen", "", "address of the HTTP port; the package's when empty")
	profile := f.String("cpuprofile", "", "write a CPU profile of the run to this `file` when it stops")
	if err := f.Parse(args); err != nil || f.NArg() != 1 {
		say(errs, "usage: millrace run [--data DIR] [--listen ADDR] [--cpuprofile FILE] PACKAGE\n")
		return statusRefused
	}
	pkg, ok := load(f.Arg(0), errs)
	if !ok {
		return statusRefused
	}
	o.Package = pkg
	if err := o.Validate(); err != nil {
		say(errs, "millrace run: %v\n", err)
		return statusRefused
	}
	var err error
	if o.Failpoint, err = node.FailpointFrom(os.Getenv(node.FailpointVar)); err != nil {
		say(errs, "millrace run: %v\n", err)
		return statusRefused
	}
	written, err := startProfile(*profile)
	if err != nil {
		say(errs, "millrace run: %v\n", err)
		return statusRefused
	}
	n, err := node.Start(o)
	if err != nil {
		say(errs, "millrace run: %v\n", errors.Join(err, written()))
		return statusFailed
	}
	say(out, "millrace runs %s on http://%s\n", pkg.Name, n.Address())
	status := stopNode(n, n.Wait(ctx), errs)
	if err := written(); err != nil {
		say(errs, "millrace run: %v\n", err)
	}
	return status
}

// startProfile begins a CPU profile and returns what ends it. Without a path both do nothing.
func startProfile(path string) (end func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("create profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(fmt.Errorf("start profile: %w", err), f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}

// stopNode ends the node. One that fenced itself is left as it is: what is in memory must not be written after a failed sync.
func stopNode(n *node.Node, why error, errs io.Writer) int {
	if errors.Is(why, store.ErrHalted) || errors.Is(why, sink.ErrFenced) {
		say(errs, "millrace run: %v; a restart recovers\n", why)
		return statusFenced
	}
	if err := errors.Join(why, n.Stop()); err != nil {
		say(errs, "millrace run: %v\n", err)
		return statusFailed
	}
	return statusOK
}
