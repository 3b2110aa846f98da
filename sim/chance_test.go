package sim

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
)

// chanceOp is an operation of an abstract program: on one of two objects, a write or a read.
type chanceOp struct {
	object int
	write  bool
}

// chanceProgram is the operations of each task.
type chanceProgram [][]chanceOp

// body performs the program. report gets one letter for each step: a task's start, then each of its operations.
func (p chanceProgram) body(report func(steps string)) func(*World) {
	return func(w *World) {
		s := w.Scheduler()
		objects := [2]sched.Uint64{sched.NewUint64(s, "x", 0), sched.NewUint64(s, "y", 0)}
		var log strings.Builder
		for i, ops := range p {
			letter := byte('a' + i)
			w.Go(string(letter), func() {
				log.WriteByte(letter)
				for _, op := range ops {
					if op.write {
						objects[op.object].Add(1)
					} else {
						objects[op.object].Load()
					}
					log.WriteByte(letter)
				}
			})
		}
		w.Finally(func() { report(log.String()) })
	}
}

const chanceRuns = 5_000

// sampled runs a strategy and counts the orders of steps that it takes.
func (p chanceProgram) sampled(t *testing.T, strategy string) map[string]int {
	t.Helper()
	seen := map[string]int{}
	r, err := Explore("chance", strategy, p.body(func(steps string) { seen[steps]++ }), Runs(chanceRuns), Cores(1), WithoutRaces())
	if err != nil || r.Failure != nil {
		t.Fatal(r.Failure, err)
	}
	return seen
}

// model is a strategy as its paper has it, over an abstract program: it returns the next task of those that have steps left.
type model interface {
	begin(p chanceProgram, r *rng)
	pick(able []int, next []*chanceOp) int
}

// expected counts the orders of steps that a model takes, by other random numbers.
func (p chanceProgram) expected(m model) map[string]int {
	seen := map[string]int{}
	r := rng{s: 77}
	for range chanceRuns {
		m.begin(p, &r)
		at := make([]int, len(p)) // steps taken; the first is the start
		var log strings.Builder
		for {
			var able []int
			next := make([]*chanceOp, len(p))
			for i := range p {
				if at[i] <= len(p[i]) {
					able = append(able, i)
				}
				if at[i] > 0 && at[i] <= len(p[i]) {
					next[i] = &p[i][at[i]-1]
				}
			}
			if len(able) == 0 {
				break
			}
			i := m.pick(able, next)
			at[i]++
			log.WriteByte(byte('a' + i))
		}
		seen[log.String()]++
	}
	return seen
}

// alike fails when two samples are not of one distribution: the statistic of two samples, rare orders taken together, beyond eight
// standard deviations. Both are drawn by fixed seeds.
func alike(t *testing.T, name string, got, want map[string]int) {
	t.Helper()
	statistic, freedom := 0.0, -1
	restGot, restWant := 0, 0
	take := func(a, b int) {
		d := float64(a - b)
		statistic += d * d / float64(a+b)
		freedom++
	}
	all := maps.Clone(got)
	maps.Copy(all, want)
	for _, k := range slices.Sorted(maps.Keys(all)) {
		a, b := got[k], want[k]
		if a+b < 20 {
			restGot, restWant = restGot+a, restWant+b
			continue
		}
		take(a, b)
	}
	if restGot+restWant > 0 {
		take(restGot, restWant)
	}
	if limit := float64(freedom) + 8*math.Sqrt(2*float64(max(freedom, 1))); statistic > limit {
		t.Errorf("%s: another distribution than the model's: statistic %.0f at %d degrees of freedom\n%s", name, statistic, freedom, table(got, want))
	}
}

func table(got, want map[string]int) string {
	var b strings.Builder
	all := maps.Clone(got)
	maps.Copy(all, want)
	for i, k := range slices.Sorted(maps.Keys(all)) {
		if i == 40 {
			b.WriteString("…\n")
			break
		}
		fmt.Fprintf(&b, "%s %d, want about %d\n", k, got[k], want[k])
	}
	return b.String()
}

// randomModel takes any.
type randomModel struct{ r *rng }

func (m *randomModel) begin(_ chanceProgram, r *rng)      { m.r = r }
func (m *randomModel) pick(able []int, _ []*chanceOp) int { return able[m.r.below(len(able))] }

// posModel gives each event a priority, and another to those that race with the one that was taken.
type posModel struct {
	r    *rng
	prio []float64
}

