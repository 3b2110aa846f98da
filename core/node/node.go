package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/group"
	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/core/store/postgres"
	"github.com/millrace-dev/millrace/core/store/step"
)

// Node is a running node.
//
// With Options.Storeless the state of flows is in memory. While the process lives the whole contract of a store holds; with its end two things
// are narrower than elsewhere. Correlation keys are unique, and deliveries take effect once, in one life of the node alone: one that was acknowledged
// is forgotten with its instance, and sent again under its id it takes effect again. What the record plane keeps (positions, keys of
// deduplicators, committed lengths of files, which emissions have arrived) stays in the data folder.
type Node struct {
	s    sched.Scheduler
	opts Options
	pkg  *graph.Package
	log  *slog.Logger

	// Scopes, from the outside in: what ends first is last.
	root    *sched.Scope // the node
	flowing *sched.Scope // processors, sinks, channels, the flow engine
	intake  *sched.Scope // sources and requests

	store   *step.Store
	engine  *pebble.Engine
	plane   store.Store     // of the flows: store, or the shared one
	shared  *postgres.Store // nil unless replicas share a database
	grouped *group.Store    // over shared
	heard   sched.Int64     // when shared answered last, in Unix nanoseconds
	point   *sink.Point
	relays  map[string]*batches
	intakes []intakeRoute
	feeds   []*feed // every source, in the package's order
	flows   *flows
	letters *deadLetters
	paced   *pace // warnings
	metrics *metrics
	calls   *http.Client // of HTTP tasks

	// Spaces whose rows expire: all in the node's own store, and those of flows, which may be in the shared one.
	expiring, flowExpiring []string

	listener net.Listener
	server   *http.Server
	ready    sched.Bool
	full     sched.Bool // the disk is below its low-water mark
	ended    sched.WriteOnce[error]
	requests sched.Int64 // under way on the package's paths
}

// stopTimeout bounds how long a stop waits for requests under way.
const stopTimeout = 3 * time.Second

// stopGrace is how long requests under way may go on by themselves, looked at every stopPoll.
const (
	stopGrace = time.Second
	stopPoll  = 10 * time.Millisecond
)

// Start opens the store, makes the owners and serves the port. The node runs until Stop, or until its store fails.
func Start(opts Options) (*Node, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	s := sched.Scheduler{}
	n := &Node{
		s: s, opts: opts, pkg: opts.Package, log: opts.Log, metrics: newMetrics(),
		ready: sched.NewBool(s, "ready", false), full: sched.NewBool(s, "disk full", false),
		ended: sched.NewWriteOnce[error](s, "node ended"), requests: sched.NewInt64(s, "requests", 0),
		heard: sched.NewInt64(s, "shared store heard", 0), paced: newPace(s, "warnings"),
	}
	n.root = s.NewScope("node")
	n.flowing = n.root.Child("flowing")
	n.intake = n.root.Child("intake")
	if err := n.start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start node: %w", err), n.close())
	}
	n.ready.Store(true)
	n.log.Info("node is ready", "package", n.pkg.Name, "identity", n.active(), "address", n.Address(), "lanes", n.pkg.Node.Lanes)
	if active := n.active(); active != n.pkg.ID {
		n.log.Warn("the package that was given is not the active one: the store knows it, and another was activated later",
			"given", n.pkg.ID, "active", active)
	}
	return n, nil
}

// active is the identity of the package that starts instances: the one that was given, or one that was applied later.
func (n *Node) active() string {
	if n.flows.engine == nil {
		return n.pkg.ID
	}
	id, _ := n.flows.engine.Active()
	return id
}

