package record

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// checked returns an allocator that fails the test when a batch or builder was not released.
func checked(t testing.TB) *memory.CheckedAllocator {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	t.Cleanup(func() {
		if tt, ok := t.(*testing.T); ok {
			mem.AssertSize(tt, 0)
		}
	})
	return mem
}

func mustSchema(t testing.TB, name string, fields ...Field) *Schema {
	t.Helper()
	s, err := NewSchema(name, fields)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// everything has one field of every type, and a nullable twin of each.
func everything(t testing.TB) *Schema {
	var fields []Field
	for _, typ := range allTypes() {
		fields = append(fields, Field{Name: typ.String()[:1], Type: typ}, Field{Name: typ.String()[:1] + "x", Type: typ, Nullable: true})
	}
	fields[2].Name, fields[3].Name = "o", "ox" // bool; b is bytes
	return mustSchema(t, "everything", fields...)
}

func orders(t testing.TB) *Schema {
	return mustSchema(t, "order", Field{"order_id", String, false}, Field{"customer", String, false},
		Field{"amount", Int64, false}, Field{"placed_at", Timestamp, false})
}

func decoder(t testing.TB, s *Schema, mem memory.Allocator, o Options) *Decoder {
	t.Helper()
	d, err := NewDecoder(s, mem, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Release)
	return d
}

// decodeAll decodes a body that must be good.
func decodeAll(t testing.TB, s *Schema, mem memory.Allocator, body string) *Batch {
	t.Helper()
	r, err := decoder(t, s, mem, Options{}).Lines([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Batch.Release)
	for _, o := range r.Outcomes {
		if o.Rejection != nil {
			t.Fatal(o.Rejection)
		}
	}
	return r.Batch
}
