package feel

import (
	"fmt"
	"strings"
)

// Attribute is the text of a modeler's attribute: an expression when it starts with "=", else the text
// itself.
type Attribute struct {
	// Literal is the text, when Expression is nil.
	Literal string
	// Expression is what follows the "=".
	Expression *Expression
	// Offset is where the expression's text begins in the attribute, in bytes.
	Offset int
}

// ParseAttribute reads an attribute. The place of an error counts from the start of the attribute's text.
func ParseAttribute(text string) (Attribute, error) {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	body, isExpression := strings.CutPrefix(trimmed, "=")
	if !isExpression {
		return Attribute{Literal: text}, nil
	}
	offset := len(text) - len(body)
	// Blanks in place of what stands before the expression keep line and column.
	e, err := Parse(blank(text[:offset]) + body)
	if err != nil {
		return Attribute{}, fmt.Errorf("read attribute: %w", err)
	}
	return Attribute{Expression: e, Offset: offset}, nil
}

// blank replaces every character other than a line end.
func blank(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		return ' '
	}, s)
}

// Evaluate returns the value of the expression, or the literal as a string.
func (a Attribute) Evaluate(scope Scope, options Options) (Value, error) {
	if a.Expression == nil {
		return String(a.Literal), nil
	}
	return a.Expression.Evaluate(scope, options)
}

// String returns the attribute in canonical form, with its "=" when it is an expression.
func (a Attribute) String() string {
	if a.Expression == nil {
		return a.Literal
	}
	return "=" + a.Expression.String()
}
