package feel

import (
	"errors"
	"strings"
	"testing"
)

func evaluate(t *testing.T, source string, scope Scope, options Options) (Value, error) {
	t.Helper()
	e, err := Parse(source)
	if err != nil {
		t.Fatalf("parse %q: %v", source, err)
	}
	return e.Evaluate(scope, options)
}

// Every bound ends in ErrLimit; without one, each of these would outlast the test run's own timeout or memory.
func TestLimits(t *testing.T) {
	doubling := "{a0: [1]"
	for i := range 60 {
		doubling += ", " + strings.ReplaceAll(strings.ReplaceAll("aN: [aP, aP]", "N", itoa(i+1)), "P", itoa(i))
	}
	cases := map[string]string{
		"steps":                  "for a in 1..1000, b in 1..1000, c in 1..1000 return 1",
		"items":                  "for i in 1..1000000 return 1",
		"a range beyond int64":   "for i in -2000000000000000000..2000000000000000000 return 1",
		"calls":                  "(function(f) f(f))(function(f) f(f))",
		"text":                   `{a: "0123456789012345678901234567890123456789", r: for i in 1..25 return if i = 1 then a else partial[-1] + partial[-1]}`,
		"join":                   `string join(for i in 1..50000 return "0123456789012345678901234567890123456789")`,
		"replace":                `replace(string join(for i in 1..1000 return "a"), "a", string join(for i in 1..2000 return "b"))`,
		"text of a shared value": doubling + ", r: string(a60)}",
		"equality":               doubling + ", r: a60 = [a59, a59]}",
		"flatten":                doubling + ", r: flatten(a60)}",
		"type of a shared value": doubling + ", r: a60 instance of list<list<list>> and a60 = a60}",
		"quadratic":              "distinct values(for i in 1..90000 return i)",
		"filter":                 "(for i in 1..90000 return i)[item > 1]",
	}
	for name, source := range cases {
		t.Run(name, func(t *testing.T) {
			v, err := evaluate(t, source, nil, Options{})
			if !errors.Is(err, ErrLimit) {
				t.Errorf("error is %v, want ErrLimit", err)
			}
			if v != Value(Null{}) {
				t.Errorf("value is %.100v, want null beside the error", v)
			}
		})
	}
}

func itoa(i int) string { return Int(int64(i)).String() }

// A value whose tree is far larger than its memory is refused by the converters and cut by String.
func TestSharedValues(t *testing.T) {
	var v Value = List{Int(1)}
	for range 60 {
		v = List{v, v}
	}
	if text := v.String(); len(text) > MaxPrinted+10 || !strings.HasSuffix(text, "…") {
		t.Errorf("String gives %d bytes", len(text))
	}
	if _, err := AppendJSON(nil, v); !errors.Is(err, ErrConvert) {
		t.Errorf("AppendJSON: %v, want ErrConvert", err)
	}
	if _, err := ToGo(v); !errors.Is(err, ErrConvert) {
		t.Errorf("ToGo: %v, want ErrConvert", err)
	}
	if Equal(v, List{v}) {
		t.Error("different values are equal")
	}
}

func TestDepth(t *testing.T) {
	for _, pattern := range [...][3]string{
		{"(", "1", ")"},
		{"[", "1", "]"},
		{"{a: ", "1", "}"},
		{"-", "1", ""},
		{"if true then ", "1", " else 2"},
		{"function(x) ", "1", ""},
		{"1 in (", "1", ")"},
		{"a[", "1", "]"},
		{"abs(", "1", ")"},
		{"for x in ", "1", " return x"},
		{"1 + if true then 1 else ", "1", ""},
		{"x instance of list<", "", ""},
		{"(1..", "1", ")"},
		{"]", "1", "..1]"},
	} {
		for _, depth := range [...]int{MaxDepth + 1, MaxSource / len(pattern[0]+pattern[2]) / 2} {
			source := strings.Repeat(pattern[0], depth) + pattern[1] + strings.Repeat(pattern[2], depth)
			if _, err := Parse(source); !errors.Is(err, ErrSyntax) {
				t.Errorf("%q nested %d times: %v, want ErrSyntax", pattern[0], depth, err)
			}
		}
		source := strings.Repeat(pattern[0], 40) + pattern[1] + strings.Repeat(pattern[2], 40)
		if _, err := Parse(source); err != nil && strings.Contains(err.Error(), "deeper") {
			t.Errorf("%q nested 40 times: %v", pattern[0], err)
		}
	}
	if _, err := Parse(strings.Repeat(" ", MaxSource+1)); !errors.Is(err, ErrSyntax) {
		t.Errorf("a long text: %v, want ErrSyntax", err)
	}
	// A long chain nests to the left and is no deeper than one level of the grammar.
	if v, err := evaluate(t, "1"+strings.Repeat("+1", 20_000), nil, Options{}); err != nil || v.String() != "20001" {
		t.Errorf("a long sum is %v, %v", v, err)
	}
}

