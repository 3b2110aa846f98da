package modules

import (
	"math"
	"math/bits"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

func add(a, b int64) (int64, bool) {
	r := a + b
	return r, (r > a) == (b > 0)
}

func sub(a, b int64) (int64, bool) {
	r := a - b
	return r, (r < a) == (b > 0)
}

func mul(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	r := a * b
	return r, hi == 0 && lo <= math.MaxInt64 && (r < 0) == ((a < 0) != (b < 0))
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return uint64(-(a + 1)) + 1
	}
	return uint64(a)
}

// div rounds towards minus infinity.
func div(a, b int64) (int64, bool) {
	if b == 0 {
		return 0, false
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q, true
}

func mod(a, b int64) (int64, bool) {
	if b <= 0 {
		return 0, false
	}
	r := a % b
	if r < 0 {
		r += b
	}
	return r, true
}

func pow(a, b int64) (int64, bool) {
	if b < 0 {
		return 0, false
	}
	r := int64(1)
	if a == 0 || a == 1 || a == -1 {
		if b == 0 || a == 1 {
			return 1, true
		}
		if a == 0 {
			return 0, true
		}
		return 1 - 2*(b&1), true
	}
	for range min(b, 64) {
		var ok bool
		if r, ok = mul(r, a); !ok {
			return 0, false
		}
	}
	return r, b <= 64
}

func infinite(name string) *eval.Builtin {
	v := &value.Infinite{Name: name}
	return &eval.Builtin{Name: name, Eval: func(*eval.Ctx, []eval.Arg) value.Value { return v }}
}

func arithmetic() []*eval.Native {
	nat := &eval.Native{Name: "Naturals", Ops: []*eval.Builtin{
		eval.IntOp("+", add), eval.IntOp("-", sub), eval.IntOp("*", mul), eval.IntOp("^", pow),
		eval.IntOp("%", mod), eval.IntOp("\\div", div), eval.Range(), infinite("Nat"),
		eval.IntCompare("<", func(a, b int64) bool { return a < b }),
		eval.IntCompare(">", func(a, b int64) bool { return a > b }),
		eval.IntCompare("<=", func(a, b int64) bool { return a <= b }),
		eval.IntCompare(">=", func(a, b int64) bool { return a >= b }),
	}}
	return []*eval.Native{
		nat,
		{Name: "Integers", Extends: []string{"Naturals"}, Ops: []*eval.Builtin{infinite("Int"), eval.Negate()}},
		{Name: "Reals", Extends: []string{"Integers"}, Ops: []*eval.Builtin{
			infinite("Real"),
			eval.IntOp("/", func(a, b int64) (int64, bool) {
				if b == 0 || a%b != 0 {
					return 0, false
				}
				return a / b, true
			}),
		}},
	}
}
