package sim

import (
	"fmt"
	"slices"
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
)

// known is a fuzzer that knows one object with some operations, and has a corpus of one.
func known(c constraints) *rff {
	s := newRFF()
	s.uses = []usage{{object: 8, reads: []opName{1}}, {object: 9, reads: []opName{1, 2}, writes: []opName{3, 4, 5}}}
	s.corpus = []constraints{c}
	return s
}

// change says what a mutation did to a set of constraints.
func change(before, after constraints) string {
	switch {
	case after == nil:
		return "plain"
	case len(after) == len(before)+1 && slices.Equal(after[:len(before)], before):
		return "add"
	case len(after) == len(before)-1:
		for i := range before {
			if slices.Equal(after, slices.Delete(slices.Clone(before), i, i+1)) {
				return fmt.Sprint("drop ", i)
			}
		}
	case len(after) == len(before):
		for i := range before {
			same := slices.Clone(after)
			same[i] = before[i]
			if slices.Equal(same, before) && after[i] != before[i] {
				if after[i].not != before[i].not && after[i].pair == before[i].pair && after[i].object == before[i].object {
					return fmt.Sprint("negate ", i)
				}
				return fmt.Sprint("replace ", i)
			}
		}
	}
	return fmt.Sprint("something else: ", before, after)
}

// numbered makes n different constraints that no draw invents.
func numbered(n int) (c constraints) {
	for i := range n {
		c = append(c, constraint{pair: pair{opName(100 + i), opName(200 + i)}, object: 7})
	}
	return c
}

// A mutation adds a constraint, or negates or drops one, whichever; one in ten schedules has none. A full set, of five, has one replaced
// instead of another added or one dropped.
func TestRFFMutates(t *testing.T) {
	for size, want := range map[int]map[string]float64{ //order:each is judged alone
		0: {"add": 1},
		1: {"add": .5, "negate 0": .25, "drop 0": .25},
		3: {"add": .5, "negate 0": .25 / 3, "negate 1": .25 / 3, "negate 2": .25 / 3, "drop 0": .25 / 3, "drop 1": .25 / 3, "drop 2": .25 / 3},
		5: {
			"replace 0": .15, "replace 1": .15, "replace 2": .15, "replace 3": .15, "replace 4": .15, "negate 0": .05, "negate 1": .05, "negate 2": .05,
			"negate 3": .05, "negate 4": .05,
		},
	} {
		c := numbered(size)
		s := known(c)
		got, expected := map[string]int{}, map[string]int{"plain": chanceRuns / rffPlain}
		for seed := range uint64(chanceRuns) {
			s.rng = rng{derive(1, "mutate", int(seed))}
			after := s.mutate()
			if after != nil && len(after) == 0 {
				after = constraints{} // dropped the only one
			}
			got[change(c, after)]++
		}
		for what, share := range want { //order:each is another key
			expected[what] = int(share * chanceRuns * (rffPlain - 1) / rffPlain)
		}
		alike(t, fmt.Sprintf("%d constraints", size), got, expected)
	}
	if s := newRFF(); s.mutate() != nil {
		t.Error("constraints before anything was seen")
	}
}

// An invented constraint is about an object that is read and written: any read of it, any write or the initial state, wanted or not.
func TestRFFInvents(t *testing.T) {
	s := known(nil)
	got := map[string]int{}
	var names []string
	for _, read := range []int{1, 2} {
		for _, write := range []int{0, 3, 4, 5} {
			for _, not := range []bool{false, true} {
				names = append(names, fmt.Sprint(9, read, write, not))
			}
		}
	}
	for seed := range uint64(chanceRuns) {
		s.rng = rng{derive(2, "invent", int(seed))}
		c := s.invent()
		if c.object == 8 { // both draws of an object fell on the one that is never written
			continue
		}
		got[fmt.Sprint(c.object, c.read, c.write, c.not)]++
	}
	total := 0
	for _, n := range got { //order:a sum
		total += n
	}
	if total < chanceRuns*7/10 {
		t.Errorf("%d of %d constraints are about an object that is written", total, chanceRuns)
	}
	want := map[string]int{}
	for _, n := range names {
		want[n] = total / len(names)
	}
	alike(t, "invented", got, want)
}

