// Package bench measures the simulator: how fast it executes, how soon it finds bugs, and how many executions an exhaustive
// search needs. `verify bench-sim` prints the tables and holds them against their bars.
//
// Speed is stated in round trips of iter.Pull, timed in the same rounds: a switch to another task costs one, whatever the
// machine. Times are CPU times of the process, so that what else the machine does counts as little as possible.
package bench

import (
	"fmt"
	"iter"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/programs"
)

// Bars of speed.
const (
	twoTasks      = 0.9 // round trips for a scheduling point of two tasks
	manyTasks     = 1.8 // of up to 1,000 tasks
	clocksFactor  = 2.0 // vector clocks against none
	scalesFree    = 1.8 // two cores against one, where executions allocate nothing
	scalesOthers  = 1.6
	quietSpin     = 1.9                  // below, the machine has no two cores to give, and CPU times decide
	roundBudget   = 4 * time.Millisecond // of one program in one round
	pullsInARound = 20_000
)

// SpeedRow is the speed of one program under the random strategy.
type SpeedRow struct {
	Program   string  `json:"program"`
	PerSecond float64 `json:"executions_per_second"` // on one core, without vector clocks
	Point     float64 `json:"ns_per_point"`
	Pull      float64 `json:"ns_per_round_trip"`
	Trips     float64 `json:"round_trips_per_point"` // median of the rounds' ratios
	MaxTrips  float64 `json:"max_round_trips,omitempty"`
	Clocks    float64 `json:"clocks_factor"` // with vector clocks against without
	MaxClocks float64 `json:"max_clocks_factor,omitempty"`
	Scale     float64 `json:"two_cores"`     // rate on two cores against one, by the wall clock
	ScaleCPU  float64 `json:"two_cores_cpu"` // twice the CPU time of an execution on one core against two
	Spin      float64 `json:"spin_scale"`    // what two cores gave a loop that only counts, by the wall clock, in the same rounds
	MinScale  float64 `json:"min_two_cores,omitempty"`
	Missed    string  `json:"missed,omitempty"`
}

// program is one row's program and bars.
type program struct {
	name     string
	body     programs.Body
	maxTrips float64
	minScale float64
	clocks   bool // holds the bar of vector clocks
}

func speedPrograms() []program {
	return []program{
		{name: "empty", body: programs.Empty, minScale: scalesFree},
		{name: "spawn_join(2)", body: programs.SpawnJoin(2), minScale: scalesOthers},
		{name: "yield(2,1000)", body: programs.Yield(2, 1000), maxTrips: twoTasks, minScale: scalesFree, clocks: true},
		{name: "atomic(2,1000)", body: programs.Atomic(2, 1000), maxTrips: twoTasks, minScale: scalesFree, clocks: true},
		{name: "lock(2,1000)", body: programs.Lock(2, 1000), maxTrips: twoTasks, minScale: scalesFree, clocks: true},
		{name: "lock(5,2000)", body: programs.Lock(5, 2000), maxTrips: manyTasks, minScale: scalesFree, clocks: true},
		{name: "lock(100,100)", body: programs.Lock(100, 100), maxTrips: manyTasks, minScale: scalesOthers},
		{name: "yield(10,1000)", body: programs.Yield(10, 1000), maxTrips: manyTasks, minScale: scalesFree},
		{name: "yield(100,100)", body: programs.Yield(100, 100), maxTrips: manyTasks, minScale: scalesOthers},
		{name: "yield(1000,100)", body: programs.Yield(1000, 100), maxTrips: manyTasks, minScale: scalesOthers},
		{name: "sb", body: programs.StoreBuffering, minScale: scalesOthers},
	}
}

// Speed measures every program in rounds of all its variants, one after the other, and returns medians over the rounds. done is
// called after each program.
func Speed(rounds int, done func(program string)) ([]SpeedRow, error) {
	var rows []SpeedRow
	for _, p := range speedPrograms() {
		row, err := p.measure(rounds)
		if err != nil {
			return rows, err
		}
		rows = append(rows, row)
		done(p.name)
	}
	return rows, nil
}

