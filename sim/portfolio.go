package sim

// portfolioName is the strategy that mixes all others.
const portfolioName = "portfolio"

// portfolio draws another sampling strategy for each execution: which one depends on the execution's seed alone, so that it runs on all
// cores and gives the same on any number of them. rff is not among them: it learns from one execution to the next.
type portfolio struct {
	members []strategy
	now     strategy
}

func newPortfolio(m measured) *portfolio {
	return &portfolio{members: []strategy{
		&randomWalk{}, &pct{depth: 2, length: m.length}, &pct{depth: 3, length: m.length}, &pct{depth: 10, length: m.length}, &pos{},
		&surw{selective: true, profile: m.profile}, &surw{profile: m.profile},
	}}
}

func (s *portfolio) begin(w *World, seed uint64) {
	r := rng{seed}
	s.now = s.members[r.below(len(s.members))]
	s.now.begin(w, r.next())
}

func (s *portfolio) pick(w *World, n int) int { return s.now.pick(w, n) }

func (s *portfolio) draw(w *World, n uint64) uint64 { return s.now.draw(w, n) }
