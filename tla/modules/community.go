package modules

import (
	"embed"
	"math/bits"
	"strings"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

// texts holds the modules that are written in TLA+; operators in Go of the same name replace theirs.
//
//go:embed *.tla
var texts embed.FS

func text(name string) string {
	b, err := texts.ReadFile(name + ".tla")
	if err != nil {
		panic("modules: " + err.Error())
	}
	return string(b)
}

func community() []*eval.Native {
	out := []*eval.Native{
		{Name: "Folds", Ops: folds(), Source: text("Folds")},
		{Name: "Functions", Ops: functionOps(), Source: text("Functions")},
		{Name: "FiniteSetsExt", Ops: finiteSetOps(), Source: text("FiniteSetsExt")},
		{Name: "SequencesExt", Ops: sequenceOps(), Source: text("SequencesExt")},
		{Name: "Bitwise", Ops: bitwise(), Source: text("Bitwise")},
		{Name: "TLCExt", Ops: tlcExt(), Source: text("TLCExt")},
		{Name: "Json", Ops: jsonOps(), Extends: nil},
		{Name: "IOUtils", Ops: ioOps(), Source: text("IOUtils")},
		{Name: "CSV", Ops: csvOps()},
		{Name: "Statistics", Ops: statistics(), Extends: []string{"Naturals"}},
		{Name: "GraphViz", Ops: graphViz()},
		{Name: "SVG", Ops: svgOps(), Source: text("SVG")},
		{Name: "VectorClocks", Ops: []*eval.Builtin{higher("CausalOrder", []int{0, 1, 1, 1}, causalOrder)}, Source: text("VectorClocks")},
	}
	for _, n := range []string{"BagsExt", "Graphs", "UndirectedGraphs", "DyadicRationals", "Combinatorics", "Relation", "Apalache", "Quorum"} {
		out = append(out, &eval.Native{Name: n, Source: text(n)})
	}
	for _, n := range out {
		n.Yields = true
	}
	return out
}

func folds() []*eval.Builtin {
	return []*eval.Builtin{
		higher("MapThenFoldSet", []int{2, 0, 1, 1, 0}, func(c *eval.Ctx, a []eval.Arg) value.Value {
			var rest value.Set = value.List(value.AsSet(a[4]))
			var order []value.Value
			for rest.Len() > 0 {
				v := eval.Call(c, a[3], rest)
				order = append(order, v)
				rest = value.Minus(rest, value.NewSorted([]value.Value{v}))
			}
			acc := a[1]
			for i := len(order) - 1; i >= 0; i-- {
				acc = eval.Call(c, a[0], eval.Call(c, a[2], order[i]), acc)
			}
			return acc
		}),
	}
}

// foldElems folds op from the last element to the first, as choosing the first element of what is
// left and applying op to it and the fold of the rest does.
func foldElems(c *eval.Ctx, op, acc value.Value, elems []value.Value) value.Value {
	for i := len(elems) - 1; i >= 0; i-- {
		acc = eval.Call(c, op, elems[i], acc)
	}
	return acc
}

func functionOps() []*eval.Builtin {
	return []*eval.Builtin{
		higher("FoldFunction", []int{2, 0, 0}, func(c *eval.Ctx, a []eval.Arg) value.Value {
			return foldElems(c, a[0], a[1], eval.AsFcn(a[2]).Vals)
		}),
		higher("FoldFunctionOnSet", []int{2, 0, 0, 0}, func(c *eval.Ctx, a []eval.Arg) value.Value {
			f := eval.AsFcn(a[2])
			keys := value.List(value.AsSet(a[3])).E
			vals := make([]value.Value, len(keys))
			for i, k := range keys {
				vals[i] = eval.Apply(f, k)
			}
			return foldElems(c, a[0], a[1], vals)
		}),
		op("Range", 1, func(_ *eval.Ctx, a []eval.Arg) value.Value {
			return value.NewSet(append([]value.Value(nil), eval.AsFcn(a[0]).Vals...))
		}),
	}
}

func finiteSetOps() []*eval.Builtin {
	return []*eval.Builtin{
		higher("FoldSet", []int{2, 0, 0}, func(c *eval.Ctx, a []eval.Arg) value.Value {
			return foldElems(c, a[0], a[1], value.List(value.AsSet(a[2])).E)
		}),
		higher("Quantify", []int{0, 1}, func(c *eval.Ctx, a []eval.Arg) value.Value {
			n := 0
			value.AsSet(a[0]).Each(func(v value.Value) bool {
				if eval.AsBool(eval.Call(c, a[1], v)) {
					n++
				}
				return true
			})
			return number(n)
		}),
		op("Max", 1, func(_ *eval.Ctx, a []eval.Arg) value.Value { return extreme(a[0], "Max", true) }),
		op("Min", 1, func(_ *eval.Ctx, a []eval.Arg) value.Value { return extreme(a[0], "Min", false) }),
		op("kSubset", 2, func(_ *eval.Ctx, a []eval.Arg) value.Value {
			return &kSubsets{Powerset: value.Powerset{Of: value.AsSet(a[1])}, k: int(eval.AsInt(a[0]))}
		}),
	}
}

// kSubsets is the set of subsets with k elements.
type kSubsets struct {
	value.Powerset
	k int
}

// Contains implements value.Set.
func (s *kSubsets) Contains(v value.Value) bool {
	return s.Powerset.Contains(v) && value.AsSet(v).Len() == s.k
}

// Each implements value.Set.
func (s *kSubsets) Each(f func(value.Value) bool) bool { return s.EachOfSize(s.k, f) }

// Len implements value.Set.
func (s *kSubsets) Len() int {
	n, r := s.Of.Len(), 1
	if s.k < 0 || s.k > n {
		return 0
	}
	for i := 1; i <= s.k; i++ {
		if r > 1<<40 {
			return r
		}
		r = r * (n - s.k + i) / i
	}
	return r
}

// Hash implements value.Value.
func (s *kSubsets) Hash() uint64 { return value.List(s).Hash() }

// String implements value.Value.
func (s *kSubsets) String() string { return value.List(s).String() }

func extreme(v value.Value, name string, largest bool) value.Value {
	e := value.List(value.AsSet(v)).E
	if len(e) == 0 {
		value.Fail("%s of the empty set", name)
	}
	best := eval.AsInt(e[0])
	for _, x := range e {
		if n := eval.AsInt(x); (n > best) == largest {
			best = n
		}
	}
	return value.MakeInt(best)
}

func sequenceOps() []*eval.Builtin {
	foldLeft := func(c *eval.Ctx, op, acc, s value.Value) value.Value {
		for _, v := range eval.AsSeq(s).Vals {
			acc = eval.Call(c, op, acc, v)
		}
		return acc
	}
	return []*eval.Builtin{
		op("ToSet", 1, func(_ *eval.Ctx, a []eval.Arg) value.Value {
			return value.NewSet(append([]value.Value(nil), eval.AsFcn(a[0]).Vals...))
		}),
		op("FlattenSeq", 1, func(c *eval.Ctx, a []eval.Arg) value.Value {
			if s, ok := a[0].(*value.Atom); ok && s.Name == "" {
				return s // the empty string is a sequence too
			}
			var all value.Value = value.Empty
			for i, v := range eval.AsSeq(a[0]).Vals {
				if i == 0 {
					all = v
					continue
				}
				all = concat(c, []eval.Arg{all, v})
			}
			return all
		}),
		op("SetToSeq", 1, func(_ *eval.Ctx, a []eval.Arg) value.Value { return value.NewTuple(value.List(value.AsSet(a[0])).E) }),
		higher("SetToSortSeq", []int{0, 2}, func(c *eval.Ctx, a []eval.Arg) value.Value {
			return sortSeq(c, []eval.Arg{value.NewTuple(value.List(value.AsSet(a[0])).E), a[1]})
		}),
		op("Contains", 2, func(_ *eval.Ctx, a []eval.Arg) value.Value {
			for _, v := range eval.AsSeq(a[0]).Vals {
				if value.Equal(v, a[1]) {
					return value.True
				}
			}
			return value.False
		}),
		op("Reverse", 1, func(_ *eval.Ctx, a []eval.Arg) value.Value {
			s := eval.AsSeq(a[0]).Vals
			out := make([]value.Value, len(s))
			for i, v := range s {
				out[len(s)-1-i] = v
			}
			return value.NewTuple(out)
		}),
		higher("FoldLeft", []int{2, 0, 0}, func(c *eval.Ctx, a []eval.Arg) value.Value { return foldLeft(c, a[0], a[1], a[2]) }),
		higher("FoldSeq", []int{2, 0, 0}, func(c *eval.Ctx, a []eval.Arg) value.Value {
			return foldElems(c, a[0], a[1], eval.AsSeq(a[2]).Vals)
		}),
		higher("FoldRight", []int{2, 0, 0}, func(c *eval.Ctx, a []eval.Arg) value.Value {
			return foldElems(c, a[0], a[2], eval.AsSeq(a[1]).Vals)
		}),
	}
}

func bitwise() []*eval.Builtin {
	bit := func(name string, f func(a, b int64) int64) *eval.Builtin {
		return op(name, 2, func(_ *eval.Ctx, a []eval.Arg) value.Value {
			return value.MakeInt(f(eval.AsInt(a[0]), eval.AsInt(a[1])))
		})
	}
	return []*eval.Builtin{
		bit("&", func(a, b int64) int64 { return a & b }),
		bit("|", func(a, b int64) int64 { return a | b }),
		bit("^^", func(a, b int64) int64 { return a ^ b }),
		bit("shiftR", func(a, b int64) int64 { return a >> uint(min(max(b, 0), 63)) }),
		bit("shiftL", func(a, b int64) int64 { return a << uint(min(max(b, 0), 62)) }),
		op("Not", 1, func(_ *eval.Ctx, a []eval.Arg) value.Value {
			// The complement has no more bits than the number.
			n := eval.AsInt(a[0])
			if n < 0 {
				value.Fail("Not of the negative number %d", n)
			}
			return value.MakeInt(^n & (1<<bits.Len64(uint64(n)) - 1))
		}),
	}
}

// causalOrder sorts log entries so that each comes after those that happened before it: repeatedly
// an entry is taken whose clock no remaining entry precedes.
func causalOrder(c *eval.Ctx, a []eval.Arg) value.Value {
	rest := append([]value.Value(nil), eval.AsSeq(a[0]).Vals...)
	clocks := make([]*value.Fcn, len(rest))
	for i, v := range rest {
		clocks[i] = eval.AsFcn(eval.Call(c, a[1], v))
	}
	var out []value.Value
	for len(rest) > 0 {
		pick := 0
		for i := range rest {
			if before(clocks[i], clocks[pick]) {
				pick = i
			}
		}
		out = append(out, rest[pick])
		rest = append(rest[:pick], rest[pick+1:]...)
		clocks = append(clocks[:pick], clocks[pick+1:]...)
	}
	return value.NewTuple(out)
}

func before(x, y *value.Fcn) bool {
	less := false
	for i, v := range x.Vals {
		n, m := eval.AsInt(v), int64(0)
		if j := y.Index(x.Key(i)); j >= 0 {
			m = eval.AsInt(y.Vals[j])
		}
		if n > m {
			return false
		}
		less = less || n < m
	}
	return less || len(y.Vals) > len(x.Vals) && strings.Compare(x.String(), y.String()) != 0
}
