// Command flows measures the execution plane on Pebble, every commit synced: start → task → wait for a message → task → end, as
// many instances as asked for, some in flight at a time. It prints one line of JSON.
package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/pebble"
)

//go:embed flow.bpmn
var file []byte

// result is what is printed.
type result struct {
	Lanes     int     `json:"lanes"`
	Instances int     `json:"instances"`
	InFlight  int     `json:"in_flight"`
	Rate      float64 `json:"instances_per_second"`
	CPU       float64 `json:"cpu_us_per_instance"`
	Sync      string  `json:"sync"`
}

func main() {
	r := result{Sync: "every commit"}
	flag.IntVar(&r.Lanes, "lanes", 1, "execution lanes")
	flag.IntVar(&r.Instances, "n", 5000, "instances")
	flag.IntVar(&r.InFlight, "inflight", 64, "instances in flight")
	flag.Parse()
	if err := run(&r); err != nil {
		fmt.Fprintln(os.Stderr, "flows:", err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		fmt.Fprintln(os.Stderr, "flows:", err)
		os.Exit(1)
	}
}

func run(r *result) (err error) {
	dir, err := os.MkdirTemp("", "millrace-flows-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := sched.Scheduler{}
	scope := s.NewScope("bench")
	defer scope.Close()
	st, closer, err := pebble.Open(scope, pebble.Options{Dir: dir})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closer.Close()) }()
	e, err := open(s, scope, st, r.Lanes)
	if err != nil {
		return err
	}
	defer e.Close()
	cpu, started := cpuTime(), time.Now()
	if err := drive(s, scope, e, r); err != nil {
		return err
	}
	elapsed := time.Since(started)
	r.Rate = float64(r.Instances) / elapsed.Seconds()
	r.CPU = float64((cpuTime() - cpu).Microseconds()) / float64(r.Instances)
	return nil
}

func open(s sched.Scheduler, scope *sched.Scope, st store.Store, lanes int) (*engine.Engine, error) {
	definitions, faults := bpmn.Load("flow.bpmn", file, flow.Executes)
	if bpmn.Refused(faults) {
		return nil, fmt.Errorf("flow.bpmn: %v", faults)
	}
	d, err := flow.NewDefinition(definitions.Processes[0])
	if err != nil {
		return nil, err
	}
	return engine.New(s, scope, engine.Options{Lanes: lanes}, engine.Parts{
		Store: st,
		Package: engine.Package{
			Deployment: "bench", Flows: []*flow.Definition{d},
			Channels: []engine.Channel{
				{Name: "begin", Message: "begin", Flow: d.ID(), Keep: time.Hour},
				{Name: "go-on", Message: "go-on", Keep: time.Hour},
			},
		},
		Handlers: map[string]engine.Handler{"work": func(*sched.Scope, flow.Call) (*feel.Context, error) { return feel.NewContext(), nil }},
	})
}

// drive keeps a number of instances in flight until all have ended.
func drive(s sched.Scheduler, scope *sched.Scope, e *engine.Engine, r *result) error {
	var next atomic.Int64
	errs := make([]error, r.InFlight)
	var all sync.WaitGroup
	for w := range r.InFlight {
		all.Go(func() {
			for errs[w] == nil {
				i := int(next.Add(1) - 1)
				if i >= r.Instances {
					return
				}
				errs[w] = one(scope, e, i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func one(scope *sched.Scope, e *engine.Engine, i int) error {
	key := fmt.Sprint("k-", i)
	variables := feel.NewContext(feel.Entry{Key: "key", Value: feel.String(key)})
	for _, channel := range []string{"begin", "go-on"} {
		r, err := e.Deliver(scope, engine.Delivery{Channel: channel, ID: key, Decode: func() (engine.Message, error) {
			return engine.Message{Variables: variables, Key: key}, nil
		}})
		if err != nil {
			return err
		}
		if r.Outcome != engine.Accepted && r.Outcome != engine.Completed {
			return fmt.Errorf("instance %s: %s on %s: %s", key, r.Outcome, channel, r.Reason)
		}
	}
	return nil
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
