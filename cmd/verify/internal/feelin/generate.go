package feelin

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Scope is what the generated expressions may refer to, as JSON.
const Scope = `{
	"amount": 100, "price": 12.5, "zero": 0, "debt": -3, "name": "order", "city": "Graz", "blank": "", "flag": true, "off": false, "nothing": null,
	"numbers": [3, 1, 2], "words": ["b", "a", "c"], "none": [], "mixed": [1, "a", null, true],
	"order": {"total": 12.5, "customer": {"name": "ann", "age": 31}, "lines": [{"sku": "a", "n": 2}, {"sku": "b", "n": 5}]},
	"people": [{"name": "ann", "age": 31}, {"name": "bob", "age": 17}, {"name": "eve"}]
}`

// sort is what an expression is meant to be. What it is at run time may be null all the same.
type sort uint8

const (
	number sort = iota
	text
	truth
	numbers
	words
	record
	records
	date
	clock
	moment
	span
	months
	sorts
)

// generator draws expressions of the grammar that package feel supports.
type generator struct {
	r *rand.Rand
	// bound are the names that are bound where the expression will stand, by sort.
	bound [sorts][]string
}

// Expression draws the n-th expression of a seed. depth bounds its nesting.
func Expression(seed, n uint64, depth int) string {
	g := &generator{r: rand.New(rand.NewPCG(seed, n))}
	return g.of(sort(g.r.IntN(int(sorts))), depth)
}

func (g *generator) one(list ...string) string { return list[g.r.IntN(len(list))] }

// of draws an expression of a sort; one in sixty is null.
func (g *generator) of(s sort, depth int) string {
	if g.r.IntN(60) == 0 {
		return "null"
	}
	if depth <= 0 || g.r.IntN(6) == 0 {
		return g.leaf(s)
	}
	if g.r.IntN(12) == 0 {
		return fmt.Sprintf("(if %s then %s else %s)", g.of(truth, depth-1), g.of(s, depth-1), g.of(s, depth-1))
	}
	return g.fill(g.one(forms(s)...), depth-1)
}

// fill replaces each placeholder of a form by an expression of its sort. Behind a digit the name x is bound to a value of the sort with
// that number.
func (g *generator) fill(form string, depth int) string {
	var b strings.Builder
	for form != "" {
		i := strings.IndexByte(form, '%')
		if i < 0 {
			b.WriteString(form)
			break
		}
		b.WriteString(form[:i])
		letter := form[i+1]
		form = form[i+2:]
		if letter >= '1' && letter <= '9' { // what follows is under a name: x of that sort
			s := sort(letter - '1')
			g.bound[s] = append(g.bound[s], "x")
			b.WriteString(g.fill(form, depth))
			g.bound[s] = g.bound[s][:len(g.bound[s])-1]
			break
		}
		b.WriteString(g.of(sortOf(letter), depth))
	}
	return b.String()
}

// sortOf reads the letter of a placeholder.
func sortOf(letter byte) sort {
	i := strings.IndexByte(letters, letter)
	if i < 0 {
		panic(fmt.Sprintf("feelin: no sort has the letter %c", letter))
	}
	return sort(i)
}

// letters name the sorts in forms.
const letters = "ntbNTrRdcmsM"

func (g *generator) leaf(s sort) string {
	if names := g.bound[s]; len(names) > 0 && g.r.IntN(2) == 0 {
		return names[len(names)-1]
	}
	return g.one(leaves(s)...)
}

func leaves(s sort) []string {
	switch s {
	case number:
		return []string{"0", "1", "2", "7", "-4", "2.5", "0.1", "1000", "amount", "price", "zero", "debt", "order.total", "order.customer.age", "missing"}
	case text:
		return []string{`""`, `"a"`, `"foobar"`, `"Ünï"`, `"a,b;c"`, "name", "city", "blank", "order.customer.name", "order.missing"}
	case truth:
		return []string{"true", "false", "flag", "off", "nothing", "missing"}
	case numbers:
		return []string{"[]", "[1]", "[3, 1, 2]", "[1, 2, 2, 5]", "numbers", "none", "order.lines.n", "people.age"}
	case words:
		return []string{"[]", `["x"]`, `["b", "a", "b"]`, "words", "none", "people.name"}
	case record:
		return []string{"{}", "{a: 1}", `{a: "x", b: {c: 2}}`, "order", "order.customer", "order.lines[1]", "people[-1]"}
	case records:
		return []string{"people", "order.lines", "[{n: 1}, {n: 2}]"}
	case date:
		return []string{`date("2024-02-29")`, `date(2023, 12, 31)`, `@"2024-05-06"`, `date("1999-01-01")`}
	case clock:
		return []string{`time("10:30:00Z")`, `@"23:59:59Z"`, `@"00:00:00Z"`}
	case moment:
		return []string{`date and time("2024-02-29T12:00:00Z")`, `@"2023-12-31T23:59:59Z"`, `date and time("2024-06-01T08:00:00Z")`}
	case span:
		return []string{`duration("P1D")`, `duration("PT2H30M")`, `@"-PT90S"`, `duration("P2DT3H")`}
	default:
		return []string{`duration("P1Y2M")`, `@"P8M"`, `duration("-P3M")`}
	}
}

