package modules

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strconv"
	"strings"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

// Operators that would write files or run programs have no effect: checking a specification must not
// change the machine. They answer as if they had succeeded.

func noEffect(name string, arity int, result func(c *eval.Ctx) value.Value) *eval.Builtin {
	return impure(op(name, arity, func(c *eval.Ctx, _ []eval.Arg) value.Value { return result(c) }))
}

func truth(*eval.Ctx) value.Value { return value.True }

func jsonOps() []*eval.Builtin {
	encode := func(name string) *eval.Builtin {
		return op(name, 1, func(c *eval.Ctx, a []eval.Arg) value.Value {
			b, err := json.Marshal(toJSON(a[0]))
			if err != nil {
				value.Fail("%s: %v", name, err)
			}
			return c.Run.Prog.U.Str(string(b))
		})
	}
	return []*eval.Builtin{
		encode("ToJson"), encode("ToJsonArray"), encode("ToJsonObject"),
		noEffect("JsonSerialize", 2, truth), noEffect("ndJsonSerialize", 2, truth),
		op("JsonDeserialize", 1, func(c *eval.Ctx, a []eval.Arg) value.Value {
			b, err := os.ReadFile(eval.AsStr(a[0]))
			if err != nil {
				value.Fail("JsonDeserialize: %v", err)
			}
			return decode(c, b)
		}),
		op("ndJsonDeserialize", 1, ndJSON),
	}
}

func ndJSON(c *eval.Ctx, a []eval.Arg) value.Value {
	f, err := os.Open(eval.AsStr(a[0]))
	if err != nil {
		value.Fail("ndJsonDeserialize: %v", err)
	}
	defer f.Close() //nolint:errcheck // a file that was only read has nothing to lose
	var out []value.Value
	s := bufio.NewScanner(f)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		if line := strings.TrimSpace(s.Text()); line != "" {
			out = append(out, decode(c, []byte(line)))
		}
	}
	if s.Err() != nil {
		value.Fail("ndJsonDeserialize: %v", s.Err())
	}
	return value.NewTuple(out)
}

func decode(c *eval.Ctx, b []byte) value.Value {
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	var x any
	if err := d.Decode(&x); err != nil {
		value.Fail("cannot decode JSON: %v", err)
	}
	return fromJSON(c, x)
}

func fromJSON(c *eval.Ctx, x any) value.Value {
	switch x := x.(type) {
	case bool:
		return value.Bool(x)
	case string:
		return c.Run.Prog.U.Str(x)
	case json.Number:
		n, err := strconv.ParseInt(x.String(), 10, 64)
		if err != nil {
			value.Fail("JSON number %s is not an integer", x)
		}
		return value.MakeInt(n)
	case []any:
		out := make([]value.Value, len(x))
		for i, v := range x {
			out[i] = fromJSON(c, v)
		}
		return value.NewTuple(out)
	case map[string]any:
		var names []*value.Atom
		var vals []value.Value
		for k, v := range x {
			names = append(names, c.Run.Prog.U.Str(k))
			vals = append(vals, fromJSON(c, v))
		}
		return value.NewRecord(names, vals)
	}
	return c.Run.Prog.U.Model("null")
}

func toJSON(v value.Value) any {
	switch v := v.(type) {
	case value.Bool:
		return bool(v)
	case value.Int:
		return int64(v)
	case *value.Atom:
		return v.Name
	case *value.Fcn:
		if v.IsSeq() {
			return toJSONList(v.Vals)
		}
		m := map[string]any{}
		for i, x := range v.Vals {
			k := v.Key(i).String()
			if a, ok := v.Key(i).(*value.Atom); ok {
				k = a.Name
			}
			m[k] = toJSON(x)
		}
		return m
	case value.Set:
		return toJSONList(value.List(v).E)
	}
	return v.String()
}

func toJSONList(vals []value.Value) []any {
	out := make([]any, len(vals))
	for i, v := range vals {
		out[i] = toJSON(v)
	}
	return out
}

func ioOps() []*eval.Builtin {
	result := func(c *eval.Ctx) value.Value {
		u := c.Run.Prog.U
		return value.NewRecord([]*value.Atom{u.Str("exitValue"), u.Str("stdout"), u.Str("stderr")}, []value.Value{value.MakeInt(0), u.Str(""), u.Str("")})
	}
	return []*eval.Builtin{
		noEffect("IOExec", 1, result), noEffect("IOEnvExec", 2, result), noEffect("IOExecTemplate", 2, result),
		noEffect("IOEnvExecTemplate", 3, result), noEffect("IOSerialize", 3, truth), noEffect("Serialize", 3, result),
		op("IOEnv", 0, environment),
		op("atoi", 1, func(_ *eval.Ctx, a []eval.Arg) value.Value {
			n, err := strconv.ParseInt(eval.AsStr(a[0]), 10, 64)
			if err != nil {
				value.Fail("atoi: %v", err)
			}
			return value.MakeInt(n)
		}),
	}
}

