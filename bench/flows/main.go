// Command flows measures the execution plane: start → task → wait for a message → task → end, as many instances as asked for, some in
// flight at a time, on a store that makes every commit durable. It prints one line of JSON. With -parked it parks that many
// instances instead, and prints the heap on the way.
package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"slices"
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
)

//go:embed flow.bpmn
var file []byte

// result is what is printed.
type result struct {
	Store     string  `json:"store"`
	Group     bool    `json:"group,omitempty"` // steps of several lanes share a transaction
	Lanes     int     `json:"lanes"`
	Instances int     `json:"instances"`
	InFlight  int     `json:"in_flight"`
	Rate      float64 `json:"instances_per_second"`
	CPU       float64 `json:"cpu_us_per_instance"`
	Resume    float64 `json:"resume_p99_ms"` // of the message, from its delivery to its answer
	Sync      string  `json:"sync"`
	Heap      []heap  `json:"heap,omitempty"`
	Others    float64 `json:"others_beside_a_slow_instance,omitempty"` // steps of the slowest other lane, in parts of a lane's usual ones
}

func main() {
	r := result{}
	var url, schema, profile string
	var parked int
	var slow bool
	flag.StringVar(&r.Store, "store", "pebble", "pebble, postgres, or slow: in memory, each commit takes 5 ms")
	flag.StringVar(&url, "url", "", "connection string of PostgreSQL")
	flag.StringVar(&schema, "schema", "flows", "schema of PostgreSQL; it should be new")
	flag.BoolVar(&r.Group, "group", false, "group commits across lanes")
	flag.IntVar(&r.Lanes, "lanes", 1, "execution lanes")
	flag.IntVar(&r.Instances, "n", 5000, "instances")
	flag.IntVar(&r.InFlight, "inflight", 64, "instances in flight")
	flag.StringVar(&profile, "profile", "", "write a CPU profile to this file")
	flag.IntVar(&parked, "parked", 0, "park so many instances and measure the heap")
	flag.BoolVar(&slow, "stall", false, "let one instance keep its lane busy and measure the others")
	flag.Parse()
	if profile != "" {
		stop, err := startProfile(profile)
		if err != nil {
			fmt.Fprintln(os.Stderr, "flows:", err)
			os.Exit(1)
		}
		defer stop()
	}
	if err := run(&r, url, schema, parked, slow); err != nil {
		fmt.Fprintln(os.Stderr, "flows:", err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		fmt.Fprintln(os.Stderr, "flows:", err)
		os.Exit(1)
	}
}

// startProfile profiles the process until the function that it returns is called.
func startProfile(path string) (stop func(), err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close() // a profile that is cut shows when it is read
	}, nil
}

func run(r *result, url, schema string, parked int, slow bool) (err error) {
	s := sched.Scheduler{}
	scope := s.NewScope("bench")
	defer scope.Close()
	st, end, err := openStore(s, scope, r, url, schema)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	var x *stalled
	if slow {
		x = &stalled{lanes: make([]atomic.Int64, r.Lanes)}
	}
	e, err := open(s, scope, st, r.Lanes, x)
	if err != nil {
		return err
	}
	defer e.Close()
	if parked > 0 {
		return park(scope, e, r, parked)
	}
	if slow {
		return stall(scope, e, r, x)
	}
	warm := *r
	warm.Instances = r.InFlight
	if _, err := drive(scope, e, &warm, "warm"); err != nil {
		return err
	}
	cpu, started := cpuTime(), time.Now()
	resumes, err := drive(scope, e, r, "k")
	if err != nil {
		return err
	}
	elapsed := time.Since(started)
	r.Rate = float64(r.Instances) / elapsed.Seconds()
	r.CPU = float64((cpuTime() - cpu).Microseconds()) / float64(r.Instances)
	slices.Sort(resumes)
	r.Resume = float64(resumes[len(resumes)*99/100].Microseconds()) / 1000
	return nil
}

func open(s sched.Scheduler, scope *sched.Scope, st store.Store, lanes int, x *stalled) (*engine.Engine, error) {
	definitions, faults := bpmn.Load("flow.bpmn", file, flow.Executes)
	if bpmn.Refused(faults) {
		return nil, fmt.Errorf("flow.bpmn: %v", faults)
	}
	d, err := flow.NewDefinition(definitions.Processes[0])
	if err != nil {
		return nil, err
	}
	o := engine.Options{Lanes: lanes}
	if x != nil {
		o.Observer = x
	}
	return engine.New(s, scope, o, engine.Parts{
		Store: st,
		Package: engine.Package{
			Deployment: "bench", Flows: []*flow.Definition{d},
			Channels: []engine.Channel{
				{Name: "begin", Message: "begin", Flow: d.ID(), Keep: time.Hour},
				{Name: "go-on", Message: "go-on", Keep: time.Hour},
			},
		},
		Handlers: map[string]engine.Handler{"work": x.work},
	})
}

// drive keeps a number of instances in flight until all have ended, and returns how long each message took.
func drive(scope *sched.Scope, e *engine.Engine, r *result, prefix string) ([]time.Duration, error) {
	resumes := make([]time.Duration, r.Instances)
	err := each(r.Instances, r.InFlight, func(i int) error {
		key := fmt.Sprint(prefix, "-", i)
		if err := deliver(scope, e, "begin", key); err != nil {
			return err
		}
		started := time.Now()
		err := deliver(scope, e, "go-on", key)
		resumes[i] = time.Since(started)
		return err
	})
	return resumes, err
}

// each calls f with 0 … n-1, a number of them at a time, until one fails.
func each(n, atATime int, f func(int) error) error {
	var next atomic.Int64
	errs := make([]error, atATime)
	var all sync.WaitGroup
	for w := range atATime {
		all.Go(func() {
			for errs[w] == nil {
				i := int(next.Add(1) - 1)
				if i >= n {
					return
				}
				errs[w] = f(i)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func deliver(scope *sched.Scope, e *engine.Engine, channel, key string) error {
	variables := feel.NewContext(feel.Entry{Key: "key", Value: feel.String(key)})
	r, err := e.Deliver(scope, engine.Delivery{Channel: channel, ID: key, Decode: func() (engine.Message, error) {
		return engine.Message{Variables: variables, Key: key}, nil
	}})
	if err != nil {
		return err
	}
	if r.Outcome != engine.Accepted && r.Outcome != engine.Completed {
		return fmt.Errorf("instance %s: %s on %s: %s", key, r.Outcome, channel, r.Reason)
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
