package node

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/store"
)

// Options of a node.
type Options struct {
	// Package is what the node runs. Required.
	Package *graph.Package
	// Data is the folder of the store, of dead letters and of the files of file sinks. It is created. Required.
	Data string
	// Replica names this node among those that share a database. Empty: a name that the data folder keeps.
	Replica string
	// Shared is the database that replicas share. Zero: there is none.
	Shared Shared
	// Storeless keeps the state of flows in memory: it ends with the node. For development; see [Node] for what it narrows. Not with Shared.
	Storeless bool
	// Listen is the address of the HTTP port; empty: the package's. Only loopback addresses are accepted: anything else needs
	// transport security, which this version does not have.
	Listen string
	// TakeOver says that data which belongs to a package of another name becomes this one's. Otherwise it is refused.
	TakeOver bool
	// AcceptShort are file sinks and dead-letter files, by their names in the package, that may be shorter than what was acknowledged of
	// them: somebody has taken that away on purpose. They go on at their present end. Others are refused.
	AcceptShort []string
	// Log receives what an operator should know. Nil: standard error, as text.
	Log *slog.Logger
	// Handlers do the work of service tasks in this process, by task type: the work of other types is left to external workers. The
	// built-in types cannot be taken. A handler runs on the lane of its instance, see [engine.Handler]. Nil: the built-in ones alone.
	Handlers map[string]engine.Handler
	// Failpoint is called at the named points of a commit; crash tests end the process there. Nil: nothing.
	Failpoint func(point string)

	// What tests replace: the store's file system (nil is the system's), the store of the flows, the measure of free space, when a
	// lane counts as dead, and how long the shared store may be silent (0 is silence).
	storeFS  vfs.FS
	planeOf  func(store.Store) store.Store // what is put before the store of the flows
	diskFree func(*Node) (uint64, error)
	deadLane time.Duration // 0: deadLane
	silence  time.Duration
	grace    time.Duration // how long requests under way may go on at a stop; 0: stopGrace
	slowest  time.Duration // how long the body of a request may take to come; 0: bodyTimeout
}

// Validate joins every fault of the options.
func (o Options) Validate() error {
	var faults []error
	if o.Package == nil {
		faults = append(faults, errors.New("package: nil"))
	}
	if o.Data == "" {
		faults = append(faults, errors.New("data: empty"))
	}
	if err := o.Shared.validate(); err != nil {
		faults = append(faults, err)
	}
	if o.Storeless && o.Shared.URL != "" {
		faults = append(faults, errors.New("storeless: the state of flows is in the shared store"))
	}
	faults = append(faults, checkHandlers(o.Handlers))
	if len(o.Replica) > maxReplica {
		faults = append(faults, fmt.Errorf("replica: %d bytes, more than %d", len(o.Replica), maxReplica))
	}
	for _, name := range o.AcceptShort {
		if o.Package != nil && !slices.Contains(pointFiles(o.Package), name) {
			faults = append(faults, fmt.Errorf("accept short: the package writes no file %s; it writes %s", name, strings.Join(pointFiles(o.Package), ", ")))
		}
	}
	if o.Package != nil {
		if err := checkListen(o.address()); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// maxReplica bounds the name of a replica, in bytes.
const maxReplica = 100

func (o Options) address() string {
	if o.Listen != "" {
		return o.Listen
	}
	return o.Package.Node.Listen
}

func (o Options) withDefaults() (Options, error) {
	if err := o.Validate(); err != nil {
		return o, fmt.Errorf("node options: %w", err)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	if o.Failpoint == nil {
		o.Failpoint = func(string) {}
	}
	if o.deadLane == 0 {
		o.deadLane = deadLane
	}
	if o.diskFree == nil {
		o.diskFree = func(n *Node) (uint64, error) { return n.engine.DiskFree() }
	}
	o.silence, o.grace, o.slowest = cmp.Or(o.silence, silence), cmp.Or(o.grace, stopGrace), cmp.Or(o.slowest, bodyTimeout)
	var err error
	o.Data, err = filepath.Abs(o.Data)
	return o, err
}

// The node's own failpoints, beside those of the store and of the commit point.
const (
	PointBeforeReply  = "source/before-reply"
	PointBeforeSend   = "outbox/before-send"
	PointBeforeDelete = "outbox/before-delete"
	PointPublished    = "activate/published" // the deployment is active on every lane, its transports are not open
	PointOpened       = "activate/opened"    // they are, and nobody has been answered
)

// Failpoints returns the names of all failpoints.
func Failpoints() []string {
	return []string{
		sink.PointBeforeWrite, sink.PointAfterWrite, sink.PointAfterSync, sink.PointAfterCommit, sink.PointAfterSettle,
		store.PointBeforeApply, store.PointAfterApply, store.PointAfterSync,
		PointBeforeReply, PointBeforeSend, PointBeforeDelete,
		engine.PointKnown, engine.PointDecided, PointPublished, PointOpened,
	}
}

// FailpointVar is the environment variable NAME:N: the process ends itself with SIGKILL when it reaches the point NAME for the
// N-th time. It is for crash tests.
const FailpointVar = "MILLRACE_FAILPOINT"

// FailpointFrom reads the variable's value; empty means no failpoint.
func FailpointFrom(text string) (func(string), error) {
	if text == "" {
		return nil, nil
	}
	name, count, _ := strings.Cut(text, ":")
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil || n < 1 || name == "" {
		return nil, fmt.Errorf("%s=%s: want NAME:N", FailpointVar, text)
	}
	left := &atomic.Int64{}
	left.Store(n)
	if !slices.Contains(Failpoints(), name) {
		return nil, fmt.Errorf("%s=%s: there is no point %q; known are %v", FailpointVar, text, name, Failpoints())
	}
	return func(point string) {
		if point == name && left.Add(-1) == 0 {
			// The process must not do anything after this point, so it does not wait for the signal to arrive.
			_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL) // cannot fail for the own process
			select {}
		}
	}, nil
}
