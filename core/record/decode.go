package record

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/go-json-experiment/json/jsontext"
)

// Decoder turns JSON text into batches of one schema. It belongs to one task, keeps its scratch from
// record to record (a good record costs no allocation of its own) and must be released.
//
// A record is one JSON object with the fields of the schema by name, in any order. A field that is
// nullable may be null or absent; every other one must be there with a value of its type. What
// happens to a field that the schema does not have is Options.IgnoreUnknown.
type Decoder struct {
	schema  *Schema
	options Options
	builder *Builder
	tokens  *jsontext.Decoder
	input   bytes.Buffer
	base64  *base64.Encoding

	// Scratch of the record being read.
	line  []byte
	cells []cell
	text  []byte // the unquoted text of the record's strings, cut by cells
	name  []byte
	// valueBytes is the length of the name or value read last, which ends where the tokenizer stands.
	valueBytes int
}

// cell is one field's value before the record is known to be good.
type cell struct {
	set, null  bool
	bits       uint64
	start, end int
}

// NewDecoder returns a decoder of schema whose batches take their memory from mem.
func NewDecoder(schema *Schema, mem memory.Allocator, options Options) (*Decoder, error) {
	if err := options.Validate(); err != nil {
		return nil, fmt.Errorf("create decoder of %s: %w", schema.Name(), err)
	}
	d := &Decoder{
		schema: schema, options: options.withDefaults(), builder: NewBuilder(schema, mem),
		cells: make([]cell, schema.Len()), base64: base64.StdEncoding.Strict(),
	}
	d.tokens = jsontext.NewDecoder(&d.input)
	return d, nil
}

// Schema returns the schema of the decoder's batches.
func (d *Decoder) Schema() *Schema { return d.schema }

// Release frees the rows that were appended and not flushed.
func (d *Decoder) Release() { d.builder.Release() }

// Rows returns the number of rows appended since the last Flush.
func (d *Decoder) Rows() int { return d.builder.Rows() }

// Full reports that the next batch has MaxRecords rows: Flush must come before the next Append.
func (d *Decoder) Full() bool { return d.builder.Rows() >= d.options.MaxRecords }

// Flush returns the rows appended so far, possibly none. The caller releases the batch.
func (d *Decoder) Flush() *Batch { return d.builder.Batch() }

// Append decodes one record, whose first byte is on the given 1-based line, and adds it to the next
// batch. A rejected record adds nothing. The bytes of line are not kept. Appending to a Full decoder
// is a bug of the caller and panics.
func (d *Decoder) Append(line []byte, number int) *Rejection {
	if d.Full() {
		panic(fmt.Sprintf("record: append to a full batch of %d rows", d.builder.Rows()))
	}
	rejection := d.read(line)
	if rejection == nil {
		d.commit()
		return nil
	}
	rejection.Line = number
	if at := rejection.Column - 1; at >= 0 {
		before := line[:min(at, len(line))]
		rejection.Line += bytes.Count(before, []byte{'\n'})
		rejection.Column = at - bytes.LastIndexByte(before, '\n')
	}
	return rejection
}

// read fills the scratch from one record. A rejection's column counts from the start of the record.
func (d *Decoder) read(line []byte) *Rejection {
	if len(line) > d.options.MaxLineBytes {
		return &Rejection{
			Reason: TooLong,
			Detail: fmt.Sprintf("%d bytes, the limit is %d", len(line), d.options.MaxLineBytes),
		}
	}
	if !utf8.Valid(line) {
		return &Rejection{Reason: InvalidUTF8, Column: invalidAt(line) + 1, Detail: "bytes are not UTF-8"}
	}
	d.line, d.text = line, d.text[:0]
	clear(d.cells)
	d.valueBytes = 0
	d.input = *bytes.NewBuffer(line)
	d.tokens.Reset(&d.input)
	if rejection := d.object(); rejection != nil {
		return rejection
	}
	for i := range d.cells {
		if f := &d.schema.fields[i]; !d.cells[i].set && !f.Nullable {
			return &Rejection{
				Reason: MissingField, Pointer: pointerOf(f.Name),
				Detail: "field is missing, want " + f.Type.String(),
			}
		}
	}
	return nil
}

