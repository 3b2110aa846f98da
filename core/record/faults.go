package record

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/millrace-dev/millrace/core/scan"
)

// reject refuses the record at the name or value that was read last.
func (d *Decoder) reject(reason Reason, detail string) *Rejection {
	return &Rejection{
		Reason: reason, Column: int(d.tokens.InputOffset()) - d.valueBytes + 1,
		Pointer: scan.Clip(string(d.tokens.StackPointer()), maxPointerBytes), Detail: detail,
	}
}

func (d *Decoder) mismatch(f *Field, found string) *Rejection {
	return d.reject(WrongType, "want "+f.Type.String()+", found "+found)
}

// syntax turns the tokenizer's error into a rejection. The error's text is about bytes and structure
// and never contains more of the record than the one offending character or the repeated name.
func (d *Decoder) syntax(err error) *Rejection {
	var syntactic *jsontext.SyntacticError
	if !errors.As(err, &syntactic) {
		// The input is in memory, so the only other error is its end.
		if len(strings.TrimSpace(string(d.line))) == 0 {
			return &Rejection{Reason: Syntax, Detail: "record is empty"}
		}
		return d.reject(Syntax, "record ends within a value")
	}
	rejection := &Rejection{
		Reason: Syntax, Column: int(syntactic.ByteOffset) + 1,
		Pointer: scan.Clip(string(syntactic.JSONPointer), maxPointerBytes),
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		rejection.Reason, rejection.Detail = DuplicateField, "field is given twice"
	case strings.Contains(syntactic.Err.Error(), "exceeded max depth"):
		rejection.Reason, rejection.Detail = TooDeep, "nested too deep"
	case errors.Is(err, io.ErrUnexpectedEOF):
		rejection.Detail = "record ends within a value"
	default:
		rejection.Detail = "not JSON: " + scan.Clip(syntactic.Err.Error(), maxPointerBytes)
	}
	return rejection
}

func kindText(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 't', 'f':
		return "a bool"
	case 'n':
		return "null"
	default:
		return "no value"
	}
}
