package check

// product is the state graph combined with the automaton of a condition. Its nodes are numbered
// state*len(auto.trans)+automaton state.
type product struct {
	g    *graph
	c    *condition
	q    uint32
	comp []uint32
	last uint32

	index, low []uint32
	onStack    []bool
}

// hit says what the inside of a component contains.
type hit struct {
	edges    bool
	buchi    []bool
	promises uint64
	p, q     []bool
}

func newProduct(g *graph, c *condition) *product {
	n := len(g.label) * len(c.auto.trans)
	return &product{
		g: g, c: c, q: uint32(len(c.auto.trans)), comp: make([]uint32, n),
		index: make([]uint32, n), low: make([]uint32, n), onStack: make([]bool, n),
	}
}

func (p *product) state(n uint32) uint32 { return n / p.q }

// cursor enumerates the successors of a node.
type cursor struct {
	n    uint32
	e, t int
}

// step is a successor with what leads to it.
type step struct {
	to   uint32
	edge edge
	tr   *transition
}

// next advances the cursor to the next successor that avoids the forbidden predicates.
func (p *product) next(c *cursor, forbidden []*obligation) (step, bool) {
	s := c.n / p.q
	edges, trans := p.g.edges(s), p.c.auto.trans[c.n%p.q]
	for ; c.e < len(edges); c.e, c.t = c.e+1, 0 {
		e := edges[c.e]
		if c.t == 0 && p.hits(forbidden, s, e) {
			continue
		}
		for c.t < len(trans) {
			tr := &trans[c.t]
			c.t++
			if p.allows(tr, s, e) {
				return step{e.to*p.q + uint32(tr.to), e, tr}, true
			}
		}
	}
	return step{}, false
}

func (p *product) hits(forbidden []*obligation, s uint32, e edge) bool {
	for _, o := range forbidden {
		if p.g.sat(o, s, e) {
			return true
		}
	}
	return false
}

func (p *product) allows(tr *transition, s uint32, e edge) bool {
	for _, o := range tr.need {
		if !p.g.sat(o, s, e) {
			return false
		}
	}
	return true
}

// search looks for a fair strongly connected component reachable from the initial states; it
// returns the number of the component and what is forbidden inside it.
func (p *product) search() (comp uint32, forbidden []*obligation, ok bool) {
	roots := make([]uint32, len(p.g.init))
	for i, s := range p.g.init {
		roots[i] = s * p.q
	}
	return p.fair(roots, 0, nil, 0)
}

// maxStreett bounds the recursion: each level forbids at least one more predicate.
const maxStreett = 10_000

func (p *product) fair(roots []uint32, within uint32, forbidden []*obligation, depth int) (comp uint32, forb []*obligation, ok bool) {
	if depth > maxStreett {
		return 0, nil, false
	}
	type part struct {
		nodes []uint32
		forb  []*obligation
		id    uint32
	}
	var again []part
	found := false
	p.tarjan(roots, within, forbidden, func(nodes []uint32, id uint32) bool {
		h := p.inspect(nodes, id, forbidden)
		if !h.edges || h.promises != (uint64(1)<<p.c.auto.promises)-1 || !all(h.buchi) {
			return true
		}
		more := forbidden
		for i, pair := range p.c.streett {
			if h.p[i] && !h.q[i] {
				more = append(more[:len(more):len(more)], pair[0])
			}
		}
		if len(more) == len(forbidden) {
			comp, forb, found = id, forbidden, true
			return false
		}
		again = append(again, part{append([]uint32(nil), nodes...), more, id})
		return true
	})
	if found {
		return comp, forb, true
	}
	for _, a := range again {
		for _, n := range a.nodes {
			p.index[n] = 0
		}
		if c, f, ok := p.fair(a.nodes, a.id, a.forb, depth+1); ok {
			return c, f, true
		}
	}
	return 0, nil, false
}

func all(b []bool) bool {
	for _, x := range b {
		if !x {
			return false
		}
	}
	return true
}

func (p *product) inspect(nodes []uint32, id uint32, forbidden []*obligation) hit {
	h := hit{buchi: make([]bool, len(p.c.buchi)), p: make([]bool, len(p.c.streett)), q: make([]bool, len(p.c.streett))}
	for _, n := range nodes {
		s := p.state(n)
		for c := (cursor{n: n}); ; {
			st, ok := p.next(&c, forbidden)
			if !ok {
				break
			}
			if p.comp[st.to] != id {
				continue
			}
			h.edges = true
			h.promises |= ^st.tr.postpone & ((1 << p.c.auto.promises) - 1)
			for i, o := range p.c.buchi {
				h.buchi[i] = h.buchi[i] || p.g.sat(o, s, st.edge)
			}
			for i, pair := range p.c.streett {
				h.p[i] = h.p[i] || p.g.sat(pair[0], s, st.edge)
				h.q[i] = h.q[i] || pair[1] != nil && p.g.sat(pair[1], s, st.edge)
			}
		}
	}
	return h
}

