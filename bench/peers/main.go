// Command peers runs the work of bench/flows on other engines: start → task → wait for a message → task → end. It is a module of its
// own, so that no peer enters Millrace's. It prints one line of JSON, in the form of bench/flows.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// result is what is printed.
type result struct {
	Engine    string  `json:"engine"`
	Instances int     `json:"instances"`
	InFlight  int     `json:"in_flight"`
	Rate      float64 `json:"instances_per_second"`
	CPU       float64 `json:"cpu_us_per_instance"`
	Sync      string  `json:"sync"`
}

// peer is an engine that is running. one brings an instance from its start to its end.
type peer struct {
	sync string
	one  func(ctx context.Context, id string) error
	stop func() error
}

func main() {
	var r result
	var url string
	flag.StringVar(&r.Engine, "engine", "go-workflows", "go-workflows (on SQLite) or dbos (on PostgreSQL)")
	flag.StringVar(&url, "url", "", "connection string of PostgreSQL, for dbos")
	flag.IntVar(&r.Instances, "n", 1000, "instances")
	flag.IntVar(&r.InFlight, "inflight", 64, "instances in flight")
	flag.Parse()
	if err := run(&r, url); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(r *result, url string) (err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var p *peer
	switch r.Engine {
	case "go-workflows":
		p, err = startGoWorkflows(ctx)
	case "dbos":
		p, err = startDBOS(ctx, url)
	default:
		err = fmt.Errorf("there is no engine %q", r.Engine)
	}
	if err != nil {
		return err
	}
	defer func() {
		stop()
		err = errors.Join(err, p.stop())
	}()
	if err := drive(ctx, p, "warm", r.InFlight, r.InFlight); err != nil {
		return err
	}
	r.Sync = p.sync
	cpu, started := cpuTime(), time.Now()
	if err := drive(ctx, p, "i", r.Instances, r.InFlight); err != nil {
		return err
	}
	elapsed := time.Since(started)
	r.Rate = float64(r.Instances) / elapsed.Seconds()
	r.CPU = float64((cpuTime() - cpu).Microseconds()) / float64(r.Instances)
	return nil
}

// life tells the instances of this process from those of another on the same database.
var life = time.Now().UnixNano()

// drive keeps a number of instances in flight until all have ended.
func drive(ctx context.Context, p *peer, prefix string, n, inFlight int) error {
	var next atomic.Int64
	errs := make([]error, inFlight)
	var all sync.WaitGroup
	for w := range inFlight {
		all.Go(func() {
			for errs[w] == nil {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				errs[w] = p.one(ctx, fmt.Sprintf("%s-%d-%d", prefix, life, i))
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// cpuTime is user and system time of the process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // cannot fail for the own process
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