// steered is a fuzzer with constraints of its own.
type steered struct {
	*rff
	want func(s *rff) constraints
}

func (s *steered) begin(w *World, seed uint64) {
	s.rff.begin(w, seed)
	s.now = s.want(s.rff)
	s.read = make([]bool, len(s.now))
}

// A schedule with a constraint shows the pair that it asks for, and one with its negation another.
func TestRFFFollowsItsConstraints(t *testing.T) {
	o := newOptions(nil)
	saw := ""
	w := newWorld("steered", func(w *World) {
		x := sched.NewInt64(w.Scheduler(), "x", 0)
		y := sched.NewInt64(w.Scheduler(), "y", 0)
		for i := range 3 {
			w.Go(fmt.Sprint("writer", i), func() {
				y.Add(1)
				x.Store(int64(i) + 1)
			})
		}
		w.Go("reader", func() { saw = fmt.Sprint(x.Load()) })
	}, &o)
	defer w.drain()
	key := hashText(mix(1, uint64(sched.KindAtomic), 0), "x") | 1
	name := func(task string, op sched.Op) opName { return mix(hashText(7, task), uint64(op), key) | 1 }
	read := name("reader", sched.OpLoad)
	for value := range 4 {
		write := opName(0)
		if value > 0 {
			write = name(fmt.Sprint("writer", value-1), sched.OpStore)
		}
		for _, not := range []bool{false, true} {
			s := &steered{newRFF(), func(*rff) constraints { return constraints{{pair{write, read}, key, not}} }}
			values := map[string]int{}
			for seed := range uint64(200) {
				execute(w, s, seed)
				values[saw]++
			}
			if hit := values[fmt.Sprint(value)]; not && hit > 0 || !not && hit != 200 || not && len(values) != 3 {
				t.Errorf("value %d, not %t: %v", value, not, values)
			}
		}
	}
}

// A schedule that shows a pair for the first time is kept with its constraints; the corpus has a bound.
func TestRFFKeepsWhatShowsSomethingNew(t *testing.T) {
	o := newOptions(nil)
	w := newWorld("kept", adders(1, 1), &o)
	defer w.drain()
	s := newRFF()
	for seed := range uint64(5) {
		execute(w, s, seed)
	}
	if len(s.corpus) != 1 || len(s.pairs.seen) != 1 {
		t.Errorf("%d kept, %d pairs of one addition to what was there initially", len(s.corpus), len(s.pairs.seen))
	}
	for range 2 * rffCorpus {
		s.keep(numbered(1))
	}
	if len(s.corpus) != rffCorpus {
		t.Errorf("%d in the corpus, want %d", len(s.corpus), rffCorpus)
	}
}

// A pair is where a read took its value from: any operation but a store reads, any that may change writes.
func TestRFFNotesPairs(t *testing.T) {
	o := newOptions(nil)
	for want, ops := range map[int]func(x *sched.Int64){ //order:each is judged alone
		0: func(x *sched.Int64) { x.Store(1); x.Store(2) },
		1: func(x *sched.Int64) { x.Load(); x.Load() },
		2: func(x *sched.Int64) { x.Load(); x.Store(1); x.Load() },
		3: func(x *sched.Int64) { x.Add(1); x.Swap(3); x.Load() },
	} {
		w := newWorld("pairs", func(w *World) {
			x := sched.NewInt64(w.Scheduler(), "x", 0)
			w.Go("task", func() { ops(&x) })
		}, &o)
		s := newRFF()
		if execute(w, s, 1); len(s.pairs.seen) != want {
			t.Errorf("%d pairs, want %d", len(s.pairs.seen), want)
		}
		w.drain()
	}
}
