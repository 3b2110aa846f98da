package record

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Builder gathers rows into a batch. It belongs to one task and must be released.
type Builder struct {
	schema  *Schema
	columns []columnBuilder
	rows    int
}

// columnBuilder is an Arrow builder with its concrete type; the pointer that fits typ is set.
type columnBuilder struct {
	typ       Type
	builder   array.Builder
	text      *array.StringBuilder
	boolean   *array.BooleanBuilder
	integer   *array.Int64Builder
	float     *array.Float64Builder
	timestamp *array.TimestampBuilder
	binary    *array.BinaryBuilder
}

// NewBuilder returns an empty builder of schema whose memory comes from mem.
func NewBuilder(schema *Schema, mem memory.Allocator) *Builder {
	b := &Builder{schema: schema, columns: make([]columnBuilder, schema.Len())}
	for i := range b.columns {
		b.columns[i] = newColumnBuilder(schema.Field(i).Type, mem)
	}
	return b
}

func newColumnBuilder(t Type, mem memory.Allocator) columnBuilder {
	c := columnBuilder{typ: t}
	switch t {
	case String:
		c.text = array.NewStringBuilder(mem)
		c.builder = c.text
	case Bool:
		c.boolean = array.NewBooleanBuilder(mem)
		c.builder = c.boolean
	case Int64:
		c.integer = array.NewInt64Builder(mem)
		c.builder = c.integer
	case Float64:
		c.float = array.NewFloat64Builder(mem)
		c.builder = c.float
	case Timestamp:
		c.timestamp = array.NewTimestampBuilder(mem, Timestamp.arrow().(*arrow.TimestampType))
		c.builder = c.timestamp
	case Bytes:
		c.binary = array.NewBinaryBuilder(mem, arrow.BinaryTypes.Binary)
		c.builder = c.binary
	}
	return c
}

func (c *columnBuilder) append(v Value) {
	if v.null {
		c.builder.AppendNull()
		return
	}
	switch c.typ {
	case String:
		c.text.Append(v.text)
	case Bool:
		c.boolean.Append(v.Bool())
	case Int64:
		c.integer.Append(v.Int64())
	case Float64:
		c.float.Append(v.Float64())
	case Timestamp:
		c.timestamp.Append(arrow.Timestamp(v.Int64()))
	case Bytes:
		c.binary.AppendString(v.text)
	}
}

// Rows returns the number of rows gathered.
func (b *Builder) Rows() int { return b.rows }

// Reserve makes room for n more rows.
func (b *Builder) Reserve(n int) {
	for i := range b.columns {
		b.columns[i].builder.Reserve(n)
	}
}

// Append adds one row, one value for each field in schema order. A value that does not fit its field
// is a bug of the caller and panics before anything is added.
func (b *Builder) Append(values ...Value) {
	if len(values) != len(b.columns) {
		panic(fmt.Sprintf("record: %d values for %d fields of %s", len(values), len(b.columns), b.schema.Name()))
	}
	for i, v := range values {
		f := b.schema.Field(i)
		if v.typ != f.Type || v.null && !f.Nullable {
			panic(fmt.Sprintf("record: value of %s (null %t) for field %s %s", v.typ, v.null, f.Name, f.TypeText()))
		}
	}
	for i, v := range values {
		b.columns[i].append(v)
	}
	b.rows++
}

// Batch returns the gathered rows as a batch that the caller releases; the builder is empty again.
func (b *Builder) Batch() *Batch {
	columns := make([]arrow.Array, len(b.columns))
	for i := range b.columns {
		columns[i] = b.columns[i].builder.NewArray()
	}
	rec := array.NewRecordBatch(b.schema.Arrow(), columns, int64(b.rows))
	for _, c := range columns {
		c.Release()
	}
	b.rows = 0
	defer rec.Release()
	return mustBatch(b.schema, rec)
}

// Release frees what was gathered and not taken.
func (b *Builder) Release() {
	for i := range b.columns {
		b.columns[i].builder.Release()
	}
}
