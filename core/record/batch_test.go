package record

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apache/arrow-go/v18/arrow/array"
)

func TestSelectSharesARunAndCopiesTheRest(t *testing.T) {
	mem := checked(t)
	b := decodeAll(t, orders(t), mem, string(body(5)))
	before := mem.CurrentAlloc()
	run := b.Select([]int32{1, 2, 3}, mem)
	none := b.Select(nil, mem)
	if mem.CurrentAlloc() != before {
		t.Fatalf("a run of rows was copied: %d bytes", mem.CurrentAlloc()-before)
	}
	picked := b.Select([]int32{4, 0}, mem)
	defer run.Release()
	defer none.Release()
	defer picked.Release()
	if run.Rows() != 3 || run.Row(0).Value(2).Int64() != 1 || none.Rows() != 0 {
		t.Fatalf("run has %d rows from %v, none has %d", run.Rows(), run.Row(0).Value(2), none.Rows())
	}
	for i, want := range []string{"order-00000004", "order-00000000"} {
		if v, ok := picked.Row(i).Get("order_id"); !ok || v.Text() != want {
			t.Errorf("row %d is %s, want %s", i, v, want)
		}
	}
	if _, ok := picked.Row(0).Get("nothing"); ok {
		t.Error("a field that is not there was found")
	}
}

func TestNewBatchRefusesColumnsThatDoNotFit(t *testing.T) {
	mem := checked(t)
	b := decodeAll(t, exprSchema(t), mem, exprRows)
	if _, err := NewBatch(orders(t), b.Arrow()); err == nil {
		t.Error("a batch with other columns was accepted")
	}
	strict := mustSchema(t, "strict", Field{"discount", Int64, false})
	column := array.NewRecordBatch(strict.Arrow(), b.Arrow().Columns()[5:6], 2)
	defer column.Release()
	if _, err := NewBatch(strict, column); err == nil || !strings.Contains(err.Error(), "not nullable") {
		t.Errorf("nulls in a field that is not nullable: %v", err)
	}
	other := mustSchema(t, "other", Field{"discount", String, true})
	if _, err := NewBatch(other, column); err == nil || !strings.Contains(err.Error(), "want string") {
		t.Errorf("an int64 column as string: %v", err)
	}
}

func TestBuilderRefusesAMisfitBeforeAnythingIsAdded(t *testing.T) {
	mem := checked(t)
	s := mustSchema(t, "pair", Field{"a", Int64, false}, Field{"b", String, true})
	b := NewBuilder(s, mem)
	defer b.Release()
	for _, values := range [][]Value{
		{Int64Value(1)}, {Int64Value(1), Int64Value(2)}, {NullValue(Int64), StringValue("x")},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v was accepted", values)
				}
			}()
			b.Append(values...)
		}()
	}
	b.Append(Int64Value(1), NullValue(String))
	out := b.Batch()
	defer out.Release()
	if out.Rows() != 1 || !out.Row(0).Value(1).IsNull() {
		t.Fatalf("%d rows", out.Rows())
	}
}

func TestEncodeRefusesWhatJSONCannotSay(t *testing.T) {
	for _, v := range []Value{Float64Value(math.NaN()), Float64Value(math.Inf(-1)), StringValue("\xff")} {
		dst, err := v.AppendJSON([]byte("kept"))
		if !errors.Is(err, ErrNotJSON) || string(dst) != "kept" {
			t.Errorf("%q, %v", dst, err)
		}
	}
}

func TestKeysAreEqualExactlyForEqualValues(t *testing.T) {
	values := []Value{
		StringValue(""), StringValue("a"), BytesValue("a"), StringValue("ab"), NullValue(String), NullValue(Int64), Int64Value(0),
		Int64Value(-1), BoolValue(false), BoolValue(true), TimestampValue(0), TimestampValue(1), Float64Value(0),
	}
	for i, a := range values {
		for j, b := range values {
			if same := bytes.Equal(a.AppendKey(nil), b.AppendKey(nil)); same != (i == j) {
				t.Errorf("keys of %s %v and %s %v: equal is %t", a.Type(), a, b.Type(), b, same)
			}
		}
	}
	ab := StringValue("b").AppendKey(StringValue("a").AppendKey(nil))
	if bytes.Equal(ab, StringValue("").AppendKey(StringValue("ab").AppendKey(nil))) {
		t.Error("concatenated keys do not say where each ends")
	}
	if Int64Value(7).String() != StringValue("7").String() {
		t.Error("a numeric key does not match as text")
	}
}

func TestSchemaListsEveryFault(t *testing.T) {
	_, err := NewSchema("bad", []Field{{"ok", Int64, false}, {"ok", Int64, false}, {"9", String, false}, {"for", String, false}, {"x", 0, false}, {strings.Repeat("n", 65), Bool, false}})
	if !errors.Is(err, ErrSchema) {
		t.Fatal(err)
	}
	for _, want := range []string{`"ok" is defined twice`, `"9": want a letter`, `"for" is reserved`, `"x" has no type`, "65 bytes"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not in: %v", want, err)
		}
	}
	if _, err := NewSchema("empty", nil); !errors.Is(err, ErrSchema) {
		t.Error(err)
	}
	for _, name := range TypeNames() {
		typ, nullable, err := ParseType(name + "?")
		if err != nil || !nullable || (Field{Type: typ, Nullable: true}).TypeText() != name+"?" {
			t.Errorf("type %s: %v", name, err)
		}
	}
	for _, bad := range []string{"", "?", "int", "int64??", "Int64"} {
		if _, _, err := ParseType(bad); err == nil {
			t.Errorf("type %q was accepted", bad)
		}
	}
}

func TestEveryReasonHasAName(t *testing.T) {
	seen := make(map[string]bool)
	for _, r := range Reasons() {
		if seen[r.String()] || strings.HasPrefix(r.String(), "reason_") {
			t.Errorf("reason %d is called %s", r, r)
		}
		seen[r.String()] = true
	}
}

func TestLineReader(t *testing.T) {
	long := strings.Repeat("x", 64)
	text := "one\r\n\n" + long + "\n" + long + "y\n" + long + long + "yz\nlast"
	l, err := NewLineReader(iotest.OneByteReader(strings.NewReader(text)), 64)
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		text     string
		tooLong  string
		unclosed bool
	}{
		{text: "one\r"},
		{text: ""},
		{text: long},
		{text: long, tooLong: "line 4: 65 bytes, the limit is 64"},
		{text: long, tooLong: "line 5: 130 bytes, the limit is 64"},
		{text: "last", unclosed: true},
	}
	var end int64
	for i, w := range want {
		line, rejection, err := l.Next()
		if err != nil {
			t.Fatal(err)
		}
		if string(line.Text) != w.text || line.Number != i+1 || line.Start != end || line.Terminated == w.unclosed {
			t.Errorf("line %d is %+v %q", i+1, line, line.Text)
		}
		if got := rejection; (got == nil) != (w.tooLong == "") || got != nil && got.Error() != w.tooLong {
			t.Errorf("line %d: %v, want %s", i+1, got, w.tooLong)
		}
		end = line.End
	}
	if _, _, err := l.Next(); !errors.Is(err, io.EOF) || end != int64(len(text)) {
		t.Fatalf("%v at %d of %d", err, end, len(text))
	}
	broken, err := NewLineReader(iotest.ErrReader(io.ErrClosedPipe), 64)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := broken.Next(); !errors.Is(err, io.ErrClosedPipe) {
		t.Fatal(err)
	}
	if _, err := NewLineReader(strings.NewReader(""), 1); err == nil {
		t.Error("a limit of one byte was accepted")
	}
}
