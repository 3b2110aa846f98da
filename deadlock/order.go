package deadlock

import "slices"

// graph is in which orders locks were taken: an edge from each lock that was held to the one that was waited for.
type graph struct {
	edges map[[2]*object]*edge
	next  map[*object][]*edge
}

// edge is one order of two locks and the first who took it.
type edge struct {
	from, to      *object
	task          string
	first, second []uintptr
	// gates were held whenever this order was taken: a cycle under a common gate cannot close.
	gates []*object
}

func newGraph() graph {
	return graph{edges: map[[2]*object]*edge{}, next: map[*object][]*edge{}}
}

// The bounds of a search for a cycle. Reaching the second is a finding of its own.
const (
	maxOrder = 16
	maxSteps = 100_000
)

// edges notes that t takes o, there, while it holds what it holds, and looks for cycles that this closes.
func (m *monitor) edges(t *task, o *object, there []uintptr) {
	for _, h := range t.held {
		if h.o == o || !h.o.excludes() {
			continue
		}
		if e := m.order.note(t, h, o, there); e != nil {
			steps := 0
			path := m.order.search([]*edge{e}, e.gates, &steps)
			switch {
			case path != nil:
				m.foundOrder(path)
			case steps > maxSteps:
				m.foundSearch(e)
			default:
			}
		}
	}
}

// note adds an order and returns it when it is new, or when it was taken with fewer gates than before.
func (g *graph) note(t *task, h hold, o *object, there []uintptr) *edge {
	var gates []*object
	for _, other := range t.held {
		if other.o != h.o && other.o != o && !other.read {
			gates = append(gates, other.o)
		}
	}
	key := [2]*object{h.o, o}
	if e := g.edges[key]; e != nil {
		kept := common(e.gates, gates)
		if len(kept) == len(e.gates) {
			return nil
		}
		e.gates = kept
		return e
	}
	e := &edge{from: h.o, to: o, task: t.String(), first: h.where, second: there, gates: gates}
	g.edges[key] = e
	g.next[h.o] = append(g.next[h.o], e)
	return e
}

// search extends path to a cycle whose orders have no gate in common, depth first.
func (g *graph) search(path []*edge, gates []*object, steps *int) []*edge {
	last := path[len(path)-1]
	if last.to == path[0].from {
		if len(gates) == 0 {
			return path
		}
		return nil
	}
	if len(path) >= maxOrder {
		return nil
	}
	for _, e := range g.next[last.to] {
		if *steps++; *steps > maxSteps {
			return nil
		}
		if slices.ContainsFunc(path[1:], func(p *edge) bool { return p.from == e.to }) {
			continue
		}
		if found := g.search(append(path[:len(path):len(path)], e), common(gates, e.gates), steps); found != nil {
			return found
		}
	}
	return nil
}

func common(a, b []*object) []*object {
	var both []*object
	for _, o := range a {
		if slices.Contains(b, o) {
			both = append(both, o)
		}
	}
	return both
}