// environment is the record of environment variables.
func environment(c *eval.Ctx, _ []eval.Arg) value.Value {
	env := os.Environ()
	sort.Strings(env)
	var names []*value.Atom
	var vals []value.Value
	seen := map[string]bool{}
	for _, e := range env {
		k, v, _ := strings.Cut(e, "=")
		if k != "" && !seen[k] {
			seen[k] = true
			names = append(names, c.Run.Prog.U.Str(k))
			vals = append(vals, c.Run.Prog.U.Str(v))
		}
	}
	return value.NewRecord(names, vals)
}

func tlcExt() []*eval.Builtin {
	return []*eval.Builtin{
		impure(op("Trace", 0, func(c *eval.Ctx, _ []eval.Arg) value.Value {
			if c.Run.Trace == nil {
				return value.Empty
			}
			return value.NewTuple(c.Run.Trace(c))
		})),
		op("TLCModelValue", 1, func(c *eval.Ctx, a []eval.Arg) value.Value { return c.Run.Prog.U.Model(eval.AsStr(a[0])) }),
		{Name: "TLCNoOp", Arity: 1, Eval: func(_ *eval.Ctx, a []eval.Arg) value.Value { return a[0] }},
		impure(op("TLCFP", 1, func(_ *eval.Ctx, a []eval.Arg) value.Value { return value.MakeInt(int64(a[0].Hash() >> 33)) })),
		impure(op("TLCGetOrDefault", 2, func(c *eval.Ctx, a []eval.Arg) value.Value {
			if v, ok := c.Regs[eval.AsInt(a[0])]; ok {
				return v
			}
			return a[1]
		})),
	}
}

func svgOps() []*eval.Builtin {
	return []*eval.Builtin{
		op("SVGElemToString", 1, func(c *eval.Ctx, a []eval.Arg) value.Value {
			var b strings.Builder
			svg(&b, a[0], 0)
			return c.Run.Prog.U.Str(b.String())
		}),
		op("NodesOfDirectedMultiGraph", 3, func(c *eval.Ctx, a []eval.Arg) value.Value {
			keys := value.List(value.AsSet(a[0])).E
			vals := make([]value.Value, len(keys))
			for i := range keys {
				vals[i] = point(c, 150*(i%4), 150*(i/4))
			}
			return value.MakeFcn(keys, vals)
		}),
		op("NodeOfRingNetwork", 5, func(c *eval.Ctx, a []eval.Arg) value.Value {
			return point(c, int(eval.AsInt(a[0])+eval.AsInt(a[2])*eval.AsInt(a[3])), int(eval.AsInt(a[1])))
		}),
		noEffect("SVGSerialize", 3, truth),
	}
}

func point(c *eval.Ctx, x, y int) value.Value {
	u := c.Run.Prog.U
	return value.NewRecord([]*value.Atom{u.Str("x"), u.Str("y")}, []value.Value{number(x), number(y)})
}

// svg writes an element record [name, attrs, children, innerText].
func svg(b *strings.Builder, v value.Value, depth int) {
	f, ok := v.(*value.Fcn)
	if !ok || depth > 100 {
		value.Fail("expected an SVG element, found %s", value.Short(v))
	}
	get := func(name string) value.Value {
		for i, x := range f.Vals {
			if a, ok := f.Key(i).(*value.Atom); ok && a.Name == name {
				return x
			}
		}
		return value.Empty
	}
	name := plain(get("name"))
	fmt.Fprintf(b, "<%s", name)
	if attrs, ok := get("attrs").(*value.Fcn); ok {
		for i, x := range attrs.Vals {
			fmt.Fprintf(b, " %s=\"%s\"", strings.ReplaceAll(plain(attrs.Key(i)), "_", "-"), plain(x))
		}
	}
	b.WriteString(">")
	if kids, ok := get("children").(*value.Fcn); ok {
		for _, k := range kids.Vals {
			svg(b, k, depth+1)
		}
	}
	if t, ok := get("innerText").(*value.Atom); ok {
		b.WriteString(t.Name)
	}
	fmt.Fprintf(b, "</%s>", name)
}

func plain(v value.Value) string {
	if a, ok := v.(*value.Atom); ok {
		return a.Name
	}
	return v.String()
}
