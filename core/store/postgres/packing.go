package postgres

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// argTypes are the types of the records that apply_steps takes: what they and their arrays are called on the wire.
type argTypes struct {
	record map[string]uint32
	array  map[string]uint32
}

// The types of the fields of records, as the server numbers them: the same on every server.
const (
	typeBool  = pgtype.BoolOID
	typeBytea = pgtype.ByteaOID
	typeInt8  = pgtype.Int8OID
	typeInt2  = pgtype.Int2OID
)

// readArgTypes asks for the numbers of the schema's types.
func readArgTypes(ctx context.Context, conn *pgx.Conn) (*argTypes, error) {
	a := &argTypes{record: map[string]uint32{}, array: map[string]uint32{}}
	rows, err := conn.Query(ctx, "select typname::text, oid, typarray from pg_type where typnamespace = current_schema()::regnamespace and typname like '%\\_arg'")
	if err != nil {
		return nil, fmt.Errorf("read types: %w", err)
	}
	var name string
	var record, array uint32
	_, err = pgx.ForEachRow(rows, []any{&name, &record, &array}, func() error {
		a.record[name], a.array[name] = record, array
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read types: %w", err)
	}
	return a, nil
}

// register makes a connection take packed arguments.
func (a *argTypes) register(_ context.Context, conn *pgx.Conn) error {
	for name, array := range a.array { //order:each is registered once
		conn.TypeMap().RegisterType(&pgtype.Type{Name: "_" + name, OID: array, Codec: packedCodec{}})
	}
	return nil
}

// pack returns an empty array of records.
func (a *argTypes) pack(name string) *packed {
	p := &packed{}
	for _, word := range []uint32{0, 0, a.record[name], 0, 1} { // dimensions, no nulls, type, length, first subscript
		p.buffer = binary.BigEndian.AppendUint32(p.buffer, word)
	}
	return p
}

// packed is an array of records in the binary form of the wire. pgx would find the form of each value again for every argument.
type packed struct {
	buffer  []byte
	records uint32
	start   int // of the record that was begun, behind its length
}

// packedHeader are the bytes of an array before its elements; of an empty one only the first packedEmpty.
const (
	packedHeader = 20
	packedEmpty  = 12
)

func (p *packed) begin(fields uint32) {
	p.records++
	p.buffer = binary.BigEndian.AppendUint32(p.buffer, 0)
	p.start = len(p.buffer)
	p.buffer = binary.BigEndian.AppendUint32(p.buffer, fields)
}

// end notes the length of the record.
func (p *packed) end() {
	binary.BigEndian.PutUint32(p.buffer[p.start-4:], uint32(len(p.buffer)-p.start))
}

func (p *packed) field(oid, size uint32) *packed {
	p.buffer = binary.BigEndian.AppendUint32(p.buffer, oid)
	p.buffer = binary.BigEndian.AppendUint32(p.buffer, size)
	return p
}

func (p *packed) text(s string) *packed {
	p.field(typeBytea, uint32(len(s)))
	p.buffer = append(p.buffer, s...)
	return p
}

func (p *packed) bytes(b []byte) *packed {
	p.field(typeBytea, uint32(len(b)))
	p.buffer = append(p.buffer, b...)
	return p
}

func (p *packed) int8(n int64) *packed {
	p.field(typeInt8, 8)
	p.buffer = binary.BigEndian.AppendUint64(p.buffer, uint64(n))
	return p
}

func (p *packed) int2(n int16) *packed {
	p.field(typeInt2, 2)
	p.buffer = binary.BigEndian.AppendUint16(p.buffer, uint16(n))
	return p
}

func (p *packed) bool(b bool) *packed {
	p.field(typeBool, 1)
	if b {
		p.buffer = append(p.buffer, 1)
	} else {
		p.buffer = append(p.buffer, 0)
	}
	return p
}

// wire returns the array.
func (p *packed) wire() []byte {
	if p.records == 0 {
		return p.buffer[:packedEmpty]
	}
	binary.BigEndian.PutUint32(p.buffer, 1)
	binary.BigEndian.PutUint32(p.buffer[packedHeader-8:], p.records)
	return p.buffer
}

// packedCodec lets pgx take a packed argument as it is. Nothing of these types is ever read.
type packedCodec struct{}

var errNotPacked = errors.New("only packed arguments have this type")

// FormatSupported implements [pgtype.Codec].
func (packedCodec) FormatSupported(format int16) bool { return format == pgtype.BinaryFormatCode }

// PreferredFormat implements [pgtype.Codec].
func (packedCodec) PreferredFormat() int16 { return pgtype.BinaryFormatCode }

// PlanEncode implements [pgtype.Codec].
func (packedCodec) PlanEncode(_ *pgtype.Map, _ uint32, _ int16, value any) pgtype.EncodePlan {
	if _, ok := value.(*packed); ok {
		return packedCodec{}
	}
	return nil
}

// Encode implements [pgtype.EncodePlan].
func (packedCodec) Encode(value any, buf []byte) ([]byte, error) {
	return append(buf, value.(*packed).wire()...), nil
}

// PlanScan implements [pgtype.Codec].
func (packedCodec) PlanScan(*pgtype.Map, uint32, int16, any) pgtype.ScanPlan { return nil }

// DecodeDatabaseSQLValue implements [pgtype.Codec].
func (packedCodec) DecodeDatabaseSQLValue(*pgtype.Map, uint32, int16, []byte) (driver.Value, error) {
	return nil, errNotPacked
}

// DecodeValue implements [pgtype.Codec].
func (packedCodec) DecodeValue(*pgtype.Map, uint32, int16, []byte) (any, error) {
	return nil, errNotPacked
}
