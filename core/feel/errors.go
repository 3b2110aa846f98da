package feel

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of a source text.
const (
	// MaxSource is the largest text Parse accepts, in bytes.
	MaxSource = 64 << 10
	// MaxDepth is how deeply an expression may nest.
	MaxDepth = 200
)

// ErrSyntax is wrapped by every error of Parse.
var ErrSyntax = errors.New("FEEL syntax")

// ErrLimit is wrapped by every error of an evaluation: a bound of Limits was hit.
var ErrLimit = errors.New("FEEL evaluation limit")

// Error says what is wrong with a source text, and where.
type Error struct {
	Offset int // in bytes, from 0
	Line   int // from 1
	Column int // in characters, from 1
	Reason string
}

// Error returns the place and the reason.
func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Reason) }

// Unwrap returns ErrSyntax.
func (e *Error) Unwrap() error { return ErrSyntax }

func errorAt(source string, offset int, format string, args ...any) *Error {
	line, column := place(source, offset)
	return &Error{Offset: offset, Line: line, Column: column, Reason: fmt.Sprintf(format, args...)}
}

// place returns line and column of a byte offset.
func place(source string, offset int) (line, column int) {
	before := source[:min(offset, len(source))]
	line = strings.Count(before, "\n") + 1
	return line, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}