func (p program) measure(rounds int) (SpeedRow, error) {
	runs, err := p.calibrate()
	if err != nil {
		return SpeedRow{}, err
	}
	var rate, point, pull, trips, clocks, scale, scaleCPU, spin []float64
	for range rounds {
		trip := roundTrip()
		plain, err := p.run(runs, sim.WithoutRaces(), sim.Cores(1))
		if err != nil {
			return SpeedRow{}, err
		}
		checked, err := p.run(runs, sim.Cores(1))
		if err != nil {
			return SpeedRow{}, err
		}
		two, err := p.run(2*runs, sim.WithoutRaces(), sim.Cores(2))
		if err != nil {
			return SpeedRow{}, err
		}
		spin = append(spin, spinScale(plain.cpu))
		rate = append(rate, float64(runs)/plain.cpu.Seconds())
		ns := float64(plain.cpu.Nanoseconds()) / float64(plain.points)
		point, pull, trips = append(point, ns), append(pull, trip), append(trips, ns/trip)
		clocks = append(clocks, checked.cpu.Seconds()/plain.cpu.Seconds())
		scale = append(scale, 2*plain.cpu.Seconds()/two.wall.Seconds())
		scaleCPU = append(scaleCPU, 4*plain.cpu.Seconds()/two.cpu.Seconds())
	}
	row := SpeedRow{
		Program: p.name, PerSecond: median(rate), Point: median(point), Pull: median(pull), Trips: median(trips),
		MaxTrips: p.maxTrips, Clocks: median(clocks), Scale: median(scale), ScaleCPU: median(scaleCPU), Spin: median(spin),
		MinScale: p.minScale,
	}
	if p.clocks {
		row.MaxClocks = clocksFactor
	}
	row.judge()
	return row, nil
}

// judge holds the row against its bars. That of two cores is held by the wall clock where a loop that shares nothing gets two
// cores, and by CPU time where other programs hold them.
func (r *SpeedRow) judge() {
	scale := r.Scale
	if r.Spin < quietSpin {
		scale = r.ScaleCPU
	}
	switch {
	case r.MaxTrips > 0 && r.Trips > r.MaxTrips:
		r.Missed = fmt.Sprintf("%.2f round trips per point, at most %.1f", r.Trips, r.MaxTrips)
	case r.MaxClocks > 0 && r.Clocks > r.MaxClocks:
		r.Missed = fmt.Sprintf("vector clocks cost a factor of %.2f, at most %.1f", r.Clocks, r.MaxClocks)
	case r.MinScale > 0 && scale < r.MinScale:
		r.Missed = fmt.Sprintf("two cores give %.2f, at least %.1f", scale, r.MinScale)
	}
}

// calibrate returns how many executions fill a round's budget.
func (p program) calibrate() (int, error) {
	for runs := 1; ; runs *= 2 {
		r, err := p.run(runs, sim.WithoutRaces(), sim.Cores(1))
		if err != nil {
			return 0, err
		}
		if r.cpu >= roundBudget/2 || runs >= 1<<20 {
			return max(4, runs), nil
		}
	}
}

// cost is what a number of executions took.
type cost struct {
	cpu, wall time.Duration
	points    uint64
}

func (p program) run(runs int, opts ...sim.Option) (cost, error) {
	before := cpuTime()
	r, err := sim.Explore(p.name, "random", p.body, append(opts, sim.Runs(runs), sim.Steps(1<<30))...)
	if err == nil && r.Failure != nil {
		err = fmt.Errorf("measure %s: %s: %s", p.name, r.Failure.Verdict(), r.Failure.Message)
	}
	return cost{max(cpuTime()-before, time.Microsecond), r.Elapsed, r.Points}, err
}

// cpuTime is the CPU time that the process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // it fails for a bad argument only
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// roundTrip is the CPU time of one resume and yield of a coroutine, in nanoseconds.
func roundTrip() float64 {
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		for yield(struct{}{}) {
		}
	})
	defer stop()
	next()
	before := cpuTime()
	for range pullsInARound {
		next()
	}
	return float64((cpuTime() - before).Nanoseconds()) / pullsInARound
}

// spinScale is how much faster two loops that share nothing run side by side than one after the other.
func spinScale(budget time.Duration) float64 {
	n := max(int(budget.Nanoseconds()), 1000)
	before := cpuTime()
	one := spin(n)
	alone := cpuTime() - before
	started := time.Now()
	var both sync.WaitGroup
	var results [2]uint64
	for i := range results {
		both.Go(func() { results[i] = spin(n + int(one&1)) })
	}
	both.Wait()
	wall := time.Since(started)
	if results[0] != results[1] {
		return 0 // never: but nobody may leave the loops out
	}
	return 2 * alone.Seconds() / wall.Seconds()
}

func spin(n int) (s uint64) {
	s = 1
	for range n {
		s ^= s << 13
		s ^= s >> 7
		s ^= s << 17
	}
	return s
}

func median(v []float64) float64 {
	slices.Sort(v)
	if len(v) == 0 {
		return 0
	}
	return v[len(v)/2]
}
