package check

import (
	"sync"

	"github.com/millrace-dev/millrace/tla/eval"
)

// bitset is a set of small numbers as a string of bytes, so that it can be a map key.
type bitset string

func (b bitset) has(i int) bool { return b[i>>3]&(1<<(i&7)) != 0 }

// graph is the state graph with the truth of the atoms of temporal formulas: state atoms on states,
// action atoms on edges. Every state also has an edge to itself, the stuttering step.
type graph struct {
	keys   map[*eval.Atom]int
	states []*eval.Atom // index in the state part of a letter
	steps  []*eval.Atom
	pos    map[*eval.Atom]int

	init []uint32
	mu   sync.Mutex
	sets map[bitset]uint32
	list []bitset
	recs []*recorder

	// after seal: edges of state i are edge[first[i]:first[i+1]]
	label []uint32
	first []uint32
	edge  []edge
}

type edge struct{ to, label uint32 }

func newGraph(m *Model) *graph {
	g := &graph{keys: map[*eval.Atom]int{}, pos: map[*eval.Atom]int{}, sets: map[bitset]uint32{}}
	var visit func(f *eval.Formula)
	visit = func(f *eval.Formula) {
		if f.Kind == eval.FAtom {
			if _, ok := g.keys[f.Atom]; ok {
				return
			}
			g.keys[f.Atom] = len(g.keys)
			if f.Atom.Action {
				g.pos[f.Atom] = len(g.steps)
				g.steps = append(g.steps, f.Atom)
			} else {
				g.pos[f.Atom] = len(g.states)
				g.states = append(g.states, f.Atom)
			}
		}
		for _, s := range f.Sub {
			visit(s)
		}
	}
	for _, f := range m.fair {
		visit(f)
	}
	for i := range m.live {
		visit(m.live[i].F)
	}
	return g
}

// recorder collects what one worker sees of the graph.
type recorder struct {
	g     *graph
	s     *search
	side  *eval.Ctx
	cache map[bitset]uint32
	buf   []byte
	ids   []uint32
	label []uint32
	count []uint32
	edges []edge
	seen  map[edge]bool
	open  int
	cur   node
}

func (g *graph) recorder(s *search) *recorder {
	r := &recorder{g: g, s: s, side: s.newCtx(), cache: map[bitset]uint32{}, seen: map[edge]bool{}}
	g.mu.Lock()
	g.recs = append(g.recs, r)
	g.mu.Unlock()
	return r
}

func (r *recorder) intern(b []byte) uint32 {
	if i, ok := r.cache[bitset(b)]; ok {
		return i
	}
	g := r.g
	g.mu.Lock()
	defer g.mu.Unlock()
	k := bitset(b)
	i, ok := g.sets[k]
	if !ok {
		i = uint32(len(g.list))
		g.sets[k] = i
		g.list = append(g.list, k)
	}
	r.cache[k] = i
	return i
}

// decide evaluates atoms in the states of c.
func (r *recorder) decide(c *eval.Ctx, atoms []*eval.Atom) (uint32, error) {
	n := (len(atoms) + 7) / 8
	if cap(r.buf) < n {
		r.buf = make([]byte, n)
	}
	b := r.buf[:n]
	clear(b)
	for i, a := range atoms {
		ok, err := a.Expr.Holds(c)
		if err != nil {
			return 0, err
		}
		if ok {
			b[i>>3] |= 1 << (i & 7)
		}
	}
	return r.intern(b), nil
}

// begin records a state and its stuttering step.
func (r *recorder) begin(c *eval.Ctx, n node) error {
	r.cur = n
	r.side.Cur, r.side.Level = n.vals, c.Level
	r.side.Fix()
	l, err := r.decide(r.side, r.g.states)
	if err != nil {
		return err
	}
	r.ids = append(r.ids, n.id)
	r.label = append(r.label, l)
	r.open = len(r.edges)
	next := r.side.Next
	r.side.Next = n.vals
	r.side.FixNext()
	l, err = r.decide(r.side, r.g.steps)
	r.side.Next = next
	if err != nil {
		return err
	}
	r.edges = append(r.edges, edge{n.id, l})
	return nil
}

func (r *recorder) edge(c *eval.Ctx, to uint32) error {
	next := r.side.Next
	r.side.Next = c.Next
	r.side.FixNext()
	l, err := r.decide(r.side, r.g.steps)
	r.side.Next = next
	if err != nil {
		return err
	}
	e := edge{to, l}
	mine := r.edges[r.open:]
	if len(mine) < 16 {
		for _, x := range mine {
			if x == e {
				return nil
			}
		}
	} else {
		if len(mine) == 16 {
			clear(r.seen)
			for _, x := range mine {
				r.seen[x] = true
			}
		}
		if r.seen[e] {
			return nil
		}
		r.seen[e] = true
	}
	r.edges = append(r.edges, e)
	return nil
}

func (r *recorder) end() { r.count = append(r.count, uint32(len(r.edges)-r.open)) }

// seal brings the parts of the workers together, indexed by state.
func (g *graph) seal(n int) {
	g.label = make([]uint32, n)
	g.first = make([]uint32, n+1)
	total := 0
	for _, r := range g.recs {
		for i, id := range r.ids {
			g.label[id] = r.label[i]
			g.first[id+1] = r.count[i]
		}
		total += len(r.edges)
	}
	for i := range n {
		g.first[i+1] += g.first[i]
	}
	g.edge = make([]edge, total)
	for _, r := range g.recs {
		at := 0
		for i, id := range r.ids {
			k := int(r.count[i])
			copy(g.edge[g.first[id]:], r.edges[at:at+k])
			at += k
		}
		r.edges = nil
	}
	g.recs = nil
}

func (g *graph) edges(s uint32) []edge { return g.edge[g.first[s]:g.first[s+1]] }

// holds decides a formula without temporal operators on the step from s along e.
func (g *graph) holds(f *eval.Formula, s uint32, e edge) bool {
	switch f.Kind {
	case eval.FAtom:
		if f.Atom.Action {
			return g.list[e.label].has(g.pos[f.Atom])
		}
		return g.list[g.label[s]].has(g.pos[f.Atom])
	case eval.FConst:
		return f.Val
	case eval.FNot:
		return !g.holds(f.Sub[0], s, e)
	case eval.FAnd:
		for _, x := range f.Sub {
			if !g.holds(x, s, e) {
				return false
			}
		}
		return true
	default:
	}
	for _, x := range f.Sub {
		if g.holds(x, s, e) {
			return true
		}
	}
	return false
}

func (g *graph) sat(o *obligation, s uint32, e edge) bool { return g.holds(o.prop, s, e) != o.neg }
