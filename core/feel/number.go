package feel

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// precision and exponent bounds of decimal128.
const (
	precision   = 34
	maxExponent = 6144
	// maxNumberText bounds the text a number is read from; no decimal128 needs more.
	maxNumberText = 7000
)

// Number is a decimal. It is immutable: the decimal behind the pointer is never written after the Number
// exists, and results always get one of their own.
type Number struct{ d *apd.Decimal }

// decimals returns the arithmetic context. It is built per use because package variables are shared by
// every world of a simulation; it is a few words on the stack.
func decimals() apd.Context {
	return apd.Context{
		Precision:   precision,
		MaxExponent: maxExponent,
		MinExponent: -maxExponent,
		Rounding:    apd.RoundHalfEven,
		Traps:       apd.InvalidOperation | apd.DivisionByZero | apd.DivisionUndefined | apd.Overflow | apd.SystemOverflow,
	}
}

// Int returns the number i.
func Int(i int64) Number { return Number{apd.New(i, 0)} }

// ParseNumber reads a decimal such as -12.5 or 1e3. Digits beyond 34 are rounded; a number beyond the
// exponent range, infinities and NaN are errors.
func ParseNumber(text string) (Number, error) {
	if len(text) > maxNumberText {
		return Number{}, fmt.Errorf("read number: %d bytes are more than %d", len(text), maxNumberText)
	}
	if text == "" || strings.ContainsAny(text, "nNsSxX_") {
		return Number{}, fmt.Errorf("read number: %q is not a number", text)
	}
	ctx := decimals()
	d := new(apd.Decimal)
	if _, _, err := ctx.SetString(d, text); err != nil {
		return Number{}, fmt.Errorf("read number %.40q: %w", text, err)
	}
	return Number{d}, nil
}

// Kind returns KindNumber.
func (Number) Kind() Kind { return KindNumber }

// plainExponent is how far from the point a digit may be for a number to be printed without exponent.
const plainExponent = 40

// String returns the shortest plain form, or scientific notation for very large and very small numbers.
func (n Number) String() string {
	var d apd.Decimal
	d.Reduce(n.d)
	if d.IsZero() {
		return "0"
	}
	if exponent := int64(d.Exponent); exponent > plainExponent || exponent < -plainExponent {
		return d.Text('E')
	}
	return d.Text('f')
}

// Int64 returns the number as an integer, and whether it is one that fits.
func (n Number) Int64() (int64, bool) {
	i, err := n.d.Int64()
	return i, err == nil
}

// Cmp orders two numbers by value: -1, 0 or 1.
func (n Number) Cmp(other Number) int { return n.d.Cmp(other.d) }

// Sign returns -1, 0 or 1.
func (n Number) Sign() int { return n.d.Sign() }

// arithmetic applies one operation of the decimal context; a trapped condition (overflow, division by
// zero) is reported as false.
func arithmetic(f func(ctx *apd.Context, d *apd.Decimal) error) (Number, bool) {
	ctx := decimals()
	d := new(apd.Decimal)
	if err := f(&ctx, d); err != nil || d.Form != apd.Finite {
		return Number{}, false
	}
	return Number{d}, true
}

func (n Number) add(o Number) (Number, bool) {
	return arithmetic(func(ctx *apd.Context, d *apd.Decimal) error { _, err := ctx.Add(d, n.d, o.d); return err })
}

func (n Number) sub(o Number) (Number, bool) {
	return arithmetic(func(ctx *apd.Context, d *apd.Decimal) error { _, err := ctx.Sub(d, n.d, o.d); return err })
}

func (n Number) mul(o Number) (Number, bool) {
	return arithmetic(func(ctx *apd.Context, d *apd.Decimal) error { _, err := ctx.Mul(d, n.d, o.d); return err })
}

func (n Number) div(o Number) (Number, bool) {
	if o.d.IsZero() {
		return Number{}, false
	}
	return arithmetic(func(ctx *apd.Context, d *apd.Decimal) error { _, err := ctx.Quo(d, n.d, o.d); return err })
}

// pow takes 0 ** 0 as 1, as every engine with decimals does; the decimal library calls it undefined.
func (n Number) pow(o Number) (Number, bool) {
	if o.d.IsZero() {
		return Int(1), true
	}
	return arithmetic(func(ctx *apd.Context, d *apd.Decimal) error { _, err := ctx.Pow(d, n.d, o.d); return err })
}

func (n Number) neg() Number {
	d := new(apd.Decimal)
	d.Neg(n.d)
	return Number{d}
}

// floorMod is the standard's modulo: the result has the sign of the divisor.
func (n Number) floorMod(o Number) (Number, bool) {
	if o.d.IsZero() {
		return Number{}, false
	}
	r, ok := arithmetic(func(ctx *apd.Context, d *apd.Decimal) error { _, err := ctx.Rem(d, n.d, o.d); return err })
	if ok && r.Sign() != 0 && r.Sign() != o.Sign() {
		return r.add(o)
	}
	return r, ok
}

// round rounds to scale digits after the point (before it when negative).
func (n Number) round(scale int64, mode apd.Rounder) (Number, bool) {
	if scale < -maxExponent || scale > maxExponent {
		return Number{}, false
	}
	if -scale <= int64(n.d.Exponent) {
		return n, true // it has no digit that far right
	}
	if int64(n.d.Exponent)+n.d.NumDigits() < -scale {
		return n.roundTiny(scale, mode)
	}
	ctx := decimals()
	ctx.Rounding = mode
	ctx.Precision = 2 * maxExponent // the coefficient may need one more digit than the operand has
	d := new(apd.Decimal)
	if _, err := ctx.Quantize(d, n.d, int32(-scale)); err != nil || d.Form != apd.Finite {
		return Number{}, false
	}
	return Number{d}, true
}

// roundTiny rounds a number of less than a tenth of the unit 10**-scale: to nothing, or away to one unit.
func (n Number) roundTiny(scale int64, mode apd.Rounder) (Number, bool) {
	away := mode == apd.RoundUp || mode == apd.RoundCeiling && n.Sign() > 0 || mode == apd.RoundFloor && n.Sign() < 0
	if !away || n.Sign() == 0 {
		return Int(0), true
	}
	return Number{apd.New(int64(n.Sign()), int32(-scale))}, true
}

// isInteger reports whether the number has no fraction.
func (n Number) isInteger() bool {
	if n.d.Exponent >= 0 {
		return true
	}
	var d apd.Decimal
	d.Reduce(n.d)
	return d.Exponent >= 0
}

func squareRoot(n Number) (Number, bool) {
	return arithmetic(func(ctx *apd.Context, d *apd.Decimal) error { _, err := ctx.Sqrt(d, n.d); return err })
}
