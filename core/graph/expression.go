package graph

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/millrace-dev/millrace/core/record"
)

// The variables of expressions.
const (
	rowVariable     = "row"
	messageVariable = "message"
)

// scoped keeps a scope for reuse: making one costs more than compiling in it.
type scoped struct {
	variable string
	schema   *record.Schema
	scope    *record.Scope
}

// scope returns the scope of expressions over a schema, nil when the schema itself failed to load.
func (l *loader) scope(variable string, schema *record.Schema) *record.Scope {
	if schema == nil {
		return nil
	}
	for _, s := range l.scopes {
		if s.variable == variable && s.schema == schema {
			return s.scope
		}
	}
	scope, err := record.NewScope(variable, schema)
	if err != nil {
		panic("graph: " + err.Error()) // it has no cause in the package's text
	}
	l.scopes = append(l.scopes, scoped{variable, schema, scope})
	return scope
}

// condition compiles the filter of a key; nil when the key is absent or anything about it is faulty.
func (o object) condition(name string, scope *record.Scope) *record.Filter {
	text, ok := o.expression(name)
	if !ok || scope == nil {
		return nil
	}
	f, faults := scope.Filter(text)
	o.l.exprFaults(o.node(name), join(o.path, name), faults)
	return f
}

// keyExpression compiles the key expression of a key, as condition does.
func (o object) keyExpression(name string, scope *record.Scope) *record.Expr {
	text, ok := o.expression(name)
	if !ok || scope == nil {
		return nil
	}
	e, faults := scope.Key(text)
	o.l.exprFaults(o.node(name), join(o.path, name), faults)
	return e
}

func (o object) expression(name string) (string, bool) {
	n := o.values[name]
	if n == nil {
		return "", false
	}
	return o.l.expressionText(n, join(o.path, name))
}

// expressionText takes any scalar: the expression true needs no quotes.
func (l *loader) expressionText(n *yaml.Node, path string) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		l.at(n, path, "want an expression, found "+found(n))
		return "", false
	}
	return n.Value, true
}

// exprFaults reports the faults of an expression where they are in the file.
func (l *loader) exprFaults(n *yaml.Node, path string, faults []record.ExprFault) {
	for _, f := range faults {
		line, column := l.position(n, f.Line, f.Column)
		l.add(line, column, path, f.Message)
	}
}

// position maps a place in a scalar's text to the file. Block text keeps its lines; text on one line
// keeps its columns; for text that YAML folds or unescapes the scalar's own place is the best there is.
func (l *loader) position(n *yaml.Node, line, column int) (int, int) {
	if n.Style&yaml.LiteralStyle != 0 {
		at := n.Line + line
		return at, l.indent(at) + column
	}
	if n.Style&yaml.FoldedStyle != 0 || line > 1 || !strings.Contains(l.line(n.Line), n.Value) {
		return n.Line, n.Column
	}
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		column++
	}
	return n.Line, n.Column + column - 1
}

func (l *loader) line(number int) string {
	if number < 1 || number > len(l.lines) {
		return ""
	}
	return l.lines[number-1]
}

func (l *loader) indent(number int) int {
	text := l.line(number)
	return len(text) - len(strings.TrimLeft(text, " "))
}

func splitLines(data []byte) []string { return strings.Split(string(data), "\n") }
