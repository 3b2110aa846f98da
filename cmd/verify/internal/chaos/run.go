package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Options of a run.
type Options struct {
	Binary  string        // the millrace binary
	Dir     string        // where the run leaves what it recorded; it is created
	Seed    uint64        // draws the faults and what clients do
	Time    time.Duration // of the faults; what is before and after takes about twenty seconds
	Clients int           // 0: 24
	Break   string        // a planted fault of the database, see Breaks; "": none
	Point   string        // nothing happens but an activation that dies at this point, one of Points; "": the plan is drawn
}

// The replicas, and the external workers beside the clients.
const (
	replicaCount = 3
	workerCount  = 3
)

// The bounds of what comes after the faults: until every key has come to its end, until nothing is left to do, and for the judge. With
// 30 s of faults and what starting and stopping takes they are within two minutes.
const (
	finishTime = 30 * time.Second
	quietTime  = 10 * time.Second
	judgeTime  = 15 * time.Second
)

// Report is what a run showed.
type Report struct {
	Seed       uint64             `json:"seed"`
	Keys       int                `json:"keys"`
	Operations map[Kind]int       `json:"operations"`
	Outcomes   map[Outcome]int    `json:"outcomes"`
	Faults     map[Fault]int      `json:"faults"` // injected
	Rows       [2]int             `json:"rows"`   // effects in files, and different ones
	Posts      [2]int             `json:"posts"`  // posts to the web hook, and different ones
	Seconds    map[string]float64 `json:"seconds"`
	Wrong      []string           `json:"wrong"` // what does not hold
	Slowest    map[Kind]float64   `json:"slowest"`
}

// Run carries out one run. The error says that it could not be carried out; what does not hold is in the report.
func Run(ctx context.Context, o Options) (rep *Report, err error) {
	if o.Clients == 0 {
		o.Clients = 24
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("run chaos: %w", err)
	}
	w, err := newWorld(o.Dir, o.Binary, replicaCount)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.stop()) }()
	rep = &Report{Seed: o.Seed, Seconds: map[string]float64{}}
	clock := time.Now()
	lap := func(what string) {
		rep.Seconds[what] = time.Since(clock).Seconds()
		clock = time.Now()
	}
	for _, r := range w.replicas {
		if err := w.start(ctx, r); err != nil {
			return nil, err
		}
	}
	if err := w.plant(ctx, o.Break); err != nil {
		return nil, err
	}
	lap("start")
	d := &driver{world: w, history: NewHistory()}
	e := Evidence{}
	if e.Stuck, err = d.load(ctx, o, rep); err != nil {
		return nil, err
	}
	lap("faults")
	if err := d.evidence(ctx, &e, rep); err != nil {
		return nil, err
	}
	lap("quiet")
	ops := d.history.Operations()
	rep.count(ops)
	rep.Wrong = append(rep.Wrong, d.wrong...)
	rep.Wrong = append(rep.Wrong, account(ops, e)...)
	rep.Wrong = append(rep.Wrong, Judge(ops, judgeTime)...)
	lap("judge")
	return rep, keepRun(o.Dir, d.plan, ops, e, rep)
}

// load runs clients and faults side by side and returns the keys that did not come to their end.
func (d *driver) load(ctx context.Context, o Options, rep *Report) (stuck []string, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	start, startOver := context.WithCancel(ctx)
	defer startOver()
	work, workOver := context.WithCancel(ctx)
	defer workOver()
	l := &load{
		Client: NewClient(d.world.addresses(), d.history), seed: o.Seed, pause: 60 * time.Millisecond,
		start: start, run: ctx, unfinished: map[string]bool{},
	}
	var clients, workers tasks
	for i := range o.Clients {
		clients.Go(func() { l.client(i) })
	}
	for i := range workerCount {
		workers.Go(func() { l.worker(work, i) })
	}
	defer l.http.CloseIdleConnections()
	d.plan = activation(o.Point, o.Time)
	if o.Point == "" {
		d.plan = newPlan(rand.New(rand.NewPCG(o.Seed, 0)), replicaCount, o.Time, claimTimeout)
	}
	d.carryOut(ctx, o.Time)
	err = d.whole(ctx)
	startOver()
	if err == nil && !clients.within(finishTime) {
		d.fault("clients did not come to their end within %v after the last fault", finishTime)
	}
	stuck = l.stuck()
	workOver()
	stop()
	clients.Wait()
	workers.Wait()
	rep.Keys, rep.Faults = len(l.keys), map[Fault]int{}
	for _, e := range d.plan {
		rep.Faults[e.Fault]++
	}
	return stuck, err
}

// evidence waits until nothing is left to do, stops the replicas and reads what they left.
func (d *driver) evidence(ctx context.Context, e *Evidence, rep *Report) error {
	w := d.world
	if err := w.settle(ctx, quietTime); err != nil {
		return err
	}
	e.Born, e.Versions = w.born(), d.versions
	if err := w.query(ctx, func(conn *pgx.Conn) error { return e.read(ctx, conn) }); err != nil {
		return err
	}
	for _, r := range w.replicas {
		if err := r.Stop(ctx); err != nil {
			d.fault("replica %s stops with %v:\n%s", r.name, err, r.log())
		}
	}
	posts, faults, err := w.outputs(e)
	d.wrong = append(d.wrong, faults...)
	all := slices.Concat(e.Files...)
	rep.Rows[0] = len(all)
	for _, list := range distinct(all) {
		rep.Rows[1] += len(list)
	}
	rep.Posts = [2]int{posts, len(e.Posted)}
	return err
}

// keepRun writes what was recorded into the folder of the run.
func keepRun(dir string, plan []Event, ops []Operation, e Evidence, rep *Report) error {
	var lines strings.Builder
	for _, x := range plan {
		fmt.Fprintln(&lines, x)
	}
	text, err := json.MarshalIndent(e, "", " ")
	if err != nil {
		return fmt.Errorf("keep evidence: %w", err)
	}
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "plan.txt"), []byte(lines.String()), 0o644),
		os.WriteFile(filepath.Join(dir, "evidence.json"), text, 0o644),
		os.WriteFile(filepath.Join(dir, "wrong.txt"), []byte(strings.Join(rep.Wrong, "\n")), 0o644),
		writeLines(filepath.Join(dir, "history.jsonl"), ops),
	)
}

// count sums up the history.
func (rep *Report) count(ops []Operation) {
	rep.Operations, rep.Outcomes, rep.Slowest = map[Kind]int{}, map[Outcome]int{}, map[Kind]float64{}
	for _, op := range ops {
		rep.Operations[op.Kind]++
		rep.Outcomes[op.Outcome]++
		rep.Slowest[op.Kind] = max(rep.Slowest[op.Kind], op.Took.Seconds())
	}
}
