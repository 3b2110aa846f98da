package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/pprof"
	"strings"
	"syscall"

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
	f.BoolVar(&o.TakeOver, "take-over", false, "take over data that belongs to a package of another name")
	f.Func("accept-short", "go on at the end of this `file` of a sink though a part that was acknowledged was taken away; may be given more than once", func(name string) error {
		o.AcceptShort = append(o.AcceptShort, name)
		return nil
	})
	sharing := sharedFlags(f, &o)
	profile := f.String("cpuprofile", "", "write a CPU profile of the run to this `file` when it stops")
	if err := f.Parse(args); err != nil || f.NArg() != 1 {
		say(errs, "usage: millrace run [--data DIR] [--listen ADDR] [--store pebble|none|postgres://…] [--schema NAME] [--connections N] "+
			"[--group-commit N] [--claim-timeout D] [--replica NAME] [--take-over] [--accept-short FILE]… [--cpuprofile FILE] PACKAGE\n")
		return statusRefused
	}
	pkg, ok := load(f.Arg(0), errs)
	if !ok {
		return statusRefused
	}
	o.Package = pkg
	if err := errors.Join(sharing(), o.Validate()); err != nil {
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
	signal.Ignore(syscall.SIGXFSZ) // a file that may not grow is a write that fails, and fences; the signal would be a panic
	n, err := node.Start(o)
	if err != nil {
		say(errs, "millrace run: %v\n", errors.Join(err, written()))
		if errors.Is(err, node.ErrOtherPackage) {
			return statusRefused
		}
		return statusFailed
	}
	say(out, "millrace runs %s on http://%s\n", pkg.Name, n.Address())
	status := stopNode(n, n.Wait(ctx), errs)
	if err := written(); err != nil {
		say(errs, "millrace run: %v\n", err)
	}
	return status
}

// storeVar is the environment's form of --store: arguments are visible to everybody on the machine, a password must not be.
const storeVar = "MILLRACE_STORE"

// sharedFlags defines the options of a shared store. The function that it returns takes them over once they were read.
func sharedFlags(f *flag.FlagSet, o *node.Options) func() error {
	where := f.String("store", "", "where the state of flows is: pebble (in the data folder), none (in memory, for development), or the URL of a PostgreSQL database that replicas share; "+storeVar+" when empty")
	var shared node.Shared
	f.StringVar(&shared.Schema, "schema", "", "schema in the database")
	f.IntVar(&shared.Connections, "connections", 0, "connections to the database")
	f.IntVar(&shared.GroupCommit, "group-commit", 0, "steps of different instances in one transaction at most; 1 is none")
	f.StringVar(&o.Replica, "replica", "", "name of this replica; a name that the data folder keeps when empty")
	f.DurationVar(&shared.ClaimTimeout, "claim-timeout", 0, "after how long the work of a replica that fell silent is taken over")
	return func() error {
		if *where == "" { // no default of the flag: its usage would show the password
			*where = os.Getenv(storeVar)
		}
		o.Storeless = *where == "none"
		switch {
		case *where == "" || *where == "pebble" || o.Storeless:
			if shared != (node.Shared{}) {
				return errors.New("--schema, --connections, --group-commit and --claim-timeout are for --store postgres://…")
			}
			return nil
		case !strings.HasPrefix(*where, "postgres://") && !strings.HasPrefix(*where, "postgresql://") && !strings.Contains(*where, "="):
			return errors.New("--store: neither pebble nor none nor the URL of a PostgreSQL database")
		}
		shared.URL = *where
		o.Shared = shared
		return nil
	}
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
