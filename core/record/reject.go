package record

import (
	"strconv"
	"strings"

	"github.com/millrace-dev/millrace/core/scan"
)

// Reason says why a record or row was refused. Its String is stable: counters are labelled with it.
type Reason uint8

// The reasons, first those of decoding, then those of evaluating.
const (
	// Syntax is text that is not JSON.
	Syntax Reason = iota + 1
	// InvalidUTF8 is a byte sequence that is not UTF-8.
	InvalidUTF8
	// TooLong is a record over the line limit.
	TooLong
	// TooDeep is a value nested over the depth limit.
	TooDeep
	// NotObject is a record that is JSON but not an object.
	NotObject
	// UnknownField is a name that the schema does not have.
	UnknownField
	// DuplicateField is a name given twice in one object.
	DuplicateField
	// MissingField is a field that is not nullable and absent.
	MissingField
	// WrongType is a value of another type than the field's, a null in a field that is not nullable
	// included.
	WrongType
	// OutOfRange is a value of the right type that the field cannot hold.
	OutOfRange
	// TrailingData is anything after the record's object.
	TrailingData
	// Evaluation is an error of an expression on this row.
	Evaluation
	// NullResult is a null where the expression's result must not be null.
	NullResult
	// CostExceeded is an expression that reached its cost limit on this row.
	CostExceeded
)

// Reasons returns every reason, so that a counter exists before its first event.
func Reasons() []Reason {
	all := make([]Reason, 0, CostExceeded)
	for r := Syntax; r <= CostExceeded; r++ {
		all = append(all, r)
	}
	return all
}

// String returns the reason's stable name.
func (r Reason) String() string {
	switch r {
	case Syntax:
		return "syntax"
	case InvalidUTF8:
		return "invalid_utf8"
	case TooLong:
		return "too_long"
	case TooDeep:
		return "too_deep"
	case NotObject:
		return "not_object"
	case UnknownField:
		return "unknown_field"
	case DuplicateField:
		return "duplicate_field"
	case MissingField:
		return "missing_field"
	case WrongType:
		return "wrong_type"
	case OutOfRange:
		return "out_of_range"
	case TrailingData:
		return "trailing_data"
	case Evaluation:
		return "evaluation"
	case NullResult:
		return "null_result"
	case CostExceeded:
		return "cost_exceeded"
	}
	return "reason_" + strconv.Itoa(int(r))
}

// maxPointerBytes bounds the part of a rejection that the sender of a record controls.
const maxPointerBytes = 200

// Rejection is the refusal of one record or row. It is an error whose text is one line without the
// record's values.
type Rejection struct {
	// Line is the 1-based line of a decoded record, 0 for a row of a batch.
	Line int
	// Column is the 1-based byte within the line where decoding stopped, 0 when the whole record is
	// meant.
	Column int
	// Row is the 0-based row of a batch for Evaluation, NullResult and CostExceeded.
	Row int
	// Reason is the class of the fault.
	Reason Reason
	// Pointer is the RFC 6901 JSON pointer of the value at fault, or "" for the record itself.
	Pointer string
	// Detail says what was found and what was wanted.
	Detail string
}

// Error returns "line 3, column 17: /amount: want int64, found a string".
func (r *Rejection) Error() string {
	var b strings.Builder
	if r.Line > 0 {
		b.WriteString("line " + strconv.Itoa(r.Line))
		if r.Column > 0 {
			b.WriteString(", column " + strconv.Itoa(r.Column))
		}
	} else {
		b.WriteString("row " + strconv.Itoa(r.Row))
	}
	if r.Pointer != "" {
		b.WriteString(": " + r.Pointer)
	}
	b.WriteString(": " + r.Detail)
	return b.String()
}

// pointerOf returns the JSON pointer of a member of the record, bounded.
func pointerOf(name string) string {
	return scan.Clip("/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), maxPointerBytes)
}
