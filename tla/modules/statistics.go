package modules

import (
	"math"
	"strconv"
	"strings"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

// statistics returns ChiSquare(expected, actual, alpha): whether the counts of actual agree with those
// expected, so that Pearson's test does not reject that at the significance level alpha, a string.
func statistics() []*eval.Builtin {
	return []*eval.Builtin{
		op("ChiSquare", 3, func(_ *eval.Ctx, a []eval.Arg) value.Value {
			alpha, err := strconv.ParseFloat(eval.AsStr(a[2]), 64)
			if err != nil || alpha <= 0 || alpha > 0.5 {
				value.Fail("significance level %s is no number above 0 and at most 0.5", value.Short(a[2]))
			}
			expected, actual := counts(a[0]), counts(a[1])
			if len(expected) != len(actual) || len(expected) < 2 {
				value.Fail("ChiSquare needs two functions with the same domain of at least two elements")
			}
			return boolean(chiSquare(expected, actual) >= alpha)
		}),
	}
}

func counts(v value.Value) []float64 {
	f := eval.AsFcn(v)
	out := make([]float64, len(f.Vals))
	for i, x := range f.Vals {
		if out[i] = float64(eval.AsInt(x)); out[i] < 0 {
			value.Fail("count %s is negative", value.Short(x))
		}
	}
	return out
}

// chiSquare returns the probability that counts deviate from the expected ones, which are scaled to the
// same total, at least as far as the actual ones do.
func chiSquare(expected, actual []float64) float64 {
	var sumE, sumA float64
	for i := range expected {
		if expected[i] == 0 {
			value.Fail("an expected count is zero")
		}
		sumE += expected[i]
		sumA += actual[i]
	}
	x := 0.0
	for i := range expected {
		e := expected[i] * sumA / sumE
		if e > 0 {
			x += (actual[i] - e) * (actual[i] - e) / e
		}
	}
	return upperGamma(float64(len(expected)-1)/2, x/2)
}

// maxTerms bounds the two expansions of upperGamma; both converge long before.
const maxTerms = 10_000

// upperGamma is the regularized upper incomplete gamma function Q(a, x): one minus the power series for
// small x, the continued fraction (evaluated by Lentz's method) otherwise.
func upperGamma(a, x float64) float64 {
	if x <= 0 {
		return 1
	}
	lg, _ := math.Lgamma(a)
	scale := math.Exp(a*math.Log(x) - x - lg)
	if x < a+1 {
		term := 1 / a
		sum := term
		for n := 1; n < maxTerms && term > sum*1e-16; n++ {
			term *= x / (a + float64(n))
			sum += term
		}
		return 1 - scale*sum
	}
	const tiny = 1e-300
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for n := 1; n < maxTerms; n++ {
		an := -float64(n) * (float64(n) - a)
		b += 2
		if d = an*d + b; math.Abs(d) < tiny {
			d = tiny
		}
		if c = b + an/c; math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		h *= d * c
		if math.Abs(d*c-1) < 1e-15 {
			break
		}
	}
	return scale * h
}

// graphViz returns DotDiGraph(G, VL, EL): the graph G, a record of its nodes and edges, in the language
// of the dot program, with the labels that VL gives to nodes and EL to edges. An edge is a tuple that
// begins with its two ends. Nodes are numbered from 1 in their order.
func graphViz() []*eval.Builtin {
	return []*eval.Builtin{
		higher("DotDiGraph", []int{0, 1, 1}, func(c *eval.Ctx, a []eval.Arg) value.Value {
			u := c.Run.Prog.U
			g := eval.AsFcn(a[0])
			var b strings.Builder
			b.WriteString("digraph MyGraph {")
			nodes := value.List(value.AsSet(eval.Apply(g, u.Str("node")))).E
			number := map[string]int{}
			for i, n := range nodes {
				number[n.String()] = i + 1
				b.WriteString(strconv.Itoa(i+1) + "[label=" + eval.Call(c, a[1], n).String() + "];")
			}
			for _, e := range value.List(value.AsSet(eval.Apply(g, u.Str("edge")))).E {
				ends := eval.AsSeq(e).Vals
				if len(ends) < 2 || number[ends[0].String()] == 0 || number[ends[1].String()] == 0 {
					value.Fail("edge %s does not join two nodes of the graph", value.Short(e))
				}
				from, to := number[ends[0].String()], number[ends[1].String()]
				b.WriteString(strconv.Itoa(from) + "->" + strconv.Itoa(to) + "[label=" + eval.Call(c, a[2], e).String() + "];")
			}
			b.WriteString("}")
			return u.Str(b.String())
		}),
	}
}
