package record

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Value is one typed value or a typed null. The text of a String or Bytes value that came from a
// batch refers to the batch's memory: it is good while the batch is retained, and Clone keeps it.
type Value struct {
	typ  Type
	null bool
	bits uint64
	text string
}

// NullValue returns the null of type t.
func NullValue(t Type) Value { return Value{typ: t, null: true} }

// StringValue returns a String value.
func StringValue(s string) Value { return Value{typ: String, text: s} }

// BytesValue returns a Bytes value with the bytes of s.
func BytesValue(s string) Value { return Value{typ: Bytes, text: s} }

// BoolValue returns a Bool value.
func BoolValue(b bool) Value {
	if b {
		return Value{typ: Bool, bits: 1}
	}
	return Value{typ: Bool}
}

// Int64Value returns an Int64 value.
func Int64Value(n int64) Value { return Value{typ: Int64, bits: uint64(n)} }

// Float64Value returns a Float64 value.
func Float64Value(f float64) Value { return Value{typ: Float64, bits: math.Float64bits(f)} }

// TimestampValue returns the Timestamp of ns nanoseconds after 1970-01-01T00:00:00Z.
func TimestampValue(ns int64) Value { return Value{typ: Timestamp, bits: uint64(ns)} }

// Type returns the value's type; the zero Value has none (0).
func (v Value) Type() Type { return v.typ }

// IsNull reports whether the value is null.
func (v Value) IsNull() bool { return v.null }

// Text returns the content of a String or Bytes value and "" for any other.
func (v Value) Text() string { return v.text }

// Bool returns the content of a Bool value.
func (v Value) Bool() bool { return v.bits != 0 }

// Int64 returns the content of an Int64 value, or a Timestamp's nanoseconds since 1970.
func (v Value) Int64() int64 { return int64(v.bits) }

// Float64 returns the content of a Float64 value.
func (v Value) Float64() float64 { return math.Float64frombits(v.bits) }

// Time returns the content of a Timestamp value in UTC.
func (v Value) Time() time.Time { return time.Unix(0, int64(v.bits)).UTC() }

// Clone returns the value with text of its own, independent of the batch it came from.
func (v Value) Clone() Value {
	v.text = strings.Clone(v.text)
	return v
}

// String returns the value as text, as AppendText does.
func (v Value) String() string { return string(v.AppendText(nil)) }

// AppendText appends the value as plain text: the form in which a correlation key or a branch key is
// compared, where 7 and "7" are the same key. Bytes are in base64, a null is the word null.
func (v Value) AppendText(dst []byte) []byte {
	if v.null {
		return append(dst, "null"...)
	}
	switch v.typ {
	case String:
		return append(dst, v.text...)
	case Bool:
		return strconv.AppendBool(dst, v.Bool())
	case Int64:
		return strconv.AppendInt(dst, v.Int64(), 10)
	case Float64:
		return appendFloat(dst, v.Float64())
	case Timestamp:
		return v.Time().AppendFormat(dst, time.RFC3339Nano)
	case Bytes:
		return base64.StdEncoding.AppendEncode(dst, []byte(v.text))
	}
	return append(dst, fmt.Sprintf("value of %s", v.typ)...)
}

// AppendKey appends a binary form that is equal exactly for equal values of equal type: a type byte,
// then a null byte, then eight bytes big endian or a length and the text. Keys of several values can
// be concatenated, because each one says where it ends.
func (v Value) AppendKey(dst []byte) []byte {
	dst = append(dst, byte(v.typ))
	if v.null {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	if v.typ == String || v.typ == Bytes {
		dst = binary.AppendUvarint(dst, uint64(len(v.text)))
		return append(dst, v.text...)
	}
	return binary.BigEndian.AppendUint64(dst, v.bits)
}

// appendFloat writes the shortest decimal that reads back as f, as ECMAScript and encoding/json do:
// the same number has one spelling on every machine.
func appendFloat(dst []byte, f float64) []byte {
	magnitude := math.Abs(f)
	if magnitude != 0 && (magnitude < 1e-6 || magnitude >= 1e21) {
		return strconv.AppendFloat(dst, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}
