package eval

import (
	"sync"
	"sync/atomic"

	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

// builds reports whether x makes a value or decides a question about whole sets, so that remembering
// its value is cheaper than evaluating it.
func builds(x syntax.Expr) bool {
	switch x := x.(type) {
	case *syntax.Record, *syntax.Tuple, *syntax.SetEnum, *syntax.SetFilter, *syntax.SetMap, *syntax.FcnDef, *syntax.Quant:
		return true
	case *syntax.Op:
		switch x.Name {
		case "\\cup", "\\cap", "\\", "UNION", "\\subseteq", "\\X":
			return true
		}
		return !core[x.Name] && len(x.Name) > 2
	case *syntax.Ref:
		return len(x.Parts[len(x.Parts)-1].Args) > 0
	}
	return false
}

// Bounds on what is remembered by the value of a slot.
const (
	maxMemoAtoms = 4096
	maxMemoInts  = 256
)

// memoTable remembers values by the atom or small integer in a slot. Lists are replaced, never changed.
type memoTable struct {
	atoms, ints atomic.Pointer[[]value.Value]
	mu          sync.Mutex
}

// list returns the list that k is remembered in, and its index there; nil for other values.
func (t *memoTable) list(k value.Value) (*atomic.Pointer[[]value.Value], int) {
	switch k := k.(type) {
	case *value.Atom:
		if i := k.Index(); i < maxMemoAtoms {
			return &t.atoms, i
		}
	case value.Int:
		if k >= 0 && k < maxMemoInts {
			return &t.ints, int(k)
		}
	default:
	}
	return nil, 0
}

func (t *memoTable) set(l *atomic.Pointer[[]value.Value], i int, v value.Value) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var list []value.Value
	if old := l.Load(); old != nil {
		list = append(list, *old...)
	}
	for i >= len(list) {
		list = append(list, nil)
	}
	list[i] = v
	l.Store(&list)
}

// memoBySlot remembers the value of an expression that depends on one slot only: a quantifier over a
// constant set evaluates it once for each element, not once for each state.
func (cp *compiler) memoBySlot(n node) node {
	fn, slot, t, kept := n.fn, n.slot, &memoTable{}, &cp.p.kept
	get := func(c *Ctx) value.Value {
		l, i := t.list(slot(c))
		if l == nil {
			return fn(c)
		}
		if p := l.Load(); p != nil && i < len(*p) {
			if v := (*p)[i]; v != nil {
				return v
			}
		}
		v := fn(c)
		if s, ok := v.(value.Set); ok && s.Len() >= 0 && s.Len() <= maxListed {
			v = value.Share(s)
		}
		switch v.(type) {
		case value.Bool, value.Int, *value.Atom, *value.Elems, *value.Fcn:
			v.Hash()
			v = kept.Keep(v)
			t.set(l, i, v)
		case *value.Both:
			t.set(l, i, v)
		default:
			// An infinite set or a function on demand may hold on to the evaluation in progress.
		}
		return v
	}
	out := n
	out.fn, out.late = get, nil
	if n.pred != nil {
		out.pred = func(c *Ctx) bool { return bool(get(c).(value.Bool)) }
	}
	return out
}

// stamps say which states a Ctx is fixed on; zero means that a state may change under the evaluation.
// What depends on a fixed state alone is evaluated once for it: above all the expressions that a
// refinement substitutes for variables, which every conjunct of the abstract action reads again.
type stamps struct{ cur, next uint64 }

// Fix declares that Cur stays as it is until the next call of Fix or Free.
func (c *Ctx) Fix() {
	c.clock++
	c.fixed = stamps{cur: c.clock}
}

// FixNext declares, after Fix, that Next too stays as it is until the next call of Fix, FixNext or Free.
func (c *Ctx) FixNext() {
	c.clock++
	c.fixed.next = c.clock
}

// FreeNext takes the declaration about Next back, Free both.
func (c *Ctx) FreeNext() { c.fixed.next = 0 }

// Free takes the declarations back.
func (c *Ctx) Free() { c.fixed = stamps{} }

// stateKey is a definition, or an expression that stands for a variable, read in one of two states.
type stateKey struct {
	sym    *symbol
	primed bool
}

// cell keeps the value of a stateKey for the fixed state with the stamp at.
type cell struct {
	at uint64
	v  value.Value
}

// memoState remembers the value of s, compiled to n, for a fixed state or step.
func (cp *compiler) memoState(s *symbol, n node, e env) node {
	if n.lvl < 1 || n.lvl > 2 || !n.closed() || n.impure || n.trivial || e.world != 0 || e.enab {
		return n
	}
	key := stateKey{s, e.primed}
	i, ok := cp.cells[key]
	if !ok {
		i = len(cp.cells)
		cp.cells[key] = i
	}
	fn, step := n.fn, n.lvl == 2
	get := func(c *Ctx) value.Value {
		at := c.fixed.cur
		if step && at != 0 {
			at = c.fixed.next
		}
		if at == 0 {
			return fn(c)
		}
		for i >= len(c.cells) {
			c.cells = append(c.cells, cell{})
		}
		if k := &c.cells[i]; k.at == at {
			return k.v
		}
		v := fn(c)
		switch v.(type) {
		case value.Bool, value.Int, *value.Atom, *value.Elems, *value.Fcn:
			c.cells[i] = cell{at, v}
		default:
			// A set or function on demand reads the state when it is asked.
		}
		return v
	}
	out := n
	out.fn, out.late = get, nil
	if n.pred != nil {
		out.pred = func(c *Ctx) bool { return bool(get(c).(value.Bool)) }
	}
	return out
}
