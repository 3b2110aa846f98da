package modules

import (
	"strings"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

func show(c *eval.Ctx, v value.Value) {
	if c.Run.Print != nil {
		c.Run.Print(v.String())
	}
}

// impure marks an operator that acts on the run.
func impure(b *eval.Builtin) *eval.Builtin {
	b.State, b.Fresh = true, true
	return b
}

func tlc() *eval.Native {
	return &eval.Native{Name: "TLC", Extends: []string{"Naturals", "Sequences", "FiniteSets"}, Ops: []*eval.Builtin{
		op(":>", 2, func(_ *eval.Ctx, a []eval.Arg) value.Value {
			return value.MakeFcn([]value.Value{a[0]}, []value.Value{a[1]})
		}),
		op("@@", 2, func(_ *eval.Ctx, a []eval.Arg) value.Value { return merge(eval.AsFcn(a[0]), eval.AsFcn(a[1])) }),
		op("Permutations", 1, permutations),
		higher("SortSeq", []int{0, 2}, sortSeq),
		op("ToString", 1, func(c *eval.Ctx, a []eval.Arg) value.Value { return c.Run.Prog.U.Str(a[0].String()) }),
		eval.Identity("TLCEval", 1, nil),
		eval.Identity("Print", 2, show),
		impure(op("PrintT", 1, func(c *eval.Ctx, a []eval.Arg) value.Value { show(c, a[0]); return value.True })),
		impure(op("Assert", 2, func(c *eval.Ctx, a []eval.Arg) value.Value {
			if !eval.AsBool(a[0]) {
				msg := a[1].String()
				if s, ok := a[1].(*value.Atom); ok {
					msg = s.Name
				}
				value.Fail("assertion failed: %s", msg)
			}
			return value.True
		})),
		impure(op("JavaTime", 0, func(c *eval.Ctx, _ []eval.Arg) value.Value {
			v, ok := c.Run.Get(c, "duration")
			if !ok {
				return value.MakeInt(0)
			}
			return v
		})),
		{Name: "Any", Eval: func(*eval.Ctx, []eval.Arg) value.Value { return &anySet{} }},
		eval.Level("TLCGet", tlcGet),
		impure(op("TLCSet", 2, tlcSet)),
		{Name: "RandomElement", Arity: 1, Fresh: true, Eval: func(c *eval.Ctx, a []eval.Arg) value.Value {
			e := value.List(value.AsSet(a[0])).E
			if len(e) == 0 {
				value.Fail("RandomElement of the empty set")
			}
			return e[c.Run.Random(len(e))]
		}},
	}}
}

// anySet contains every value.
type anySet struct{ value.Infinite }

// Contains implements value.Set.
func (*anySet) Contains(value.Value) bool { return true }

func merge(f, g *value.Fcn) value.Value {
	if len(f.Vals) == 0 {
		return g
	}
	keys := append([]value.Value(nil), value.List(f.DomainSet()).E...)
	vals := append([]value.Value(nil), f.Vals...)
	all := value.Union(f.DomainSet(), g.DomainSet()).(*value.Elems)
	if len(all.E) == len(keys) {
		return f
	}
	_ = vals
	out := make([]value.Value, len(all.E))
	for i, k := range all.E {
		if j := f.Index(k); j >= 0 {
			out[i] = f.Vals[j]
		} else {
			out[i] = g.Vals[g.Index(k)]
		}
	}
	return value.MakeFcn(all.E, out)
}

func permutations(_ *eval.Ctx, a []eval.Arg) value.Value {
	e := value.List(value.AsSet(a[0])).E
	if len(e) > 9 {
		value.Fail("Permutations of a set of more than 9 elements")
	}
	var out []value.Value
	perm := append([]value.Value(nil), e...)
	var rec func(i int)
	rec = func(i int) {
		if i == len(perm) {
			out = append(out, value.MakeFcn(e, append([]value.Value(nil), perm...)))
			return
		}
		for j := i; j < len(perm); j++ {
			perm[i], perm[j] = perm[j], perm[i]
			rec(i + 1)
			perm[i], perm[j] = perm[j], perm[i]
		}
	}
	rec(0)
	return value.NewSet(out)
}

// sortSeq is an insertion sort, because the operator need not be a strict order.
func sortSeq(c *eval.Ctx, a []eval.Arg) value.Value {
	out := append([]value.Value(nil), eval.AsSeq(a[0]).Vals...)
	for i := 1; i < len(out); i++ {
		for j := i; j > 0 && eval.AsBool(eval.Call(c, a[1], out[j], out[j-1])); j-- {
			out[j], out[j-1] = out[j-1], out[j]
		}
	}
	return value.NewTuple(out)
}

func tlcGet(c *eval.Ctx, v value.Value, primed bool) value.Value {
	if n, ok := v.(value.Int); ok {
		r, ok := c.Regs[int64(n)]
		if !ok {
			value.Fail("TLCGet(%d) before TLCSet", int64(n))
		}
		return r
	}
	name := eval.AsStr(v)
	if name == "level" {
		if primed {
			return number(c.Level + 1)
		}
		return number(c.Level)
	}
	if strings.HasPrefix(name, "-D") {
		// A switch of the reference tool: what it would turn on is always on here.
		return c.Run.Prog.U.Str("true")
	}
	if c.Run.Get != nil {
		if r, ok := c.Run.Get(c, name); ok {
			return r
		}
	}
	value.Fail("TLCGet(%q) is not known", name)
	return nil
}

func tlcSet(c *eval.Ctx, a []eval.Arg) value.Value {
	if n, ok := a[0].(value.Int); ok {
		a[1].Hash()
		c.Regs[int64(n)] = a[1]
		return value.True
	}
	name := eval.AsStr(a[0])
	if c.Run.Set == nil || !c.Run.Set(c, name, a[1]) {
		value.Fail("TLCSet(%q, …) is not known", name)
	}
	return value.True
}

func randomization() *eval.Native {
	fresh := func(b *eval.Builtin) *eval.Builtin { b.Fresh = true; return b }
	return &eval.Native{Name: "Randomization", Extends: []string{"Naturals"}, Ops: []*eval.Builtin{
		fresh(op("RandomSubset", 2, func(c *eval.Ctx, a []eval.Arg) value.Value {
			return randomSubset(c, int(eval.AsInt(a[0])), value.AsSet(a[1]))
		})),
		fresh(op("RandomSetOfSubsets", 3, func(c *eval.Ctx, a []eval.Arg) value.Value {
			k, n, s := int(eval.AsInt(a[0])), int(eval.AsInt(a[1])), value.AsSet(a[2])
			var out []value.Value
			for range min(k, 100_000) {
				out = append(out, randomPart(c, n, value.List(s).E))
			}
			return value.NewSet(out)
		})),
		op("TestRandomSetOfSubsets", 3, func(_ *eval.Ctx, a []eval.Arg) value.Value { return a[0] }),
	}}
}

func randomPart(c *eval.Ctx, n int, e []value.Value) value.Value {
	var sub []value.Value
	for _, v := range e {
		if c.Run.Random(len(e)) < n {
			sub = append(sub, v)
		}
	}
	return value.NewSet(sub)
}

// randomSubset draws k elements; a symbolic set too large to list is sampled part by part.
func randomSubset(c *eval.Ctx, k int, s value.Set) value.Value {
	n := s.Len()
	if n >= 0 && n <= 200_000 {
		e := append([]value.Value(nil), value.List(s).E...)
		k = min(k, len(e))
		for i := range k {
			j := i + c.Run.Random(len(e)-i)
			e[i], e[j] = e[j], e[i]
		}
		return value.NewSet(e[:k])
	}
	var out []value.Value
	for range k {
		out = append(out, sample(c, s))
	}
	return value.NewSet(out)
}

func sample(c *eval.Ctx, s value.Set) value.Value {
	switch s := s.(type) {
	case *value.Functions:
		keys := value.List(s.Dom).E
		vals := make([]value.Value, len(keys))
		for i := range vals {
			vals[i] = sample(c, s.Rng)
		}
		return value.MakeFcn(keys, vals)
	case *value.Records:
		vals := make([]value.Value, len(s.Sets))
		for i, x := range s.Sets {
			vals[i] = sample(c, x)
		}
		return value.NewFcn(s.Dom, vals)
	case *value.Product:
		vals := make([]value.Value, len(s.Sets))
		for i, x := range s.Sets {
			vals[i] = sample(c, x)
		}
		return value.NewTuple(vals)
	case *value.Powerset:
		var sub []value.Value
		for _, v := range value.List(s.Of).E {
			if c.Run.Random(2) == 0 {
				sub = append(sub, v)
			}
		}
		return value.NewSet(sub)
	}
	e := value.List(s).E
	if len(e) == 0 {
		value.Fail("random choice from the empty set")
	}
	return e[c.Run.Random(len(e))]
}
