package modules

import (
	"os"
	"strings"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

func csvOps() []*eval.Builtin {
	return []*eval.Builtin{
		noEffect("CSVWrite", 3, truth), noEffect("CSVWriteRecord", 4, truth),
		op("CSVRead", 3, csvRead),
		op("CSVRecords", 1, func(_ *eval.Ctx, a []eval.Arg) value.Value {
			b, err := os.ReadFile(eval.AsStr(a[0]))
			if err != nil {
				return value.MakeInt(0)
			}
			return number(strings.Count(string(b), "\n"))
		}),
	}
}

// csvRead returns the lines of a file as records of strings with the given columns.
func csvRead(c *eval.Ctx, a []eval.Arg) value.Value {
	columns, delimiter, file := eval.AsSeq(a[0]).Vals, eval.AsStr(a[1]), eval.AsStr(a[2])
	b, err := os.ReadFile(file)
	if err != nil {
		value.Fail("CSVRead: %v", err)
	}
	if delimiter == "" || len(columns) == 0 {
		value.Fail("CSVRead of %s: without a delimiter or columns", file)
	}
	u := c.Run.Prog.U
	names := make([]*value.Atom, len(columns))
	for i, name := range columns {
		names[i] = u.Str(eval.AsStr(name))
	}
	var out []value.Value
	for n, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		fields := strings.Split(strings.TrimSuffix(line, "\r"), delimiter)
		if len(b) == 0 {
			break
		}
		if len(fields) != len(names) {
			value.Fail("CSVRead: %s:%d has %d fields, expected %d", file, n+1, len(fields), len(names))
		}
		vals := make([]value.Value, len(fields))
		for i, f := range fields {
			vals[i] = u.Str(f)
		}
		out = append(out, value.NewRecord(names, vals))
	}
	return value.NewTuple(out)
}
