package check

import (
	"github.com/millrace-dev/millrace/tla/eval"
)

// liveness looks, for each temporal property, for a fair behavior that violates it.
func (s *search) liveness() {
	g := s.graph
	g.seal(s.table.len())
	var fair []*obligation
	for _, f := range s.m.fair {
		fair = append(fair, normalize(f, false, g.keys))
	}
	for i := range s.m.live {
		q := &s.m.live[i]
		parts := append(append([]*obligation(nil), fair...), normalize(q.F, true, g.keys))
		c, err := conditionOf(parts)
		if err != nil {
			s.found = &finding{verdict: Fault, name: q.Name, err: err, id: noState, from: noState}
			return
		}
		p := newProduct(g, c)
		comp, forbidden, ok := p.search()
		if !ok {
			continue
		}
		s.found = &finding{verdict: Liveness, name: q.Name, id: noState, from: noState}
		s.res.Conjunct = placeOf(q.Term) + ": " + oneLine(q.Term)
		s.lasso(p, comp, forbidden)
		return
	}
}

// lasso turns a component into the trace of the result.
func (s *search) lasso(p *product, comp uint32, forbidden []*obligation) {
	prefix, cycle := p.lasso(comp, forbidden)
	if len(prefix) == 0 {
		return
	}
	path := compact(prefix)
	loop := len(path) - 1
	for _, id := range cycle {
		if id != path[len(path)-1] {
			path = append(path, id)
		}
	}
	if len(path) > loop+1 && path[len(path)-1] == path[loop] {
		path = path[:len(path)-1]
	}
	trace, err := s.replay(path)
	if err != nil {
		s.res.Warnings = append(s.res.Warnings, err.Error())
	}
	s.res.Trace, s.res.Loop = trace, loop
	s.res.Stutters = len(path) == loop+1
}

func compact(ids []uint32) []uint32 {
	var out []uint32
	for _, id := range ids {
		if len(out) == 0 || out[len(out)-1] != id {
			out = append(out, id)
		}
	}
	return out
}

func oneLine(t eval.Term) string {
	s := t.String()
	for i, r := range s {
		if r == '\n' {
			return s[:i] + " …"
		}
	}
	return s
}
