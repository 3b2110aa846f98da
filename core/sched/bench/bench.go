// Package bench compares the primitives of core/sched on the real runtime, and structures built from them, with the same code on
// the bare standard library. `verify bench-sched` prints the table and holds it against its bars.
//
// A pair is measured in short interleaved rounds: each round times both sides, one right after the other, and gives one ratio;
// the median of many ratios is what a busy machine disturbs least. Where the linker put the code weighs as much as what is
// measured (Mytkowicz and others, Producing wrong data without doing anything obviously wrong, 2009), so the rounds of a pair
// come from several programs with the functions in another order each.
package bench

import (
	"slices"
	"time"
)

// Loop performs n operations and returns something that depends on them, so that none can be left out.
type Loop func(n int) uint64

// Pair is one comparison. Each round makes both sides afresh, so that no single memory layout decides.
type Pair struct {
	Name string
	// Structure says that a bar holds for the ratio: primitives are judged by what is built from them.
	Structure bool
	// Tasks says that several tasks meet: rounds are then long enough for them to run side by side.
	Tasks bool
	Bare  func() Loop
	Ours  func() Loop
	// MaxRatio and MaxExtra are the bars: of the ratio, and of the nanoseconds that an operation costs more. Zero: none.
	MaxRatio float64
	MaxExtra float64
}

// Row is the result of one pair.
type Row struct {
	Name      string  `json:"name"`
	Structure bool    `json:"structure,omitempty"`
	Bare      float64 `json:"bare_ns"` // median nanoseconds an operation
	Ours      float64 `json:"ours_ns"`
	Ratio     float64 `json:"ratio"`    // median of the rounds' ratios
	Extra     float64 `json:"extra_ns"` // median of the rounds' differences
	MaxRatio  float64 `json:"max_ratio,omitempty"`
	MaxExtra  float64 `json:"max_extra_ns,omitempty"`
	Rounds    int     `json:"rounds"`
	Missed    bool    `json:"missed,omitempty"`
}

const (
	roundTime = 300 * time.Microsecond // of one side: short against a time slice of the operating system
	tasksTime = 2 * time.Millisecond
	minOps    = 16
	maxOps    = 1 << 22
)

// Samples are the rounds of one pair: nanoseconds an operation of each side, round by round.
type Samples struct {
	Name string    `json:"name"`
	Bare []float64 `json:"bare_ns"`
	Ours []float64 `json:"ours_ns"`
}

// Add appends the rounds of other, which are of the same pair in another program.
func (s *Samples) Add(other Samples) {
	s.Bare, s.Ours = append(s.Bare, other.Bare...), append(s.Ours, other.Ours...)
}

// Measure measures p in interleaved rounds, once, and keeps all of them, whatever they show.
func Measure(p Pair, rounds int) Samples {
	round := roundTime
	if p.Tasks {
		round = tasksTime
	}
	n := calibrate(p.Bare(), round)
	s := Samples{Name: p.Name}
	for i := range rounds {
		b, o := p.Bare(), p.Ours()
		first, second := b, o
		if i%2 == 1 {
			first, second = o, b
		}
		x, y := perOp(first, n), perOp(second, n)
		if i%2 == 1 {
			x, y = y, x
		}
		s.Bare, s.Ours = append(s.Bare, x), append(s.Ours, y)
	}
	return s
}

// Judge returns the medians of the rounds of p, and whether they hold its bars.
func (p Pair) Judge(s Samples) Row {
	var ratios, extra []float64
	for i, x := range s.Bare {
		ratios, extra = append(ratios, s.Ours[i]/x), append(extra, s.Ours[i]-x)
	}
	r := Row{
		Name: p.Name, Structure: p.Structure, MaxRatio: p.MaxRatio, MaxExtra: p.MaxExtra, Rounds: len(s.Bare),
		Bare: median(s.Bare), Ours: median(s.Ours), Ratio: median(ratios), Extra: median(extra),
	}
	r.Missed = r.MaxRatio > 0 && r.Ratio > r.MaxRatio || r.MaxExtra > 0 && r.Extra > r.MaxExtra
	return r
}

// calibrate returns how many operations take about as long as a round.
func calibrate(f Loop, round time.Duration) int {
	n := minOps
	for n < maxOps {
		started := time.Now()
		f(n)
		if spent := time.Since(started); spent >= round/2 {
			return max(minOps, int(float64(n)*float64(round)/float64(spent)))
		}
		n *= 2
	}
	return n
}

func perOp(f Loop, n int) float64 {
	started := time.Now()
	f(n)
	return float64(time.Since(started).Nanoseconds()) / float64(n)
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(v))[len(v)/2]
}

// Pairs returns every comparison, primitives first.
func Pairs() []Pair {
	var all []Pair
	for _, group := range [][]Pair{atomics(), locks(), waits(), structures()} {
		all = append(all, group...)
	}
	return all
}
