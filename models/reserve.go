package models

import (
	"cmp"
	"slices"
)

// Reserved is which replica has which rows of a [Step]. A reservation goes with its row and has no end of its own.
type Reserved struct {
	Step      *Step
	timers    map[StepTimer]int
	emissions map[StepHead]int
}

// StepTimer is the timer of an open wait.
type StepTimer struct {
	Due        int64
	Instance   string
	Generation uint64
}

// StepHead is the first emission of an instance.
type StepHead struct {
	Instance string
	Sequence uint64
}

// NewReserved returns the reservations of a store, of which there are none yet.
func NewReserved(s *Step) *Reserved {
	return &Reserved{Step: s, timers: map[StepTimer]int{}, emissions: map[StepHead]int{}}
}

// Forget drops the reservations of rows that are gone. It is called after every step of the store.
func (r *Reserved) Forget() {
	timers, heads := map[StepTimer]int{}, map[StepHead]int{}
	for _, t := range r.due() {
		timers[t] = r.timers[t]
	}
	for _, h := range r.heads() {
		heads[h] = r.emissions[h]
	}
	r.timers, r.emissions = timers, heads
}

// due returns all timers in their order.
func (r *Reserved) due() (out []StepTimer) {
	for id, row := range r.Step.Rows { //order:sorted below
		for _, w := range row.Waits {
			if w.Due != 0 {
				out = append(out, StepTimer{w.Due, id, w.Generation})
			}
		}
	}
	slices.SortFunc(out, func(a, b StepTimer) int {
		return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Generation, b.Generation))
	})
	return out
}

// heads returns the first emission of each instance, in their order.
func (r *Reserved) heads() (out []StepHead) {
	for id, row := range r.Step.Rows { //order:sorted below
		if len(row.Emissions) > 0 {
			out = append(out, StepHead{id, row.Emissions[0].Sequence})
		}
	}
	slices.SortFunc(out, func(a, b StepHead) int { return cmp.Compare(a.Instance, b.Instance) })
	return out
}

// Timers reserves timers for by that are due until then, at most limit, and returns them.
func (r *Reserved) Timers(by int, until int64, limit int) (out []StepTimer) {
	for _, t := range r.due() {
		if holder := r.timers[t]; t.Due <= until && (holder == 0 || holder == by) && len(out) < limit {
			r.timers[t] = by
			out = append(out, t)
		}
	}
	return out
}

// Emissions reserves for by the instances behind one, and returns their rows, those of all.
func (r *Reserved) Emissions(by int, after string) (out []StepHead) {
	for _, h := range r.heads() {
		if holder := r.emissions[h]; h.Instance > after && (holder == 0 || holder == by) {
			r.emissions[h] = by
			for _, e := range r.Step.Rows[h.Instance].Emissions {
				out = append(out, StepHead{h.Instance, e.Sequence})
			}
		}
	}
	return out
}

// GiveBack ends the reservations of emissions that by has; those of timers are of moments that have not come.
func (r *Reserved) GiveBack(by int) {
	for h, holder := range r.emissions { //order:each by itself
		if holder == by {
			r.emissions[h] = 0
		}
	}
}
