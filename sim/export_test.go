package sim

// Smallest shrinks f and returns the preemptions, faults and drawn values of what is left, and its schedule.
func Smallest(body func(*World), f *Failure, opts ...Option) (preempts, faults, data int, choices string) {
	o := newOptions(opts)
	small := shrink("shrink", body, &o, f)
	w := newWorld("shrink", body, &o)
	defer w.drain()
	g := &guided{follow: &replay{choices: small.Choices}}
	execute(w, g, 0)
	r := g.result(w)
	if !w.failed || w.verdict.kind != f.Kind || w.verdict.id != f.ID {
		return -1, -1, -1, "does not fail: " + w.verdict.String()
	}
	return r.preempts, len(r.faults), len(r.data), small.Choices.String()
}

// SmallestTwice shrinks f, then what is left of it, and returns both schedules: what is locally minimal stays as it is.
func SmallestTwice(body func(*World), f *Failure, opts ...Option) (once, twice string) {
	o := newOptions(opts)
	small := shrink("shrink", body, &o, f)
	return small.Choices.String(), shrink("shrink", body, &o, small).Choices.String()
}

// Fewest searches for the fewest preemptions with which body fails as f did: bound after bound, so that the first failure has no more
// than any other. It returns -1 when no schedule within the bounds of the search fails.
func Fewest(body func(*World), f *Failure, most string, opts ...Option) (int, error) {
	r, err := Explore("fewest", most, body, opts...)
	if err != nil || r.Failure == nil || r.Failure.Kind != f.Kind || r.Failure.ID != f.ID {
		return -1, err
	}
	o := newOptions(opts)
	w := newWorld("fewest", body, &o)
	defer w.drain()
	g := &guided{follow: &replay{choices: r.Failure.Choices}}
	execute(w, g, 0)
	return g.result(w).preempts, nil
}