// tarjan finds the strongly connected components reachable from roots among the nodes whose
// component is within; emit gets each with its new number and returns false to stop.
func (p *product) tarjan(roots []uint32, within uint32, forbidden []*obligation, emit func([]uint32, uint32) bool) {
	var calls []cursor
	var stack []uint32
	count := uint32(0)
	open := func(n uint32) {
		count++
		p.index[n], p.low[n] = count, count
		stack = append(stack, n)
		p.onStack[n] = true
		calls = append(calls, cursor{n: n})
	}
	for _, r := range roots {
		if p.index[r] != 0 || p.comp[r] != within {
			continue
		}
		open(r)
		for len(calls) > 0 {
			c := &calls[len(calls)-1]
			if st, ok := p.next(c, forbidden); ok {
				switch {
				case p.comp[st.to] != within && !p.onStack[st.to]:
				case p.index[st.to] == 0:
					open(st.to)
				case p.onStack[st.to]:
					p.low[c.n] = min(p.low[c.n], p.index[st.to])
				}
				continue
			}
			n := c.n
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				up := calls[len(calls)-1].n
				p.low[up] = min(p.low[up], p.low[n])
			}
			if p.low[n] != p.index[n] {
				continue
			}
			p.last++
			i := len(stack) - 1
			for stack[i] != n {
				i--
			}
			nodes := stack[i:]
			for _, x := range nodes {
				p.comp[x] = p.last
				p.onStack[x] = false
			}
			stack = stack[:i]
			if !emit(nodes, p.last) {
				return
			}
		}
	}
}

// lasso returns the states of a path to the component and of a cycle in it that meets every fairness
// condition.
func (p *product) lasso(id uint32, forbidden []*obligation) (prefix, cycle []uint32) {
	roots := make([]uint32, len(p.g.init))
	for i, s := range p.g.init {
		roots[i] = s * p.q
	}
	nodes, at := p.walk(roots, nil, func(uint32) bool { return true }, func(n uint32, _ *step) bool { return p.comp[n] == id })
	if at == nil {
		return nil, nil
	}
	start := *at
	cur := start
	inside := func(n uint32) bool { return p.comp[n] == id }
	var loop []uint32
	for _, goal := range p.goals(id, forbidden) {
		seg, end := p.walk([]uint32{cur}, forbidden, inside, func(n uint32, st *step) bool {
			return st != nil && goal(n, st)
		})
		if end == nil {
			continue
		}
		loop = append(loop, seg[1:]...)
		cur = *end
	}
	if cur != start || len(loop) == 0 {
		seg, end := p.walk([]uint32{cur}, forbidden, inside, func(n uint32, st *step) bool { return st != nil && st.to == start })
		if end != nil {
			loop = append(loop, seg[1:]...)
		}
	}
	for _, n := range nodes {
		prefix = append(prefix, p.state(n))
	}
	for _, n := range loop {
		cycle = append(cycle, p.state(n))
	}
	return prefix, cycle
}

// goals are the conditions that a fair cycle must meet on some step.
func (p *product) goals(id uint32, forbidden []*obligation) []func(uint32, *step) bool {
	var out []func(uint32, *step) bool
	for _, o := range p.c.buchi {
		out = append(out, func(n uint32, st *step) bool { return p.g.sat(o, p.state(n), st.edge) })
	}
	for i := range p.c.auto.promises {
		out = append(out, func(_ uint32, st *step) bool { return st.tr.postpone&(1<<i) == 0 })
	}
	for _, pair := range p.c.streett {
		if pair[1] != nil {
			out = append(out, func(n uint32, st *step) bool { return p.g.sat(pair[1], p.state(n), st.edge) })
		}
	}
	return out
}

// walk is a breadth-first search; goal is asked of each root without a step and of each step. It
// returns the nodes of the path, both ends included, and the last one.
func (p *product) walk(roots []uint32, forbidden []*obligation, in func(uint32) bool, goal func(uint32, *step) bool) ([]uint32, *uint32) {
	prev := map[uint32]uint32{}
	seen := map[uint32]bool{}
	back := func(n uint32) []uint32 {
		path := []uint32{n}
		for {
			m, ok := prev[n]
			if !ok {
				break
			}
			path = append(path, m)
			n = m
		}
		for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
			path[i], path[j] = path[j], path[i]
		}
		return path
	}
	queue := append([]uint32(nil), roots...)
	for _, r := range roots {
		seen[r] = true
		if goal(r, nil) {
			return []uint32{r}, &r
		}
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for c := (cursor{n: n}); ; {
			st, ok := p.next(&c, forbidden)
			if !ok {
				break
			}
			if !in(st.to) {
				continue
			}
			if goal(n, &st) || !seen[st.to] && goal(st.to, nil) {
				return append(back(n), st.to), &st.to
			}
			if !seen[st.to] {
				seen[st.to] = true
				prev[st.to] = n
				queue = append(queue, st.to)
			}
		}
	}
	return nil, nil
}