func (n *Node) start() error {
	// The port is taken first: a second node on the same port must not open the store and void its claims, nor leave an empty folder.
	var err error
	if n.listener, err = net.Listen("tcp", n.opts.address()); err != nil {
		return err
	}
	if err := os.MkdirAll(n.opts.Data, 0o755); err != nil {
		return err
	}
	n.store, n.engine, err = pebble.Open(n.root, pebble.Options{
		Dir: filepath.Join(n.opts.Data, "store"), FS: n.opts.storeFS, Failpoint: n.opts.Failpoint, OnHalt: func(why error) { n.halted(fmt.Errorf("%w: %w", store.ErrHalted, why)) },
	})
	if err != nil {
		return err
	}
	if err := n.startPlane(); err != nil {
		return err
	}
	if err := n.belong(); err != nil {
		return err
	}
	n.watchDisk()
	n.letters = newDeadLetters(files{n.opts.Data})
	if err := n.makePoint(); err != nil {
		return fmt.Errorf("open sinks: %w", err)
	}
	n.s.Go(n.flowing, "commit point", func() { n.failed("commit point", n.point.Run(n.flowing)) })
	n.makeRelays()
	for _, step := range []func() error{n.startProcessors, n.startSinks, n.makeIntakes, n.startFlows, n.serve, n.startSources} {
		if err := step(); err != nil {
			return err
		}
	}
	n.s.Go(n.flowing, "housekeeping", n.keepHouse)
	return nil
}

func (n *Node) startSinks() error {
	for _, s := range n.pkg.Sinks {
		start := n.startFileSink
		if s.HTTP != nil {
			start = n.startHTTPSink
		}
		if err := start(s); err != nil {
			return err
		}
	}
	return nil
}

// Address is the address of the HTTP port.
func (n *Node) Address() string { return n.listener.Addr().String() }

// end is told why the node cannot go on. It does not wait. Requests are given up, and the commit point takes nothing more, so
// that nothing is acknowledged from here on. The record plane stays as it is: a relay whose consumers have left acknowledges.
func (n *Node) end(why error) {
	n.halted(why)
	n.point.Close()
}

// halted is end for the store, which may fail before there is a commit point, and commits nothing more by itself.
func (n *Node) halted(why error) {
	n.ready.Store(false) // before anybody can know that it has ended
	if n.ended.Set(why) {
		n.intake.Cancel(why)
		n.log.Error("node ends", "reason", why)
	}
}

// Wait returns when ctx ends, with nil, or when the node cannot go on, with the reason.
func (n *Node) Wait(ctx context.Context) error {
	scope := n.root.Child("wait")
	stop := context.AfterFunc(ctx, func() { scope.Cancel(nil) })
	defer stop()
	defer scope.Close()
	why, err := n.ended.Wait(scope)
	if err != nil {
		return nil // the caller wants to stop
	}
	return why
}

// Stop admits nothing new, finishes what was admitted within a bounded time, and closes the store. What it does not
// finish is not acknowledged, and comes again after the next start.
func (n *Node) Stop() error {
	n.ready.Store(false)
	n.log.Info("node stops")
	return n.close()
}

// close ends what runs from the outside in. Whatever was not acknowledged until then is failed, and comes again.
func (n *Node) close() error {
	var errs []error
	if n.server != nil {
		errs = append(errs, n.shutdown())
	} else if n.listener != nil {
		errs = append(errs, n.listener.Close())
	}
	n.intake.Close()
	if n.flows != nil && n.flows.engine != nil {
		n.flows.engine.CloseWithin(closePatience, errSilent)
	}
	if n.point != nil {
		n.point.Close()
	}
	n.flowing.Close()
	errs = append(errs, n.closePlane())
	n.root.Close()
	if n.calls != nil {
		n.calls.CloseIdleConnections()
	}
	if n.letters != nil {
		errs = append(errs, n.letters.Close())
	}
	if n.engine != nil {
		errs = append(errs, n.engine.Close())
	}
	return errors.Join(errs...)
}

// shutdown lets requests under way end by themselves for a while. Meanwhile the port answers: probes and new requests learn
// that the node stops. Then what is left is answered with "send again", and the port closes.
func (n *Node) shutdown() error {
	for waited := time.Duration(0); n.requests.Load() > 0 && waited < n.opts.grace; waited += stopPoll {
		if err := n.s.Sleep(nil, "requests under way", stopPoll); err != nil {
			return err
		}
	}
	n.intake.Cancel(sched.ErrCanceled)
	ctx, stop := context.WithTimeout(context.Background(), stopTimeout)
	defer stop()
	if n.server.Shutdown(ctx) == nil {
		return nil
	}
	return n.server.Close()
}