func TestErrorPlace(t *testing.T) {
	_, err := Parse("a and\n  ü + ?? b")
	var place *Error
	if !errors.As(err, &place) || place.Line != 2 || place.Column != 10 || place.Offset != 16 {
		t.Errorf("error is %+v", place)
	}
	if _, err := Parse("a = \"\xff\""); !errors.As(err, &place) || place.Offset != 5 {
		t.Errorf("invalid UTF-8: %v", err)
	}
}

func TestExplain(t *testing.T) {
	e, err := Parse("amount > 10 and\n order.total > 5")
	if err != nil {
		t.Fatal(err)
	}
	v, notes, err := e.Explain(NewContext(Entry{"order", NewContext(Entry{"total", String("5")})}), Options{})
	if err != nil || v.Kind() != KindNull {
		t.Fatalf("value %v, error %v", v, err)
	}
	want := []string{
		`1:1: there is no variable "amount"`, "1:8: Null > number has no order", "2:14: string > number has no order",
	}
	if len(notes) != len(want) {
		t.Fatalf("notes are %v", notes)
	}
	for i, note := range notes {
		if note.String() != want[i] {
			t.Errorf("note %d is %q, want %q", i, note, want[i])
		}
	}
	many, err := Parse("[" + strings.Repeat("x, ", 100) + "x]")
	if err != nil {
		t.Fatal(err)
	}
	if _, notes, _ := many.Explain(nil, Options{}); len(notes) != maxNotes {
		t.Errorf("%d notes, want %d", len(notes), maxNotes)
	}
}

func TestHolds(t *testing.T) {
	for source, want := range map[string]bool{"1 < 2": true, "1 > 2": false, "x > 1": false, `"true"`: false, "1": false} {
		e, err := Parse(source)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.Holds(nil, Options{}); err != nil || got != want {
			t.Errorf("%q holds: %v, %v; want %v", source, got, err, want)
		}
	}
}

func TestVariables(t *testing.T) {
	e, err := Parse("for x in list return x + y.z + abs(count) + (function(q) q + r)(1) + {k: 1, m: k}.m + list[item > w]")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(e.Variables(), " "); got != "count item list r w y" {
		t.Errorf("variables are %q", got)
	}
}

func TestAttribute(t *testing.T) {
	literal, err := ParseAttribute("order-placed")
	if err != nil || literal.Expression != nil || literal.Literal != "order-placed" || literal.String() != "order-placed" {
		t.Errorf("literal: %+v, %v", literal, err)
	}
	expression, err := ParseAttribute(" = order.id")
	if err != nil || expression.Expression == nil || expression.Offset != 2 || expression.String() != "=order.id" {
		t.Errorf("expression: %+v, %v", expression, err)
	}
	scope := NewContext(Entry{"order", NewContext(Entry{"id", String("7")})})
	for _, attribute := range [...]Attribute{{Literal: "7"}, expression} {
		if v, err := attribute.Evaluate(scope, Options{}); err != nil || v != Value(String("7")) {
			t.Errorf("%v evaluates to %v, %v", attribute, v, err)
		}
	}
	var place *Error
	if _, err := ParseAttribute("\n =a b"); !errors.As(err, &place) || place.Line != 2 || place.Column != 5 {
		t.Errorf("a fault is at %+v", place)
	}
	if _, err := ParseAttribute("="); !errors.Is(err, ErrSyntax) {
		t.Errorf("an empty expression: %v", err)
	}
}

func TestOptionsAreRead(t *testing.T) {
	if err := (Limits{MaxSteps: -1, MaxCalls: 2000, MaxText: -1, MaxItems: -1}).Validate(); err == nil ||
		strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("limits: %v, want four faults", err)
	}
	if err := (Limits{}).Validate(); err != nil {
		t.Errorf("the zero limits: %v", err)
	}
	if _, err := evaluate(t, "1 + 1", nil, Options{Limits: Limits{MaxSteps: 2}}); !errors.Is(err, ErrLimit) {
		t.Errorf("two steps: %v", err)
	}
	for _, source := range [...]string{"now()", "today()", `@"10:00:00@Europe/Paris"`} {
		if v, err := evaluate(t, source, nil, Options{}); err != nil || v.Kind() != KindNull {
			t.Errorf("%s without clock and zones is %v, %v", source, v, err)
		}
	}
}

func BenchmarkCondition(b *testing.B) {
	e, err := Parse(`amount > 1000 and customer.tier = "gold" or amount between 10 and 20`)
	if err != nil {
		b.Fatal(err)
	}
	scope, err := ParseJSON([]byte(`{"amount": 1200, "customer": {"tier": "gold"}}`))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if held, err := e.Holds(scope.(*Context), Options{}); err != nil || !held {
			b.Fatal(held, err)
		}
	}
}
