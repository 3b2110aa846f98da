package record

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Batch is an immutable Arrow record batch of one Schema with its columns resolved to their types
// once, so that reading a cell is an array access. It may be read by any number of tasks.
type Batch struct {
	schema  *Schema
	arrow   arrow.RecordBatch
	columns []column
}

// column is one Arrow array with its concrete type; exactly the pointer that fits typ is set.
type column struct {
	typ       Type
	nulls     bool
	array     arrow.Array
	text      *array.String
	boolean   *array.Boolean
	integer   *array.Int64
	float     *array.Float64
	timestamp *array.Timestamp
	binary    *array.Binary
}

// NewBatch returns the batch of schema over rec and takes a reference of its own on rec. The error
// says which column does not fit the schema.
func NewBatch(schema *Schema, rec arrow.RecordBatch) (*Batch, error) {
	if int(rec.NumCols()) != schema.Len() {
		return nil, fmt.Errorf("build batch of %s: %d columns, want %d", schema.Name(), rec.NumCols(), schema.Len())
	}
	b := &Batch{schema: schema, arrow: rec, columns: make([]column, schema.Len())}
	for i := range b.columns {
		f := schema.Field(i)
		c, ok := columnOf(f.Type, rec.Column(i))
		if !ok {
			return nil, fmt.Errorf("build batch of %s: column %s is %s, want %s", schema.Name(), f.Name,
				rec.Column(i).DataType(), f.Type)
		}
		if c.nulls && !f.Nullable {
			return nil, fmt.Errorf("build batch of %s: column %s has nulls and is not nullable", schema.Name(), f.Name)
		}
		b.columns[i] = c
	}
	rec.Retain()
	return b, nil
}

func columnOf(t Type, a arrow.Array) (column, bool) {
	c := column{typ: t, array: a, nulls: a.NullN() > 0}
	var ok bool
	switch t {
	case String:
		c.text, ok = a.(*array.String)
	case Bool:
		c.boolean, ok = a.(*array.Boolean)
	case Int64:
		c.integer, ok = a.(*array.Int64)
	case Float64:
		c.float, ok = a.(*array.Float64)
	case Timestamp:
		c.timestamp, ok = a.(*array.Timestamp)
		ok = ok && arrow.TypeEqual(a.DataType(), Timestamp.arrow())
	case Bytes:
		c.binary, ok = a.(*array.Binary)
	}
	return c, ok
}

// value returns the cell of row i.
func (c *column) value(i int) Value {
	if c.nulls && c.array.IsNull(i) {
		return NullValue(c.typ)
	}
	switch c.typ {
	case String:
		return StringValue(c.text.Value(i))
	case Bool:
		return BoolValue(c.boolean.Value(i))
	case Int64:
		return Int64Value(c.integer.Value(i))
	case Float64:
		return Float64Value(c.float.Value(i))
	case Timestamp:
		return TimestampValue(int64(c.timestamp.Value(i)))
	case Bytes:
		return BytesValue(c.binary.ValueString(i))
	}
	panic("record: column of " + c.typ.String())
}

// Schema returns the batch's schema.
func (b *Batch) Schema() *Schema { return b.schema }

// Rows returns the number of rows.
func (b *Batch) Rows() int { return int(b.arrow.NumRows()) }

// Arrow returns the Arrow record batch, which stays owned by b.
func (b *Batch) Arrow() arrow.RecordBatch { return b.arrow }

// Retain adds a reference.
func (b *Batch) Retain() { b.arrow.Retain() }

// Release ends a reference; the last one frees the columns.
func (b *Batch) Release() { b.arrow.Release() }

// Row returns row i, 0 ≤ i < Rows.
func (b *Batch) Row(i int) Row {
	if i < 0 || i >= b.Rows() {
		panic(fmt.Sprintf("record: row %d of a batch of %d rows", i, b.Rows()))
	}
	return Row{batch: b, row: i}
}

// Slice returns rows [from, to) without copying them.
func (b *Batch) Slice(from, to int) *Batch {
	rec := b.arrow.NewSlice(int64(from), int64(to))
	defer rec.Release()
	return mustBatch(b.schema, rec)
}

// Select returns a batch of the given rows in the given order. All rows, or a run of consecutive
// ones, share b's memory; any other selection is copied into memory of mem.
func (b *Batch) Select(rows []int32, mem memory.Allocator) *Batch {
	if consecutive(rows) {
		if len(rows) == 0 {
			return b.Slice(0, 0)
		}
		return b.Slice(int(rows[0]), int(rows[len(rows)-1])+1)
	}
	out := NewBuilder(b.schema, mem)
	defer out.Release()
	out.Reserve(len(rows))
	for _, row := range rows {
		for i := range b.columns {
			out.columns[i].append(b.columns[i].value(int(row)))
		}
		out.rows++
	}
	return out.Batch()
}

func consecutive(rows []int32) bool {
	for i := 1; i < len(rows); i++ {
		if rows[i] != rows[i-1]+1 {
			return false
		}
	}
	return true
}

// mustBatch wraps columns that this package built or cut itself; a misfit is a bug here.
func mustBatch(schema *Schema, rec arrow.RecordBatch) *Batch {
	b, err := NewBatch(schema, rec)
	if err != nil {
		panic("record: " + err.Error())
	}
	return b
}

// Row is one row of a batch. It holds no reference: it is good while its batch is retained.
type Row struct {
	batch *Batch
	row   int
}

// Batch returns the batch the row is in.
func (r Row) Batch() *Batch { return r.batch }

// Index returns the row's position in its batch.
func (r Row) Index() int { return r.row }

// Value returns the value of field i in schema order.
func (r Row) Value(i int) Value { return r.batch.columns[i].value(r.row) }

// Get returns the value of the named field; false when the schema has no such field.
func (r Row) Get(name string) (Value, bool) {
	i, ok := r.batch.schema.Index(name)
	if !ok {
		return Value{}, false
	}
	return r.Value(i), true
}
