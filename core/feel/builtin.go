package feel

import (
	"slices"
	"strings"

	"github.com/cockroachdb/apd/v3"
)

// The rounding modes, by the names the decimal library gives them.
const (
	roundDown     = apd.RoundDown
	roundUp       = apd.RoundUp
	roundHalfEven = apd.RoundHalfEven
	roundHalfUp   = apd.RoundHalfUp
	roundHalfDown = apd.RoundHalfDown
	roundFloor    = apd.RoundFloor
	roundCeiling  = apd.RoundCeiling
)

// builtin is one built-in function. params lists the parameter names of its forms: forms are separated by
// "|", names by ",", a "?" marks an optional one and "..." one that takes any number of arguments.
type builtin struct {
	name   string
	params string
	run    func(*call) Value
	// lazy, when set, gets the call before its arguments are evaluated.
	lazy func(*machine, *callNode, *env) Value
}

// findBuiltin returns the built-in of that name, or nil. The tables are built per call, which happens only
// in Parse, because package variables would be shared state.
func findBuiltin(name string) *builtin {
	for _, family := range [...]func() []builtin{
		stringBuiltins, listBuiltins, numberBuiltins, temporalBuiltins, contextBuiltins, rangeBuiltins,
	} {
		table := family()
		for i := range table {
			if table[i].name == name {
				return &table[i]
			}
		}
	}
	return nil
}

// form is one list of parameters.
type form struct {
	names    []string
	required int
	variadic bool
}

func (b *builtin) forms() []form {
	var list []form
	for text := range strings.SplitSeq(b.params, "|") {
		var f form
		for name := range strings.SplitSeq(text, ",") {
			name = strings.TrimSpace(name)
			if name == "" {
				continue
			}
			bare, optional := strings.CutSuffix(name, "?")
			bare, f.variadic = strings.CutSuffix(bare, "...")
			if f.names = append(f.names, bare); !optional {
				f.required = len(f.names)
			}
		}
		list = append(list, f)
	}
	return list
}

// takes reports whether some form takes n positional arguments.
func (b *builtin) takes(n int) bool {
	return slices.ContainsFunc(b.forms(), func(f form) bool {
		return n >= f.required && (n <= len(f.names) || f.variadic)
	})
}

// usage describes the parameters in an error.
func (b *builtin) usage() string {
	forms := strings.Split(b.params, "|")
	for i, text := range forms {
		forms[i] = "(" + strings.TrimSpace(text) + ")"
	}
	return strings.Join(forms, " or ")
}

// arrange brings named arguments into the order of the form that has them all. A parameter left out in
// the middle is nil. It returns nil when no form fits.
func (b *builtin) arrange(args []node, names []string) (ordered []node, orderedNames []string) {
	for _, f := range b.forms() {
		ordered, last := make([]node, len(f.names)), 0
		known := !f.variadic
		for i, name := range names {
			k := slices.Index(f.names, name)
			if k < 0 {
				known = false
				break
			}
			ordered[k], last = args[i], max(last, k+1)
		}
		if known && last >= f.required && !slices.Contains(ordered[:f.required], nil) {
			return ordered[:last], f.names[:last]
		}
	}
	return nil, nil
}

// call is one invocation of a built-in. The accessors below convert an argument as the standard says (a
// list of one item counts as the item, a single value as a list of it, a date and time as its date) and
// set bad when it has the wrong kind; the built-in then returns null.
type call struct {
	m    *machine
	pos  int
	name string
	args []Value
	bad  bool
}

// null notes why the call has no value.
func (c *call) null(format string, args ...any) Value {
	return c.m.null(c.pos, c.name+": "+format, args...)
}

func (c *call) wrong(i int, want string) {
	if !c.bad {
		c.null("argument %d is a %s, not a %s", i+1, c.args[i].Kind(), want)
	}
	c.bad = true
}

// given reports whether an optional argument is there and not null.
func (c *call) given(i int) bool { return i < len(c.args) && c.args[i].Kind() != KindNull }

// single returns argument i, or the item of a list of one.
func (c *call) single(i int) Value {
	if list, ok := c.args[i].(List); ok && len(list) == 1 {
		return list[0]
	}
	return c.args[i]
}

func (c *call) text(i int) string {
	s, ok := c.single(i).(String)
	if !ok {
		c.wrong(i, "string")
	} else if !c.m.chargeText(len(s)) {
		c.bad = true
	}
	return string(s)
}

func (c *call) number(i int) Number {
	n, ok := c.single(i).(Number)
	if !ok {
		c.wrong(i, "number")
		return Int(0)
	}
	return n
}

// integer returns argument i, a number without fraction.
func (c *call) integer(i int) int64 {
	n, ok := c.number(i).Int64()
	if !ok && !c.bad {
		c.null("argument %d is not an integer", i+1)
		c.bad = true
	}
	return n
}

func (c *call) list(i int) List {
	switch v := c.args[i].(type) {
	case List:
		if !c.m.charge(len(v)) {
			c.bad = true
		}
		return v
	case Null:
		c.wrong(i, "list")
		return nil
	default:
		return List{v}
	}
}

func (c *call) context(i int) *Context {
	v, ok := c.single(i).(*Context)
	if !ok {
		c.wrong(i, "context")
		return &Context{}
	}
	if !c.m.charge(v.Len()) {
		c.bad = true
	}
	return v
}

// spread returns the items of the one list argument, or the arguments themselves.
func (c *call) spread() List {
	if len(c.args) == 1 {
		return c.list(0)
	}
	if !c.m.charge(len(c.args)) {
		c.bad = true
	}
	return c.args
}

// result wraps a decimal operation's outcome.
func (c *call) result(n Number, ok bool) Value {
	if c.bad {
		return Null{}
	}
	if !ok {
		return c.null("the result has no value")
	}
	return n
}

// made returns a list that the built-in made, within the limit.
func (c *call) made(list List) Value {
	if c.bad || !c.m.room(len(list)) || !c.m.charge(len(list)) {
		return Null{}
	}
	return list
}