func forms(s sort) []string {
	switch s {
	case number:
		return numberForms()
	case text:
		return []string{
			"%t + %t", "substring(%t, 2, 3)", "upper case(%t)", "lower case(%t)", "substring before(%t, %t)",
			"substring after(%t, %t)", "string(floor(%n))", "string(%b)", `replace(%t, "[aeiou]", "*")`, "string join(%T)", `string join(%T, ", ")`,
			"%T[2]", "%r.name", `string(%d)`, `string(%m)`, `string(%s)`, `string(%M)`,
		}
	case truth:
		return truthForms()
	case numbers:
		return []string{
			"[%n, %n, %n]", "append(%N, %n)", "concatenate([%n], [%n, %n])", "reverse(%N)", "sublist([%n, %n, %n], 1, 2)", "remove([%n, %n], 2)", "insert before(%N, 1, %n)",
			"distinct values(%N)", "union(%N, %N)", "flatten([%N, [%n]])", "(for x in %N return %1%n)", "%N[item > 1]", "[%N[2]]", "index of(%N, %n)",
			"sort(%N, function(x, y) x < y)", "(for x in 1..3 return %1%n)", "%R.n", "(for x in %N, y in [1, 2] return x * y)", "[%n, %n][item >= 1]",
		}
	case words:
		return []string{
			"[%t, %t]", "append(%T, %t)", "concatenate([%t], [%t, %t])", "reverse(%T)", "distinct values(%T)", "(for x in %T return %2%t)", `split(%t, "[,;]")`,
			`%T[item = "a"]`, "sort(%T, function(x, y) x < y)", "%R.name",
		}
	case record:
		return []string{
			"{a: %n, b: %t}", "{a: %n, b: a + 1}", "{a: {b: %n}, c: %T}", "%R[1]", `context put(%r, "k", %n)`, "context merge([%r, %r])", "{a: %N}",
		}
	case records:
		return []string{"%R[age > 18]", "%R[n > 1]", "[%r, %r]", "(for x in %R return %6%r)", `%R[name = "ann"]`, "get entries(%r)"}
	case date:
		return []string{"(%d + %M)", "(%d - %M)", "date(%m)"}
	case clock:
		return []string{"(%c + %s)", "(%c - %s)", "time(%m)"}
	case moment:
		return []string{"(%m + %s)", "(%m - %s)", "(%m + %M)", "(%m - %M)", "date and time(%d, %c)"}
	case span:
		return []string{"(%s + %s)", "(%s - %s)", "(%m - %m)", "(%c - %c)", "abs(%s)"}
	default:
		return []string{"(%M + %M)", "(%M - %M)", "abs(%M)"}
	}
}

func numberForms() []string {
	return []string{
		"%n + %n", "%n - %n", "%n * %n", "%n / %n", "-(%n)", "(%n + %n) * %n", "%n ** 2", "string length(%t)", "count(%N)", "sum(%N)", "min(%N)", "max(%N)",
		"mean(%N)", "median([%n])", "product(%N)", "floor(%n)", "ceiling(%n)", "abs(%n)", "modulo(%n, 7)", "round half up(%n, 1)", "round half down(%n, 1)",
		"round up(%n, 1)", "round down(%n, 1)", "decimal(%n, 2)", "sqrt(%n)", "%N[1]", "%N[-1]", "%r.total", `number("12.5")`, "number(string(%n))",
		"%d.year", "%d.month", "%d.day", "%m.hour", "%c.minute", "%s.hours", "%s.days", "%M.years", "%M.months", "{a: %n}.a", "{a: %n, b: a * 2}.b", "count(%R)",
		"count(%T)", `(function(x) x + %n)(%n)`, "(for x in %N return %1%n)[1]", "sum(for x in %N return %1%n)", "day of year(%d)", "week of year(%d)",
	}
}

func truthForms() []string {
	return []string{
		"%b and %b", "%b or %b", "not(%b)", "%n < %n", "%n <= %n", "%n > %n", "%n >= %n", "%n = %n", "%n != %n", "%t = %t", "%t != %t", "%t < %t", "[count(%N), 2] = [1, 2]", "count(%N) = 0",
		"%r = %r", "%n between 1 and 20", "(%n in [1..10])", "(%n in (< 5, > 50))", "(%n in [%n, 2])", `(%t in [%t, "a"])`, "contains(%t, %t)", "starts with(%t, %t)",
		"ends with(%t, %t)", `matches(%t, "^[a-z]+$")`, "list contains(%N, %n)", "list contains(%T, %t)", "some x in %N satisfies x > 1", "every x in [%n, 1] satisfies x != 2",
		`some x in %T satisfies x = "a"`, "all([%b, %b])", "any([%b, %b])", "%d < %d", "%d = %d", "%m < %m", "%c < %c", "%s < %s",
		"%s = %s", "%M < %M", "%M = %M", "%n = null", "%t = null", "%r.a = null", "(%n) instance of number", "(%t) instance of string", "(%b) instance of boolean",
		"odd(count(%N))", "even(count(%N))", `%d between @"2000-01-01" and @"2024-03-01"`, "before(1, 2)", "includes([1..9], 4)", "(%m).year = 2024", "(%c).hour = %n",
	}
}