func invalidAt(line []byte) int {
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRune(line[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(line)
}

// object reads the whole record. The loop ends: each turn consumes one member of the line.
func (d *Decoder) object() *Rejection {
	switch kind := d.tokens.PeekKind(); kind {
	case '{':
	case '[':
		return d.reject(NotObject, "want an object, found an array: a record is one object, and several are lines, without brackets around and commas between them")
	default:
		if _, err := d.tokens.ReadToken(); err != nil {
			return d.syntax(err)
		}
		return &Rejection{Reason: NotObject, Column: 1, Detail: "want an object, found " + kindText(kind)}
	}
	if _, err := d.tokens.ReadToken(); err != nil {
		return d.syntax(err)
	}
	for next := 0; d.tokens.PeekKind() != '}'; {
		raw, err := d.tokens.ReadValue()
		if err != nil {
			return d.syntax(err)
		}
		d.valueBytes = len(raw)
		field, known := d.field(raw, next)
		if !known {
			if rejection := d.unknown(); rejection != nil {
				return rejection
			}
			continue
		}
		if rejection := d.value(field); rejection != nil {
			return rejection
		}
		next = field + 1
	}
	if _, err := d.tokens.ReadToken(); err != nil {
		return d.syntax(err)
	}
	return d.end()
}

func (d *Decoder) end() *Rejection {
	end := int(d.tokens.InputOffset())
	if _, err := d.tokens.ReadToken(); errors.Is(err, io.EOF) {
		return nil
	}
	rest := d.line[end:]
	blanks := len(rest) - len(bytes.TrimLeft(rest, " \t\r\n"))
	return &Rejection{Reason: TrailingData, Column: end + blanks + 1, Detail: "data after the end of the object"}
}

// field finds the schema's field of a quoted name. Senders mostly write fields in one order, so the
// field after the last one is tried before the map.
func (d *Decoder) field(raw jsontext.Value, next int) (int, bool) {
	name := []byte(raw[1 : len(raw)-1])
	if bytes.IndexByte(name, '\\') >= 0 {
		var err error
		if d.name, err = jsontext.AppendUnquote(d.name[:0], raw); err != nil {
			panic("record: unquote a name that was read as valid: " + err.Error())
		}
		name = d.name
	}
	if next < len(d.schema.fields) && string(name) == d.schema.fields[next].Name {
		return next, true
	}
	i, ok := d.schema.index[string(name)]
	return i, ok
}

// unknown refuses the member whose name was read, or reads past its value when that is allowed.
func (d *Decoder) unknown() *Rejection {
	if !d.options.IgnoreUnknown {
		return d.reject(UnknownField, "schema "+d.schema.Name()+" has no such field")
	}
	outer := d.tokens.StackDepth()
	for {
		if _, err := d.tokens.ReadToken(); err != nil {
			return d.syntax(err)
		}
		if d.tokens.StackDepth() > d.options.MaxDepth {
			d.valueBytes = 1
			return d.reject(TooDeep, fmt.Sprintf("nested over %d levels", d.options.MaxDepth))
		}
		if d.tokens.StackDepth() == outer {
			return nil
		}
	}
}

// value reads the value of a field into its cell.
func (d *Decoder) value(field int) *Rejection {
	f, c := &d.schema.fields[field], &d.cells[field]
	kind := d.tokens.PeekKind()
	if kind == '{' || kind == '[' {
		if _, err := d.tokens.ReadToken(); err != nil {
			return d.syntax(err)
		}
		d.valueBytes = 1
		return d.mismatch(f, kindText(kind))
	}
	raw, err := d.tokens.ReadValue()
	if err != nil {
		return d.syntax(err)
	}
	d.valueBytes = len(raw)
	c.set = true
	switch kind {
	case 'n':
		if !f.Nullable {
			return d.mismatch(f, "null")
		}
		c.null = true
		return nil
	case '0':
		return d.number(f, c, raw)
	case '"':
		return d.string(f, c, raw)
	case 't', 'f':
		if f.Type != Bool {
			return d.mismatch(f, "a bool")
		}
		if kind == 't' {
			c.bits = 1
		}
		return nil
	default:
		return d.mismatch(f, kindText(kind))
	}
}

func (d *Decoder) number(f *Field, c *cell, raw jsontext.Value) *Rejection {
	switch f.Type {
	case Int64:
		if bytes.ContainsAny(raw, ".eE") {
			return d.mismatch(f, "a number with a fraction or an exponent")
		}
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			return d.reject(OutOfRange, "number does not fit int64")
		}
		c.bits = uint64(n)
		return nil
	case Float64:
		n, err := strconv.ParseFloat(string(raw), 64)
		if err != nil {
			return d.reject(OutOfRange, "number does not fit float64")
		}
		c.bits = math.Float64bits(n)
		return nil
	default:
		return d.mismatch(f, "a number")
	}
}

func (d *Decoder) string(f *Field, c *cell, raw jsontext.Value) *Rejection {
	if f.Type != String && f.Type != Timestamp && f.Type != Bytes {
		return d.mismatch(f, "a string")
	}
	c.start = len(d.text)
	var err error
	if d.text, err = jsontext.AppendUnquote(d.text, raw); err != nil {
		panic("record: unquote a string that was read as valid: " + err.Error())
	}
	c.end = len(d.text)
	switch f.Type {
	case Timestamp:
		return d.timestamp(f, c)
	case Bytes:
		return d.bytes(c)
	default:
		return nil
	}
}

func (d *Decoder) bytes(c *cell) *Rejection {
	encoded := d.text[c.start:c.end]
	if bytes.ContainsAny(encoded, "\r\n") { // the decoder would skip them
		return d.reject(WrongType, "want standard base64, found a line break")
	}
	var err error
	if d.text, err = d.base64.AppendDecode(d.text, encoded); err != nil {
		return d.reject(WrongType, "want standard base64 with padding")
	}
	c.start, c.end = c.end, len(d.text)
	return nil
}

func (d *Decoder) timestamp(f *Field, c *cell) *Rejection {
	text := d.text[c.start:c.end]
	var t time.Time
	if err := t.UnmarshalText(text); err != nil {
		return d.mismatch(f, "a string that is not an RFC 3339 time with its zone")
	}
	if fractionDigits(text) > 9 {
		return d.reject(OutOfRange, "time has more than nine fractional digits")
	}
	ns, ok := nanoseconds(t)
	if !ok {
		return d.reject(OutOfRange, "time is outside the years 1677 to 2262")
	}
	c.bits = uint64(ns)
	return nil
}

func fractionDigits(text []byte) int {
	_, fraction, _ := bytes.Cut(text, []byte{'.'})
	digits := 0
	for digits < len(fraction) && '0' <= fraction[digits] && fraction[digits] <= '9' {
		digits++
	}
	return digits
}

// nanoseconds returns t as nanoseconds since 1970, false when int64 cannot hold them. The bound is
// taken at whole seconds, so the first and the last fraction of a second are given up.
func nanoseconds(t time.Time) (int64, bool) {
	const bound = math.MaxInt64 / int64(time.Second)
	if s := t.Unix(); s < -bound || s >= bound {
		return 0, false
	}
	return t.UnixNano(), true
}

// commit appends the scratch as one row.
func (d *Decoder) commit() {
	for i := range d.cells {
		c, column := &d.cells[i], &d.builder.columns[i]
		if !c.set || c.null {
			column.builder.AppendNull()
			continue
		}
		switch column.typ {
		case String:
			column.text.BinaryBuilder.Append(d.text[c.start:c.end])
		case Bytes:
			column.binary.Append(d.text[c.start:c.end])
		case Bool:
			column.boolean.Append(c.bits != 0)
		case Int64:
			column.integer.Append(int64(c.bits))
		case Float64:
			column.float.Append(math.Float64frombits(c.bits))
		case Timestamp:
			column.timestamp.Append(arrow.Timestamp(c.bits))
		}
	}
	d.builder.rows++
}
