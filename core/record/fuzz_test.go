package record

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// FuzzDecode sends any body. Whatever it is: no panic, the body is not changed, every line that is
// not blank has one outcome, the batch has a row for each that was accepted, and what was accepted
// survives being encoded and decoded again byte for byte.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(good+"\n"+good), false)
	f.Add([]byte(`{"s":"a","o":true,"i":7,"f":1.5,"t":"2026-01-02T03:04:05Z","b":"","z":[[{"a":1}]]}`), true)
	f.Add([]byte("\n\r\n{}\n[]\nnull\n{\"s\":\"\xff\"}\n\"\\ud800\""), true)
	schema := everything(f)
	f.Fuzz(func(t *testing.T, body []byte, ignore bool) {
		mem := checked(t)
		d := decoder(t, schema, mem, Options{MaxLineBytes: 4096, IgnoreUnknown: ignore})
		original := bytes.Clone(body)
		r, err := d.Lines(body)
		if err != nil {
			return // over the body limits, refused whole
		}
		defer r.Batch.Release()
		if !bytes.Equal(body, original) {
			t.Fatal("the body was changed")
		}
		if len(r.Outcomes) != countRecords(body) || r.Batch.Rows()+r.Rejected != len(r.Outcomes) {
			t.Fatalf("%d outcomes, %d rows, %d rejected", len(r.Outcomes), r.Batch.Rows(), r.Rejected)
		}
		checkOutcomes(t, body, r.Outcomes)
		text, err := AppendLines(nil, r.Batch)
		if err != nil {
			t.Fatal(err)
		}
		again, err := AppendLines(nil, decodeBig(t, schema, mem, text))
		if err != nil || !bytes.Equal(text, again) {
			t.Fatalf("%v: %s became %s", err, text, again)
		}
	})
}

func checkOutcomes(t *testing.T, body []byte, outcomes []Outcome) {
	lines, row := bytes.Count(body, []byte{'\n'})+1, 0
	for i, o := range outcomes {
		if o.Line < 1 || o.Line > lines || i > 0 && o.Line <= outcomes[i-1].Line {
			t.Fatalf("outcome %+v", o)
		}
		if o.Rejection == nil {
			if o.Row != row {
				t.Fatalf("outcome %+v, want row %d", o, row)
			}
			row++
		} else if o.Row != -1 || o.Rejection.Line != o.Line || o.Rejection.Detail == "" || len(o.Rejection.Error()) > 1000 {
			t.Fatalf("rejection %+v", o.Rejection)
		}
	}
}

// decodeBig decodes with a line limit that leaves room for escapes and nulls that encoding adds.
func decodeBig(t *testing.T, s *Schema, mem memory.Allocator, text []byte) *Batch {
	r, err := decoder(t, s, mem, Options{MaxLineBytes: 1 << 16}).Lines(text)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Batch.Release)
	if r.Rejected > 0 {
		t.Fatalf("what was encoded is refused: %+v", r.Outcomes)
	}
	return r.Batch
}
