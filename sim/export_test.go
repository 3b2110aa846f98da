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
	return r.preempts, r.faults, len(r.data), small.Choices.String()
}
