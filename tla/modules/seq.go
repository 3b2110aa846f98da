package modules

import (
	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

func op(name string, arity int, f func(c *eval.Ctx, a []eval.Arg) value.Value) *eval.Builtin {
	return &eval.Builtin{Name: name, Arity: arity, Eval: f}
}

// higher declares an operator some of whose arguments are operators of the given arities.
func higher(name string, ops []int, f func(c *eval.Ctx, a []eval.Arg) value.Value) *eval.Builtin {
	return &eval.Builtin{Name: name, Arity: len(ops), Ops: ops, Eval: f}
}

func boolean(b bool) value.Value { return value.Bool(b) }

func number(n int) value.Value { return value.MakeInt(int64(n)) }

func sequences() *eval.Native {
	return &eval.Native{Name: "Sequences", Extends: []string{"Naturals"}, Ops: []*eval.Builtin{
		op("Seq", 1, func(_ *eval.Ctx, a []eval.Arg) value.Value { return &value.Sequences{Of: value.AsSet(a[0])} }),
		op("Len", 1, func(c *eval.Ctx, a []eval.Arg) value.Value {
			if s, ok := a[0].(*value.Atom); ok && !s.Model {
				return number(len(s.Name))
			}
			return number(len(eval.AsSeq(a[0]).Vals))
		}),
		op("Head", 1, func(_ *eval.Ctx, a []eval.Arg) value.Value {
			s := nonEmpty(a[0], "Head")
			return s.Vals[0]
		}),
		op("Tail", 1, func(_ *eval.Ctx, a []eval.Arg) value.Value {
			s := nonEmpty(a[0], "Tail")
			return value.NewTuple(s.Vals[1:])
		}),
		op("Append", 2, func(_ *eval.Ctx, a []eval.Arg) value.Value { return eval.AsSeq(a[0]).Append(a[1]) }),
		op("\\o", 2, concat),
		op("SubSeq", 3, func(c *eval.Ctx, a []eval.Arg) value.Value {
			return subSeq(c, a[0], eval.AsInt(a[1]), eval.AsInt(a[2]))
		}),
		higher("SelectSeq", []int{0, 1}, func(c *eval.Ctx, a []eval.Arg) value.Value {
			var out []value.Value
			for _, v := range eval.AsSeq(a[0]).Vals {
				if eval.AsBool(eval.Call(c, a[1], v)) {
					out = append(out, v)
				}
			}
			return value.NewTuple(out)
		}),
	}}
}

func nonEmpty(v value.Value, what string) *value.Fcn {
	s := eval.AsSeq(v)
	if len(s.Vals) == 0 {
		value.Fail("%s of the empty sequence", what)
	}
	return s
}

func concat(c *eval.Ctx, a []eval.Arg) value.Value {
	if s, ok := a[0].(*value.Atom); ok && !s.Model {
		return c.Run.Prog.U.Str(s.Name + eval.AsStr(a[1]))
	}
	s, t := eval.AsSeq(a[0]), eval.AsSeq(a[1])
	switch {
	case len(s.Vals) == 0:
		return t
	case len(t.Vals) == 0:
		return s
	}
	return value.NewTuple(append(append(make([]value.Value, 0, len(s.Vals)+len(t.Vals)), s.Vals...), t.Vals...))
}

func subSeq(c *eval.Ctx, v value.Value, m, n int64) value.Value {
	if s, ok := v.(*value.Atom); ok && !s.Model {
		if m > n {
			return c.Run.Prog.U.Str("")
		}
		if m < 1 || n > int64(len(s.Name)) {
			value.Fail("SubSeq(%s, %d, %d) is outside the string", value.Short(v), m, n)
		}
		return c.Run.Prog.U.Str(s.Name[m-1 : n])
	}
	s := eval.AsSeq(v)
	if m > n {
		return value.Empty
	}
	if m < 1 || n > int64(len(s.Vals)) {
		value.Fail("SubSeq(%s, %d, %d) is outside the sequence", value.Short(v), m, n)
	}
	return value.NewTuple(s.Vals[m-1 : n])
}

func finiteSets() *eval.Native {
	return &eval.Native{Name: "FiniteSets", Extends: nil, Ops: []*eval.Builtin{
		op("Cardinality", 1, func(_ *eval.Ctx, a []eval.Arg) value.Value {
			s := value.AsSet(a[0])
			n := s.Len()
			if n < 0 {
				value.Fail("Cardinality of the infinite set %s", value.Describe(s))
			}
			return number(n)
		}),
		op("IsFiniteSet", 1, func(_ *eval.Ctx, a []eval.Arg) value.Value { return boolean(value.AsSet(a[0]).Len() >= 0) }),
	}}
}

func bags() *eval.Native {
	return &eval.Native{Name: "Bags", Extends: []string{"Naturals"}, Source: bagsSource}
}

// A bag is a function from its elements to positive numbers.
const bagsSource = `---- MODULE Bags ----
EXTENDS TLC
LOCAL INSTANCE Naturals
LOCAL INSTANCE FiniteSets
LOCAL PlusAll(f, S) == LET RECURSIVE Plus(_)
                           Plus(T) == IF T = {} THEN 0 ELSE LET t == CHOOSE t \in T : TRUE IN f[t] + Plus(T \ {t})
                       IN Plus(S)
IsABag(B) == \A e \in DOMAIN B : B[e] \in Nat /\ B[e] > 0
BagToSet(B) == DOMAIN B
SetToBag(S) == [e \in S |-> 1]
BagIn(e, B) == e \in DOMAIN B
EmptyBag == SetToBag({})
CopiesIn(e, B) == IF e \in DOMAIN B THEN B[e] ELSE 0
B1 \oplus B2 == [e \in (DOMAIN B1) \cup (DOMAIN B2) |-> CopiesIn(e, B1) + CopiesIn(e, B2)]
B1 (-) B2 == [e \in {d \in DOMAIN B1 : B1[d] > CopiesIn(d, B2)} |-> B1[e] - CopiesIn(e, B2)]
BagUnion(S) == LET all == UNION {DOMAIN B : B \in S}
               IN [e \in all |-> PlusAll([B \in S |-> CopiesIn(e, B)], S)]
B1 \sqsubseteq B2 == \A e \in DOMAIN B1 : e \in DOMAIN B2 /\ B1[e] <= B2[e]
SubBag(B) == UNION {{[e \in {d \in S : f[d] > 0} |-> f[e]] : f \in {g \in [S -> 0..(IF S = {} THEN 0 ELSE CHOOSE m \in {B[x] : x \in S} : \A x \in S : B[x] <= m)] : \A x \in S : g[x] <= B[x]}} : S \in {DOMAIN B}}
BagOfAll(F(_), B) == [e \in {F(d) : d \in DOMAIN B} |-> PlusAll(B, {d \in DOMAIN B : F(d) = e})]
BagCardinality(B) == PlusAll(B, DOMAIN B)
====
`