func (m *posModel) draw() float64 { return float64(m.r.next()>>11) + 1 }

func (m *posModel) begin(p chanceProgram, r *rng) {
	m.r, m.prio = r, make([]float64, len(p))
	for i := range m.prio {
		m.prio[i] = m.draw()
	}
}

func (m *posModel) pick(able []int, next []*chanceOp) int {
	best := slices.MaxFunc(able, func(a, b int) int {
		if m.prio[a] < m.prio[b] {
			return -1
		}
		return 1
	})
	m.prio[best] = m.draw()
	for _, i := range able {
		x, y := next[best], next[i]
		if i != best && x != nil && y != nil && x.object == y.object && (x.write || y.write) {
			m.prio[i] = m.draw()
		}
	}
	return best
}

// pctModel has priorities of tasks, and steps at which the running one falls below all. Only steps at which somebody else could go on count.
type pctModel struct {
	depth, length int
	r             *rng
	prio          []int
	change        []int
	at            int
}

func (m *pctModel) begin(p chanceProgram, r *rng) {
	m.r, m.at = r, 0
	m.prio, m.change = make([]int, len(p)), nil
	for i := range m.prio { // a random permutation of depth…depth+n-1
		m.prio[i] = m.depth + i
		j := r.below(i + 1)
		m.prio[i], m.prio[j] = m.prio[j], m.prio[i]
	}
	for range m.depth - 1 {
		m.change = append(m.change, r.below(m.length))
	}
}

func (m *pctModel) pick(able []int, _ []*chanceOp) int {
	if len(able) == 1 {
		return able[0]
	}
	highest := func() int { return slices.MaxFunc(able, func(a, b int) int { return m.prio[a] - m.prio[b] }) }
	for i, at := range m.change {
		if at == m.at {
			m.prio[highest()] = m.depth - 1 - i
		}
	}
	m.at++
	return highest()
}

// walkModel is a walk that is uniform over all orders: tasks are drawn by the steps that they have left.
type walkModel struct {
	r    *rng
	left []int
}

func (m *walkModel) begin(p chanceProgram, r *rng) {
	m.r, m.left = r, nil
	for _, ops := range p {
		m.left = append(m.left, len(ops)+1)
	}
}

func (m *walkModel) pick(able []int, _ []*chanceOp) int {
	total := 0
	for _, i := range able {
		total += m.left[i]
	}
	k := m.r.below(total)
	for _, i := range able {
		if k -= m.left[i]; k < 0 {
			m.left[i]--
			return i
		}
	}
	panic("no task")
}

func writes(object, n int) []chanceOp { return slices.Repeat([]chanceOp{{object, true}}, n) }
func reads(object, n int) []chanceOp  { return slices.Repeat([]chanceOp{{object, false}}, n) }

// chancePrograms have tasks that race, that do not, and that do with some.
var chancePrograms = map[string]chanceProgram{
	"one against four":            {writes(0, 1), writes(0, 4)},
	"another object":              {writes(1, 1), writes(0, 4)},
	"reads":                       {reads(0, 1), reads(0, 4)},
	"a read against writes":       {reads(0, 1), writes(0, 4)},
	"a write against reads":       {writes(0, 1), reads(0, 4)},
	"three":                       {writes(0, 2), writes(0, 1), writes(0, 2)},
	"three, one of them apart":    {writes(0, 2), writes(1, 2), writes(0, 2)},
	"one that meets both objects": {append(writes(0, 1), writes(1, 1)...), writes(0, 2), writes(1, 2)},
	"nothing":                     {nil, nil, nil},
}

// Each strategy takes each order of steps as often as its algorithm, written down once more in a few lines, says.
func TestStrategiesChooseAsTheirModels(t *testing.T) {
	o := newOptions([]Option{WithoutRaces()})
	for _, name := range slices.Sorted(maps.Keys(chancePrograms)) {
		p := chancePrograms[name]
		length := measureLength("chance", p.body(func(string) {}), &o)
		for strategy, m := range map[string]model{ //order:each is judged alone
			"random": &randomModel{}, "pos": &posModel{}, "urw": &walkModel{}, "pct1": &pctModel{depth: 1, length: length},
			"pct": &pctModel{depth: 2, length: length}, "pct3": &pctModel{depth: 3, length: length}, "pct5": &pctModel{depth: 5, length: length},
		} {
			alike(t, name+", "+strategy, p.sampled(t, strategy), p.expected(m))
		}
	}
}
