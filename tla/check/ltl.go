package check

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/millrace-dev/millrace/tla/eval"
)

// obligation is a formula in negation normal form with a name for comparison.
type obligation struct {
	kind eval.FormulaKind
	sub  []*obligation
	prop *eval.Formula // for atoms: a formula without temporal operators
	neg  bool
	key  string
}

// normalize pushes negation down to the largest parts without temporal operators.
func normalize(f *eval.Formula, neg bool, keys map[*eval.Atom]int) *obligation {
	if !temporal(f) {
		return &obligation{kind: eval.FAtom, prop: f, neg: neg, key: propKey(f, neg, keys)}
	}
	o := &obligation{kind: f.Kind}
	switch f.Kind {
	case eval.FNot:
		return normalize(f.Sub[0], !neg, keys)
	case eval.FAnd, eval.FOr:
		if neg {
			o.kind = eval.FAnd + eval.FOr - f.Kind
		}
	case eval.FAlways, eval.FEventually:
		if neg {
			o.kind = eval.FAlways + eval.FEventually - f.Kind
		}
	default:
	}
	var names []string
	for _, s := range f.Sub {
		n := normalize(s, neg, keys)
		o.sub = append(o.sub, n)
		names = append(names, n.key)
	}
	o.key = fmt.Sprintf("%d(%s)", o.kind, strings.Join(names, ","))
	return o
}

func temporal(f *eval.Formula) bool {
	if f.Kind == eval.FAlways || f.Kind == eval.FEventually {
		return true
	}
	for _, s := range f.Sub {
		if temporal(s) {
			return true
		}
	}
	return false
}

func propKey(f *eval.Formula, neg bool, keys map[*eval.Atom]int) string {
	s := ""
	if neg {
		s = "~"
	}
	switch f.Kind {
	case eval.FAtom:
		return fmt.Sprintf("%sa%d", s, keys[f.Atom])
	case eval.FConst:
		return fmt.Sprintf("%s%v", s, f.Val)
	default:
	}
	var names []string
	for _, x := range f.Sub {
		names = append(names, propKey(x, false, keys))
	}
	return fmt.Sprintf("%s%d<%s>", s, f.Kind, strings.Join(names, ","))
}

// condition is what a fair counterexample must satisfy: step predicates that hold infinitely often,
// pairs (if p infinitely often then q infinitely often), and an automaton for the rest.
type condition struct {
	buchi   []*obligation
	streett [][2]*obligation // q may be nil: p only finitely often
	auto    *automaton
}

var errAutomaton = errors.New("temporal formula needs an automaton of more than 2000 states")

// conditionOf splits a conjunction into the shapes that need no automaton and the rest.
func conditionOf(parts []*obligation) (*condition, error) {
	c := &condition{}
	var rest []*obligation
	for len(parts) > 0 {
		o := parts[0]
		parts = parts[1:]
		if o.kind == eval.FAnd {
			parts = append(parts, o.sub...)
			continue
		}
		if p, ok := infinitely(o); ok {
			c.buchi = append(c.buchi, p)
			continue
		}
		if p, ok := finally(o); ok {
			c.streett = append(c.streett, [2]*obligation{negated(p), nil})
			continue
		}
		if o.kind == eval.FOr && len(o.sub) == 2 {
			p, ok1 := finally(o.sub[0])
			q, ok2 := infinitely(o.sub[1])
			if !ok1 || !ok2 {
				p, ok1 = finally(o.sub[1])
				q, ok2 = infinitely(o.sub[0])
			}
			if ok1 && ok2 {
				c.streett = append(c.streett, [2]*obligation{negated(p), q})
				continue
			}
		}
		rest = append(rest, o)
	}
	var err error
	c.auto, err = build(rest)
	return c, err
}

func negated(o *obligation) *obligation {
	return &obligation{kind: eval.FAtom, prop: o.prop, neg: !o.neg, key: "~" + o.key}
}

// infinitely recognizes []<>p, finally <>[]p.
func infinitely(o *obligation) (*obligation, bool) {
	return nested(o, eval.FAlways, eval.FEventually)
}

