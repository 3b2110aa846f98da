package feel

import (
	"strings"

	"github.com/cockroachdb/apd/v3"
)

func numberBuiltins() []builtin {
	return []builtin{
		{name: "number", params: "from | from, grouping separator, decimal separator?", run: runNumber},
		{name: "decimal", params: "n, scale", run: rounding(roundHalfEven)},
		{name: "floor", params: "n, scale?", run: rounding(roundFloor)},
		{name: "ceiling", params: "n, scale?", run: rounding(roundCeiling)},
		{name: "round up", params: "n, scale?", run: rounding(roundUp)},
		{name: "round down", params: "n, scale?", run: rounding(roundDown)},
		{name: "round half up", params: "n, scale?", run: rounding(roundHalfUp)},
		{name: "round half down", params: "n, scale?", run: rounding(roundHalfDown)},
		{name: "abs", params: "n", run: runAbs},
		{name: "modulo", params: "dividend, divisor", run: runModulo},
		{name: "sqrt", params: "number", run: decimalFunction((*apd.Context).Sqrt)},
		{name: "log", params: "number", run: decimalFunction((*apd.Context).Ln)},
		{name: "exp", params: "number", run: decimalFunction((*apd.Context).Exp)},
		{name: "odd", params: "number", run: parity(true)},
		{name: "even", params: "number", run: parity(false)},
	}
}

// runNumber reads a number from a text; the separators are one of blank, comma and point, or null.
func runNumber(c *call) Value {
	if n, ok := c.single(0).(Number); ok && len(c.args) == 1 {
		return n
	}
	s := c.text(0)
	if c.bad {
		return Null{}
	}
	if len(c.args) > 1 {
		var ok bool
		if s, ok = c.ungrouped(s); !ok {
			return c.null("the separators are not \" \", \",\" and \".\"")
		}
	}
	n, err := ParseNumber(s)
	if err != nil {
		return c.null("%v", err)
	}
	return n
}

func (c *call) ungrouped(s string) (string, bool) {
	grouping, point := "", ""
	if c.given(1) {
		if grouping = c.text(1); grouping != " " && grouping != "," && grouping != "." {
			return "", false
		}
	}
	if c.given(2) {
		if point = c.text(2); point != "," && point != "." || point == grouping {
			return "", false
		}
	}
	if grouping != "" {
		s = strings.ReplaceAll(s, grouping, "")
	}
	if point != "" {
		s = strings.ReplaceAll(s, point, ".")
	}
	return s, true
}

// rounding rounds argument 1 to the scale of argument 2, by default to an integer.
func rounding(mode apd.Rounder) func(*call) Value {
	return func(c *call) Value {
		n, scale := c.number(0), int64(0)
		if len(c.args) > 1 {
			scale = c.integer(1)
		}
		if c.bad || !c.m.chargeDistance(n, Int(0)) || !c.m.charge(int(min(max(scale, -scale), maxExponent))/8) {
			return Null{}
		}
		return c.result(n.round(scale, mode))
	}
}

func runAbs(c *call) Value {
	switch v := c.single(0).(type) {
	case Number:
		if v.Sign() < 0 {
			return v.neg()
		}
		return v
	case DaysTime:
		if v.sign() < 0 {
			return v.neg()
		}
		return v
	case YearsMonths:
		return YearsMonths{max(v.months, -v.months)}
	default:
		return c.null("argument 1 is a %s, not a number or duration", v.Kind())
	}
}

func runModulo(c *call) Value {
	dividend, divisor := c.number(0), c.number(1)
	if c.bad || !c.m.chargeDistance(dividend, divisor) {
		return Null{}
	}
	return c.result(dividend.floorMod(divisor))
}

// decimalFunction is a function of one number, computed by the decimal library to the full precision.
func decimalFunction(f func(ctx *apd.Context, d, x *apd.Decimal) (apd.Condition, error)) func(*call) Value {
	return func(c *call) Value {
		n := c.number(0)
		if c.bad || !c.m.charge(powerSteps) {
			return Null{}
		}
		return c.result(arithmetic(func(ctx *apd.Context, d *apd.Decimal) error { _, err := f(ctx, d, n.d); return err }))
	}
}

func parity(odd bool) func(*call) Value {
	return func(c *call) Value {
		n := c.number(0)
		if c.bad {
			return Null{}
		}
		rest, ok := n.floorMod(Int(2))
		if !ok || !n.isInteger() {
			return c.null("%v is not an integer", n)
		}
		return Bool((rest.Sign() != 0) == odd)
	}
}
