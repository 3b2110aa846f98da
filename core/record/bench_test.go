package record

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

func body(records int) []byte {
	var out []byte
	for i := range records {
		out = append(append(out, orderLine(i)...), '\n')
	}
	return out
}

// BenchmarkDecode prints nanoseconds and allocations per record for bodies of several sizes.
func BenchmarkDecode(b *testing.B) {
	for _, records := range []int{1, 100, 1000} {
		b.Run(fmt.Sprintf("records=%d", records), func(b *testing.B) {
			d := decoder(b, orders(b), memory.DefaultAllocator, Options{})
			text := body(records)
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r, err := d.Lines(text)
				if err != nil || r.Rejected > 0 {
					b.Fatal(err, r.Rejected)
				}
				r.Batch.Release()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*records), "ns/record")
		})
	}
}

// BenchmarkEncode prints the cost of writing a batch of 1,000 rows as lines.
func BenchmarkEncode(b *testing.B) {
	batch := decodeAll(b, orders(b), memory.DefaultAllocator, string(body(1000)))
	var out []byte
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if out, err = AppendLines(out[:0], batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*1000), "ns/record")
}

// BenchmarkFilter prints the cost of a condition per row, without and with a cost limit at run time.
func BenchmarkFilter(b *testing.B) {
	schema := orders(b)
	batch := decodeAll(b, schema, memory.DefaultAllocator, string(body(1000)))
	scope, err := NewScope("row", schema)
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{
		"compare": "row.amount < 1000", "limited": "row.order_id.contains(row.customer)",
	} {
		b.Run(name, func(b *testing.B) {
			f, faults := scope.Filter(text)
			if len(faults) > 0 {
				b.Fatal(faults)
			}
			var rows []int32
			b.ReportAllocs()
			for b.Loop() {
				rows, _ = f.Select(batch, rows[:0])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*1000), "ns/record")
		})
	}
}
