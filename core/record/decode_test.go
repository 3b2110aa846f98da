package record

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expectations under testdata with what was seen")

const good = `{"s":"a","o":true,"i":7,"f":1.5,"t":"2026-01-02T03:04:05.123456789Z","b":"AAE="}`

func TestDecodeKeepsEveryTypeAndNull(t *testing.T) {
	mem := checked(t)
	body := good + "\r\n\n  \n" +
		`{"b":"","t":"1969-12-31T23:59:59.5+02:00","f":-0.0,"i":-9223372036854775808,"o":false,"s":"\u00e9\"\n",` +
		`"sx":"x","ox":false,"ix":1,"fx":1e300,"tx":"2262-04-11T00:00:00Z","bx":"/w=="}` + "\n" +
		strings.Replace(good, "{", `{"sx":null,"ix":null,"tx":null,`, 1)
	b := decodeAll(t, everything(t), mem, body)
	got, err := AppendLines(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"s":"a","sx":null,"o":true,"ox":null,"i":7,"ix":null,"f":1.5,"fx":null,"t":"2026-01-02T03:04:05.123456789Z","tx":null,"b":"AAE=","bx":null}
{"s":"é\"\n","sx":"x","o":false,"ox":false,"i":-9223372036854775808,"ix":1,"f":-0,"fx":1e+300,"t":"1969-12-31T21:59:59.5Z","tx":"2262-04-11T00:00:00Z","b":"","bx":"/w=="}
{"s":"a","sx":null,"o":true,"ox":null,"i":7,"ix":null,"f":1.5,"fx":null,"t":"2026-01-02T03:04:05.123456789Z","tx":null,"b":"AAE=","bx":null}
`
	if string(got) != want {
		t.Fatalf("got:\n%swant:\n%s", got, want)
	}
	again, err := AppendLines(nil, decodeAll(t, everything(t), mem, want))
	if err != nil || string(again) != want {
		t.Fatalf("decoding what was encoded gave %v\n%s", err, again)
	}
}

// TestDecodeRejects replays testdata/reject.txt: a record, then the rejection it must get. Each is
// sent between two good records, which must both be in the batch.
func TestDecodeRejects(t *testing.T) {
	raw, err := os.ReadFile("testdata/reject.txt")
	if err != nil {
		t.Fatal(err)
	}
	mem := checked(t)
	cases := 0
	var rewritten []string
	seen := make(map[string]bool)
	for _, block := range strings.Split(string(raw), "\n\n") {
		lines := nonComments(block)
		if len(lines) == 0 {
			rewritten = append(rewritten, block)
			continue
		}
		cases++
		record, want := expandRecord(lines[0]), lines[1]
		options := Options{MaxLineBytes: 4096, IgnoreUnknown: len(lines) > 2 && lines[2] == "ignore unknown", MaxDepth: 3}
		r, err := decoder(t, everything(t), mem, options).Lines([]byte(good + "\n" + record + "\n" + good))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Batch.Release()
		if len(r.Outcomes) != 3 || r.Rejected != 1 || r.Batch.Rows() != 2 || r.Outcomes[2].Row != 1 || r.Outcomes[0].Row != 0 {
			t.Errorf("%.80s: outcomes %+v, %d rows", record, r.Outcomes, r.Batch.Rows())
			continue
		}
		rejection := r.Outcomes[1].Rejection
		seen[rejection.Reason.String()] = true
		got := rejection.Reason.String() + " " + rejection.Error()
		rewritten = append(rewritten, strings.Replace(block, want, got, 1))
		if got != want {
			t.Errorf("%.80s\n got %s\nwant %s", record, got, want)
		}
	}
	if *rewrite {
		if err := os.WriteFile("testdata/reject.txt", []byte(strings.Join(rewritten, "\n\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for reason := Syntax; reason < Evaluation; reason++ {
		if !seen[reason.String()] {
			t.Errorf("no case of %s among %d", reason, cases)
		}
	}
}

func nonComments(block string) []string {
	var lines []string
	for _, line := range strings.Split(block, "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

// expandRecord puts the good record's fields where @ stands, so that a case shows only what is bad,
// \xNN bytes where they are written, and repeats where it says {×n text}.
func expandRecord(s string) string {
	s = strings.ReplaceAll(s, "@", strings.Trim(good, "{}"))
	s = regexp.MustCompile(`\{×(\d+) ([^ }]+)\}`).ReplaceAllStringFunc(s, func(m string) string {
		var n int
		var text string
		if _, err := fmt.Sscanf(strings.TrimSuffix(m, "}"), "{×%d %s", &n, &text); err != nil {
			panic(err)
		}
		return strings.Repeat(text, n)
	})
	return strings.ReplaceAll(s, `\xFF`, "\xff")
}

func TestDecodeOneRecordOverSeveralLines(t *testing.T) {
	d := decoder(t, orders(t), checked(t), Options{})
	r, err := d.Record([]byte("{\n \"order_id\": \"a\",\n \"customer\": 5\n}"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Batch.Release()
	if got, want := r.Outcomes[0].Rejection.Error(), "line 3, column 14: /customer: want string, found a number"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	ok, err := d.Record([]byte("{\n \"order_id\": \"a\",\n \"customer\": \"c\", \"amount\":1,\n\"placed_at\":\"2026-01-01T00:00:00Z\"}\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer ok.Batch.Release()
	if ok.Rejected != 0 || ok.Batch.Rows() != 1 {
		t.Fatalf("outcomes %+v", ok.Outcomes)
	}
}

func TestDecodeRefusesABodyOverItsLimitsWhole(t *testing.T) {
	d := decoder(t, everything(t), checked(t), Options{MaxLineBytes: 100, MaxBodyBytes: 200, MaxRecords: 2})
	for _, body := range []string{strings.Repeat(" ", 201), good + "\n" + good + "\n", "1\n2\n3\n"} {
		r, err := d.Lines([]byte(body))
		if len(body) < 200 && strings.Count(body, "\n") == 2 {
			if err != nil {
				t.Fatal(err)
			}
			r.Batch.Release()
			continue
		}
		if !errors.Is(err, ErrTooLarge) || r.Batch != nil {
			t.Fatalf("body of %d bytes: %v", len(body), err)
		}
	}
	if d.Rows() != 0 {
		t.Fatalf("%d rows are left", d.Rows())
	}
}

func TestDecodeAppendAndFlush(t *testing.T) {
	d := decoder(t, everything(t), checked(t), Options{MaxRecords: 2})
	for line := 1; !d.Full(); line++ {
		if r := d.Append([]byte(good), line); r != nil {
			t.Fatal(r)
		}
	}
	b := d.Flush()
	defer b.Release()
	if b.Rows() != 2 || d.Rows() != 0 {
		t.Fatalf("flushed %d rows, %d are left", b.Rows(), d.Rows())
	}
	if r := d.Append([]byte(good), 3); r != nil { // left behind: Release must free it
		t.Fatal(r)
	}
}

func TestAGoodRecordCostsNoAllocation(t *testing.T) {
	d := decoder(t, orders(t), memory.DefaultAllocator, Options{MaxRecords: MaxMaxRecords})
	line := orderLine(1)
	d.builder.Reserve(4096)
	for i := range d.builder.columns {
		if c := d.builder.columns[i]; c.text != nil {
			c.text.ReserveData(1 << 20)
		}
	}
	got := testing.AllocsPerRun(1000, func() {
		if r := d.Append(line, 1); r != nil {
			t.Fatal(r)
		}
	})
	if got != 0 {
		t.Fatalf("%v allocations per record, want 0", got)
	}
}

func TestOptionsValidateListsEveryFault(t *testing.T) {
	err := Options{MaxLineBytes: 1, MaxBodyBytes: -1, MaxRecords: MaxMaxRecords + 1, MaxDepth: 1001}.Validate()
	for _, name := range []string{"MaxLineBytes", "MaxBodyBytes", "MaxRecords", "MaxDepth"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not in: %v", name, err)
		}
	}
	if err := (Options{}).Validate(); err != nil {
		t.Error(err)
	}
	if _, err := NewDecoder(orders(t), memory.DefaultAllocator, Options{MaxDepth: -1}); err == nil {
		t.Error("a decoder with a bad option was made")
	}
}

func orderLine(i int) []byte {
	return fmt.Appendf(nil, `{"order_id":"order-%08d","customer":"customer-%03d","amount":%d,"placed_at":"2026-01-02T03:04:05.123456Z"}`, i, i%100, i%2000)
}
