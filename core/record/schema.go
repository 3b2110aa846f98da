package record

import (
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// Bounds of a schema. They keep a row's scratch small and a generated key readable.
const (
	// MaxFields is the largest number of fields of a schema.
	MaxFields = 256
	// MaxNameBytes is the longest name of a schema or a field.
	MaxNameBytes = 64
)

// ErrSchema marks a schema that cannot be built; the message lists every fault.
var ErrSchema = errors.New("schema is invalid")

// Type is the type of a field. There is no conversion between types anywhere in this package: a
// value has its field's type or the record is refused.
type Type uint8

// The field types with their Arrow and JSON forms.
const (
	// String is UTF-8 text: arrow utf8, a JSON string.
	String Type = iota + 1
	// Bool is arrow bool, JSON true or false.
	Bool
	// Int64 is arrow int64, a JSON number without fraction and exponent.
	Int64
	// Float64 is arrow float64, any JSON number whose nearest float64 is finite.
	Float64
	// Timestamp is an instant in nanoseconds, arrow timestamp[ns, UTC], an RFC 3339 JSON string
	// with at most nine fractional digits between the years 1677 and 2262.
	Timestamp
	// Bytes is arrow binary, a JSON string in standard padded base64 (RFC 4648 section 4).
	Bytes
)

// allTypes lists every Type in the order in which messages name them.
func allTypes() []Type { return []Type{String, Bool, Int64, Float64, Timestamp, Bytes} }

// String returns the type's name in a package file.
func (t Type) String() string {
	switch t {
	case String:
		return "string"
	case Bool:
		return "bool"
	case Int64:
		return "int64"
	case Float64:
		return "float64"
	case Timestamp:
		return "timestamp"
	case Bytes:
		return "bytes"
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

// TypeNames returns the names that ParseType accepts, without the nullable mark.
func TypeNames() []string {
	names := make([]string, 0, 6)
	for _, t := range allTypes() {
		names = append(names, t.String())
	}
	return names
}

// ParseType reads a type as a package file writes it: a type name, and a trailing "?" when the field
// may be null or absent.
func ParseType(text string) (t Type, nullable bool, err error) {
	name, nullable := strings.CutSuffix(text, "?")
	for _, t := range allTypes() {
		if t.String() == name {
			return t, nullable, nil
		}
	}
	return 0, false, fmt.Errorf("parse type %q: want one of %s, with a trailing ? for a nullable field",
		text, strings.Join(TypeNames(), ", "))
}

func (t Type) arrow() arrow.DataType {
	switch t {
	case String:
		return arrow.BinaryTypes.String
	case Bool:
		return arrow.FixedWidthTypes.Boolean
	case Int64:
		return arrow.PrimitiveTypes.Int64
	case Float64:
		return arrow.PrimitiveTypes.Float64
	case Timestamp:
		return arrow.FixedWidthTypes.Timestamp_ns
	case Bytes:
		return arrow.BinaryTypes.Binary
	}
	panic("record: no arrow type of " + t.String())
}

// Field is one named column of a schema.
type Field struct {
	Name string
	Type Type
	// Nullable says that the field may be null or absent; both are stored as null.
	Nullable bool
}

// TypeText returns the type as a package file writes it, with "?" when the field is nullable.
func (f Field) TypeText() string {
	if f.Nullable {
		return f.Type.String() + "?"
	}
	return f.Type.String()
}

// Schema is an immutable ordered list of fields. Schemas are compared with Equal; the name is not
// part of what a batch is, it is how faults speak of it.
type Schema struct {
	name   string
	fields []Field
	index  map[string]int
	arrow  *arrow.Schema
}

// NewSchema returns the schema of fields, in that order. Its error wraps ErrSchema and lists every
// fault: no field or too many, a bad or repeated name, an unknown type.
func NewSchema(name string, fields []Field) (*Schema, error) {
	var faults []error
	if len(fields) == 0 || len(fields) > MaxFields {
		faults = append(faults, fmt.Errorf("%d fields, want 1 to %d", len(fields), MaxFields))
	}
	s := &Schema{name: name, fields: make([]Field, len(fields)), index: make(map[string]int, len(fields))}
	copy(s.fields, fields)
	columns := make([]arrow.Field, 0, len(fields))
	for i, f := range s.fields {
		if err := CheckFieldName(f.Name); err != nil {
			faults = append(faults, err)
		}
		if _, ok := s.index[f.Name]; ok {
			faults = append(faults, fmt.Errorf("field %q is defined twice", f.Name))
		}
		if f.Type < String || f.Type > Bytes {
			faults = append(faults, fmt.Errorf("field %q has no type", f.Name))
			continue
		}
		s.index[f.Name] = i
		columns = append(columns, arrow.Field{Name: f.Name, Type: f.Type.arrow(), Nullable: f.Nullable})
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("build schema %s: %w: %w", name, ErrSchema, errors.Join(faults...))
	}
	s.arrow = arrow.NewSchema(columns, nil)
	return s, nil
}

// Name returns the schema's name.
func (s *Schema) Name() string { return s.name }

// Len returns the number of fields.
func (s *Schema) Len() int { return len(s.fields) }

// Field returns field i in schema order.
func (s *Schema) Field(i int) Field { return s.fields[i] }

// Fields returns a copy of the fields in schema order.
func (s *Schema) Fields() []Field { return append([]Field(nil), s.fields...) }

// Index returns the position of the named field.
func (s *Schema) Index(name string) (int, bool) {
	i, ok := s.index[name]
	return i, ok
}

// Arrow returns the Arrow schema. It must not be changed.
func (s *Schema) Arrow() *arrow.Schema { return s.arrow }

// Equal reports whether both schemas have the same fields in the same order.
func (s *Schema) Equal(o *Schema) bool {
	if s == o {
		return true
	}
	if len(s.fields) != len(o.fields) {
		return false
	}
	for i := range s.fields {
		if s.fields[i] != o.fields[i] {
			return false
		}
	}
	return true
}

// CheckFieldName reports why name cannot be a field's name: it must be a CEL identifier that CEL
// does not reserve, so that row.name can always be written.
func CheckFieldName(name string) error {
	if len(name) == 0 || len(name) > MaxNameBytes {
		return fmt.Errorf("field name %.70q has %d bytes, want 1 to %d", name, len(name), MaxNameBytes)
	}
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return fmt.Errorf("field name %q: want a letter or _, then letters, digits and _", name)
		}
	}
	if reserved(name) {
		return fmt.Errorf("field name %q is reserved by the expression language", name)
	}
	return nil
}

// reserved lists the identifiers that the CEL specification keeps for its grammar and hosts.
func reserved(name string) bool {
	switch name {
	case "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import",
		"in", "let", "loop", "namespace", "null", "package", "return", "true", "var", "void", "while":
		return true
	}
	return false
}
