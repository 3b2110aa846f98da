package check

import (
	"fmt"
	"testing"

	"github.com/millrace-dev/millrace/tla/eval"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a small random graph with two state atoms and one action atom.
type world struct {
	g     *graph
	atoms []*eval.Atom
}

func drawWorld(t *rapid.T) *world {
	w := &world{g: &graph{keys: map[*eval.Atom]int{}, pos: map[*eval.Atom]int{}, sets: map[bitset]uint32{}}}
	for i := range 3 {
		a := &eval.Atom{Action: i == 2, Name: fmt.Sprint("p", i)}
		w.atoms = append(w.atoms, a)
		w.g.keys[a] = i
	}
	w.g.pos[w.atoms[0]], w.g.pos[w.atoms[1]], w.g.pos[w.atoms[2]] = 0, 1, 0
	for i := range 4 {
		w.g.list = append(w.g.list, bitset([]byte{byte(i)}))
	}
	n := rapid.IntRange(1, 4).Draw(t, "states")
	w.g.first = []uint32{0}
	for s := range n {
		w.g.label = append(w.g.label, uint32(rapid.IntRange(0, 3).Draw(t, "label")))
		w.g.edge = append(w.g.edge, edge{uint32(s), 0})
		for range rapid.IntRange(0, 3).Draw(t, "edges") {
			w.g.edge = append(w.g.edge, edge{uint32(rapid.IntRange(0, n-1).Draw(t, "to")), uint32(rapid.IntRange(0, 1).Draw(t, "act"))})
		}
		w.g.first = append(w.g.first, uint32(len(w.g.edge)))
	}
	w.g.init = []uint32{0}
	return w
}

func (w *world) formula(t *rapid.T, depth int) *eval.Formula {
	if depth == 0 {
		return &eval.Formula{Kind: eval.FAtom, Atom: w.atoms[rapid.IntRange(0, 2).Draw(t, "atom")]}
	}
	kind := []eval.FormulaKind{eval.FNot, eval.FAnd, eval.FOr, eval.FAlways, eval.FEventually}[rapid.IntRange(0, 4).Draw(t, "kind")]
	f := &eval.Formula{Kind: kind, Sub: []*eval.Formula{w.formula(t, depth-1)}}
	if kind == eval.FAnd || kind == eval.FOr {
		f.Sub = append(f.Sub, w.formula(t, depth-1))
	}
	return f
}

// step2 is one step of a lasso.
type step2 struct {
	s uint32
	e edge
}

// holdsOn decides a formula at position i of the lasso whose steps repeat from loop on, by the
// semantics of temporal logic.
func (w *world) holdsOn(f *eval.Formula, lasso []step2, loop, i int) bool {
	switch f.Kind {
	case eval.FAtom:
		return w.g.holds(f, lasso[i].s, lasso[i].e)
	case eval.FNot:
		return !w.holdsOn(f.Sub[0], lasso, loop, i)
	case eval.FAnd:
		return w.holdsOn(f.Sub[0], lasso, loop, i) && w.holdsOn(f.Sub[1], lasso, loop, i)
	case eval.FOr:
		return w.holdsOn(f.Sub[0], lasso, loop, i) || w.holdsOn(f.Sub[1], lasso, loop, i)
	default:
	}
	for j := min(i, loop); j < len(lasso); j++ {
		if j < i && j < loop {
			continue
		}
		if w.holdsOn(f.Sub[0], lasso, loop, j) == (f.Kind == eval.FEventually) {
			return f.Kind == eval.FEventually
		}
	}
	return f.Kind == eval.FAlways
}

// satisfiable tries every lasso of at most n steps.
func (w *world) satisfiable(f *eval.Formula, lasso []step2, at uint32, n int) bool {
	for loop := range lasso {
		if lasso[loop].s == at && w.holdsOn(f, lasso, loop, 0) {
			return true
		}
	}
	if len(lasso) == n {
		return false
	}
	for _, e := range w.g.edges(at) {
		if w.satisfiable(f, append(lasso[:len(lasso):len(lasso)], step2{at, e}), e.to, n) {
			return true
		}
	}
	return false
}

// TestModelLivenessSearch compares the search for a fair component with the definition of the logic:
// whatever a short lasso satisfies the search finds, and the lasso it returns satisfies the formula.
func TestLivenessSearchMatchesTheDefinition(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		f := &eval.Formula{Kind: eval.FAnd, Sub: []*eval.Formula{w.formula(t, 3), w.formula(t, 2)}}
		c, err := conditionOf([]*obligation{normalize(f, false, w.g.keys)})
		if err != nil {
			t.Fatal(err)
		}
		p := newProduct(w.g, c)
		comp, forbidden, ok := p.search()
		if !ok {
			if w.satisfiable(f, nil, 0, 6) {
				t.Fatal("a lasso satisfies the formula, but the search finds none")
			}
			return
		}
		found++
		prefix, cycle := p.lasso(comp, forbidden)
		if len(prefix) == 0 || len(cycle) == 0 || cycle[len(cycle)-1] != prefix[len(prefix)-1] {
			t.Fatalf("prefix %v and cycle %v are no lasso", prefix, cycle)
		}
		if !w.some(f, prefix, cycle) {
			t.Fatalf("prefix %v and cycle %v do not satisfy the formula", prefix, cycle)
		}
	})
	if found == 0 {
		t.Error("no formula was satisfiable")
	}
}

// some tries the edges that a lasso given by its states may take.
func (w *world) some(f *eval.Formula, prefix, cycle []uint32) bool {
	states := append(append([]uint32(nil), prefix...), cycle...)
	loop := len(prefix) - 1
	var try func(lasso []step2) bool
	try = func(lasso []step2) bool {
		i := len(lasso)
		if i == len(states)-1 {
			return w.holdsOn(f, lasso, loop, 0)
		}
		seen := map[edge]bool{}
		for _, e := range w.g.edges(states[i]) {
			if e.to == states[i+1] && !seen[e] {
				seen[e] = true
				if try(append(lasso[:i:i], step2{states[i], e})) {
					return true
				}
			}
		}
		return false
	}
	return try(nil)
}
