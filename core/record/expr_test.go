package record

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace-dev/millrace/core/scan"
)

// exprSchema has a nullable field of every type beside some that are not.
func exprSchema(t testing.TB) *Schema {
	return mustSchema(t, "sale", Field{"id", String, false}, Field{"amount", Int64, false}, Field{"price", Float64, false},
		Field{"at", Timestamp, false}, Field{"note", String, true}, Field{"discount", Int64, true}, Field{"paid", Bool, true},
		Field{"due", Timestamp, true}, Field{"raw", Bytes, true}, Field{"rate", Float64, true})
}

const exprRows = `{"id":"a","amount":5,"price":2.5,"at":"2026-01-02T03:04:05Z","note":"n","discount":2,"paid":true,"due":"2026-02-02T00:00:00Z","raw":"AA==","rate":0.5}
{"id":"b","amount":0,"price":0,"at":"2026-01-02T03:04:06Z"}
`

func scope(t testing.TB, s *Schema) *Scope {
	t.Helper()
	sc, err := NewScope("row", s)
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// TestExpressions replays testdata/expr.txt: an expression, then its type and its value on both rows
// of exprRows, or every fault that compiling it must give.
func TestExpressions(t *testing.T) {
	raw, err := os.ReadFile("testdata/expr.txt")
	if err != nil {
		t.Fatal(err)
	}
	sc := scope(t, exprSchema(t))
	b := decodeAll(t, sc.Schema(), checked(t), exprRows)
	var rewritten []string
	for _, block := range strings.Split(strings.TrimSpace(string(raw)), "\n\n") {
		lines := nonComments(block)
		if len(lines) == 0 {
			rewritten = append(rewritten, block)
			continue
		}
		text := strings.ReplaceAll(expandRecord(lines[0]), "⏎", "\n")
		got := describeExpr(sc, b, text)
		rewritten = append(rewritten, strings.Join(append(lines[:1:1], got...), "\n"))
		if !slices.Equal(got, lines[1:]) {
			t.Errorf("%.80s\n got %s\nwant %s", text, strings.Join(got, "\n     "), strings.Join(lines[1:], "\n     "))
		}
	}
	if *rewrite {
		if err := os.WriteFile("testdata/expr.txt", []byte(strings.Join(rewritten, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func describeExpr(sc *Scope, b *Batch, text string) []string {
	e, faults := sc.Compile(text)
	if len(faults) > 0 {
		var out []string
		for _, f := range faults {
			out = append(out, "fault "+scan.Clip(f.Error(), 300))
		}
		return out
	}
	out := []string{Field{Type: e.Type(), Nullable: e.Nullable()}.TypeText()}
	for i := range b.Rows() {
		v, rejection := e.Eval(b.Row(i))
		if rejection != nil {
			out = append(out, rejection.Reason.String()+" "+rejection.Error())
			continue
		}
		json, err := v.AppendJSON(nil)
		if err != nil {
			panic(err)
		}
		out = append(out, string(json))
	}
	return out
}

func TestFilterRejectsARowAndGoesOn(t *testing.T) {
	mem := checked(t)
	sc := scope(t, exprSchema(t))
	b := decodeAll(t, sc.Schema(), mem, exprRows+exprRows)
	f, faults := sc.Filter("10 / row.amount == 2")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	out, rejected := f.Apply(b, mem)
	defer out.Release()
	if out.Rows() != 2 || out.Row(0).Value(0).Text() != "a" || out.Row(1).Value(0).Text() != "a" {
		t.Fatalf("%d rows", out.Rows())
	}
	if len(rejected) != 2 || rejected[0].Row != 1 || rejected[1].Row != 3 || rejected[0].Reason != Evaluation {
		t.Fatalf("rejected %v", rejected)
	}
}

func TestFilterAndKeyRefuseOtherTypes(t *testing.T) {
	sc := scope(t, exprSchema(t))
	for text, want := range map[string]string{
		"row.amount":                   "condition is of type int64, want bool",
		"row.paid":                     "condition may be null",
		"row.amnt > 1":                 "undefined field",
		"coalesce(row.paid, row.paid)": "condition may be null",
	} {
		if _, faults := sc.Filter(text); len(faults) != 1 || !strings.Contains(faults[0].Message, want) {
			t.Errorf("filter %s: %v, want %s", text, faults, want)
		}
	}
	for text, want := range map[string]string{
		"row.price": "key is of type float64", "row.note": "key may be null", "row.due": "key may be null", "(": "",
	} {
		if _, faults := sc.Key(text); len(faults) == 0 || !strings.Contains(faults[0].Message, want) {
			t.Errorf("key %s: %v, want %s", text, faults, want)
		}
	}
	for _, text := range []string{"row.id", "row.id + '/' + string(row.amount)", "coalesce(row.note, '')", "row.at"} {
		if _, faults := sc.Key(text); len(faults) > 0 {
			t.Errorf("key %s: %v", text, faults)
		}
	}
}

func TestAnExpressionOverItsCostRefusesTheRow(t *testing.T) {
	s := mustSchema(t, "text", Field{"a", String, false}, Field{"b", String, false})
	sc := scope(t, s)
	f, faults := sc.Filter("row.a.contains(row.b)")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	mem := checked(t)
	long := strings.Repeat("x", 40_000)
	b := decodeAll(t, s, mem, fmt.Sprintf(`{"a":%q,"b":%q}`+"\n"+`{"a":"xy","b":"y"}`, long, long))
	rows, rejected := f.Select(b, nil)
	if len(rows) != 1 || rows[0] != 1 || len(rejected) != 1 || rejected[0].Reason != CostExceeded {
		t.Fatalf("rows %v, rejected %v", rows, rejected)
	}
}

func TestProjection(t *testing.T) {
	mem := checked(t)
	sc := scope(t, exprSchema(t))
	out := mustSchema(t, "out", Field{"id", String, false}, Field{"each", Int64, false}, Field{"note", String, true},
		Field{"extra", Bool, true})
	p, faults := sc.Project(out, []Assignment{{"each", "100 / row.amount"}})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	b := decodeAll(t, sc.Schema(), mem, exprRows+exprRows)
	got, source, rejected := p.Apply(b, mem)
	defer got.Release()
	text, err := AppendLines(nil, got)
	if err != nil {
		t.Fatal(err)
	}
	line := `{"id":"a","each":20,"note":"n","extra":null}` + "\n"
	if string(text) != line+line || !slices.Equal(source, []int32{0, 2}) {
		t.Fatalf("got %s from %v", text, source)
	}
	if len(rejected) != 2 || rejected[0].Error() != "row 1: /each: `100 / row.amount`: division by zero" {
		t.Fatalf("rejected %v", rejected)
	}
}

func TestProjectionBoundsItsBatch(t *testing.T) {
	mem := checked(t)
	sc := scope(t, exprSchema(t))
	out := mustSchema(t, "out", Field{"id", String, false})
	p, faults := sc.Project(out, []Assignment{{"id", "row.id + row.id + row.id"}})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	p.maxBytes = 7
	b := decodeAll(t, sc.Schema(), mem, exprRows+exprRows)
	got, source, rejected := p.Apply(b, mem)
	defer got.Release()
	if got.Rows() != 2 || len(source) != 2 || len(rejected) != 2 || rejected[0].Row != 2 || rejected[0].Reason != CostExceeded {
		t.Fatalf("%d rows, rejected %v", got.Rows(), rejected)
	}
}

func TestPartitionKeepsTheOrderOfFirstRows(t *testing.T) {
	mem := checked(t)
	sc := scope(t, exprSchema(t))
	b := decodeAll(t, sc.Schema(), mem, exprRows+exprRows+strings.Replace(exprRows, `"id":"a"`, `"id":"c"`, 1))
	id, faults := sc.Key("row.id")
	half, more := sc.Key("10 / row.amount")
	if len(faults)+len(more) > 0 {
		t.Fatal(faults, more)
	}
	groups, rejected := Partition(b, []*Expr{id})
	var got []string
	for _, g := range groups {
		got = append(got, fmt.Sprint(g.Values[0], g.Rows))
	}
	if want := []string{"a [0 2]", "b [1 3 5]", "c [4]"}; !slices.Equal(got, want) || len(rejected) > 0 {
		t.Fatalf("got %v and %v, want %v", got, rejected, want)
	}
	groups, rejected = Partition(b, []*Expr{id, half})
	if len(groups) != 2 || len(groups[0].Values) != 2 || groups[0].Values[1].Int64() != 2 || len(rejected) != 3 || rejected[0].Row != 1 {
		t.Fatalf("groups %v, rejected %v", groups, rejected)
	}
	if all, none := Partition(b, nil); len(all) != 1 || len(all[0].Rows) != b.Rows() || none != nil {
		t.Fatalf("without a key: %v", all)
	}
}

// An expression and a batch are shared by the tasks of all branches. The race detector is the check.
func TestExpressionsAndBatchesAreSharedByTasks(t *testing.T) {
	sc := scope(t, exprSchema(t))
	b := decodeAll(t, sc.Schema(), checked(t), exprRows+exprRows)
	f, faults := sc.Filter("row.id.matches('^a') && row.amount < 1000 && row.at > timestamp('2020-01-01T00:00:00Z')")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 50 {
				if rows, rejected := f.Select(b, nil); !slices.Equal(rows, []int32{0, 2}) || len(rejected) > 0 {
					t.Errorf("rows %v, rejected %v", rows, rejected)
				}
			}
		})
	}
	group.Wait()
}

func TestProjectionFaults(t *testing.T) {
	sc := scope(t, exprSchema(t))
	out := mustSchema(t, "out", Field{"id", Int64, false}, Field{"each", Float64, false}, Field{"note", String, false},
		Field{"amount", Int64, true}, Field{"fresh", Bool, false}, Field{"due", Timestamp, false})
	_, faults := sc.Project(out, []Assignment{
		{"nothing", "1"}, {"each", "row.amount"}, {"each", "1.0"}, {"due", "row.due"}, {"amount", "row.amount +"},
	})
	want := []string{
		"0 schema out has no field nothing",
		"1 expression is of type int64, field each is float64; there are no implicit casts",
		"2 field each is assigned twice",
		"3 expression may be null, field due is timestamp; use coalesce(…, …)",
		"4 mismatched input",
		"-1 field id is int64 and cannot be carried over from string of schema sale: assign it",
		"-1 field note is string and cannot be carried over from string? of schema sale: assign it",
		"-1 field fresh is bool and has no value: assign it",
	}
	if len(faults) != len(want) {
		t.Fatalf("%d faults: %v", len(faults), faults)
	}
	for i, f := range faults {
		if got := fmt.Sprint(f.Index, " ", f.Message); !strings.HasPrefix(got, want[i]) {
			t.Errorf("got %s, want %s", got, want[i])
		}
	}
}

// FuzzExpression compiles any text, and evaluates what compiles: neither may panic, and a result has
// the type that compiling promised.
func FuzzExpression(f *testing.F) {
	for _, text := range []string{"row.amount < 1000", "coalesce(row.note, '') + row.id", "row.due - duration('1h')", "[row.id][0]"} {
		f.Add(text)
	}
	sc := scope(f, exprSchema(f))
	d, err := NewDecoder(sc.Schema(), memory.DefaultAllocator, Options{})
	if err != nil {
		f.Fatal(err)
	}
	r, err := d.Lines([]byte(exprRows))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, faults := sc.Compile(text)
		if (e == nil) == (len(faults) == 0) {
			t.Fatalf("expression %v with faults %v", e, faults)
		}
		if e == nil {
			return
		}
		for i := range r.Batch.Rows() {
			v, rejection := e.Eval(r.Batch.Row(i))
			if rejection == nil && (v.Type() != e.Type() || v.IsNull() && !e.Nullable()) {
				t.Fatalf("%s of %s gave %v of %s", text, e.Type(), v, v.Type())
			}
		}
	})
}