func finally(o *obligation) (*obligation, bool) {
	return nested(o, eval.FEventually, eval.FAlways)
}

func nested(o *obligation, outer, inner eval.FormulaKind) (*obligation, bool) {
	for o.kind == outer && o.sub[0].kind == outer {
		o = o.sub[0]
	}
	if o.kind != outer || o.sub[0].kind != inner || o.sub[0].sub[0].kind != eval.FAtom {
		return nil, false
	}
	return o.sub[0].sub[0], true
}

// automaton is a generalized Büchi automaton whose transitions carry predicates and promises: the
// i-th promise is broken on a transition that postpones its eventuality.
type automaton struct {
	trans    [][]transition
	promises int
}

type transition struct {
	to       int
	need     []*obligation
	postpone uint64
}

// build makes the automaton of a conjunction by expanding obligations, as in the tableau of Gerth,
// Peled, Vardi and Wolper. Without obligations it has one state that allows everything.
func build(parts []*obligation) (*automaton, error) {
	b := &builder{states: map[string]int{}, promise: map[string]int{}, a: &automaton{}}
	b.state(parts)
	for len(b.todo) > 0 {
		set := b.todo[0]
		b.todo = b.todo[1:]
		i := b.states[setKey(set)]
		var out []transition
		b.expand(set, nil, nil, 0, func(need, next []*obligation, post uint64) {
			out = append(out, transition{b.state(next), need, post})
		}, 0)
		b.a.trans[i] = out
		if len(b.a.trans) > 2000 || b.overflow {
			return nil, errAutomaton
		}
	}
	b.a.promises = len(b.promise)
	return b.a, nil
}

type builder struct {
	a        *automaton
	states   map[string]int
	promise  map[string]int
	todo     [][]*obligation
	overflow bool
}

func setKey(set []*obligation) string {
	keys := make([]string, len(set))
	for i, o := range set {
		keys[i] = o.key
	}
	sort.Strings(keys)
	return strings.Join(keys, ";")
}

func (b *builder) state(set []*obligation) int {
	seen := map[string]bool{}
	var uniq []*obligation
	for _, o := range set {
		if !seen[o.key] {
			seen[o.key] = true
			uniq = append(uniq, o)
		}
	}
	k := setKey(uniq)
	i, ok := b.states[k]
	if !ok {
		i = len(b.a.trans)
		b.states[k] = i
		b.a.trans = append(b.a.trans, nil)
		b.todo = append(b.todo, uniq)
	}
	return i
}

func (b *builder) promiseOf(key string) uint64 {
	i, ok := b.promise[key]
	if !ok {
		i = len(b.promise)
		b.promise[key] = i
	}
	if i > 63 {
		b.overflow = true
		return 0
	}
	return 1 << i
}

// expand decides the obligations of a state one after the other and calls emit for each way.
func (b *builder) expand(set, need, next []*obligation, post uint64, emit func(need, next []*obligation, post uint64), depth int) {
	if len(set) == 0 {
		emit(append([]*obligation(nil), need...), append([]*obligation(nil), next...), post)
		return
	}
	if depth > 300 || b.overflow {
		b.overflow = true
		return
	}
	o, rest := set[0], set[1:]
	with := func(more ...*obligation) []*obligation { return append(append([]*obligation(nil), more...), rest...) }
	add := func(l []*obligation, x *obligation) []*obligation { return append(append([]*obligation(nil), l...), x) }
	switch o.kind {
	case eval.FAnd:
		b.expand(with(o.sub...), need, next, post, emit, depth+1)
	case eval.FOr:
		for _, s := range o.sub {
			b.expand(with(s), need, next, post, emit, depth+1)
		}
	case eval.FAlways:
		b.expand(with(o.sub[0]), need, add(next, o), post, emit, depth+1)
	case eval.FEventually:
		p := b.promiseOf(o.key)
		b.expand(with(o.sub[0]), need, next, post, emit, depth+1)
		b.expand(rest, need, add(next, o), post|p, emit, depth+1)
	default:
		b.expand(rest, add(need, o), next, post, emit, depth+1)
	}
}
