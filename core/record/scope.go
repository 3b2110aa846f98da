package record

import (
	"fmt"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/decls"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// Bounds of an expression. What they refuse is refused when a package is validated.
const (
	// MaxExpressionBytes is the longest expression.
	MaxExpressionBytes = 4096
	// MaxExpressionDepth is how deep an expression's parentheses, operators and calls may nest.
	MaxExpressionDepth = 48
	// MaxExpressionCost is the cost that evaluating an expression on one row may reach, in CEL's
	// units: about one for each operation and one for each ten bytes that a string operation reads.
	MaxExpressionCost = 1_000_000
)

// Scope is the environment that expressions over rows of one schema are compiled in. It binds one
// variable to the row, `row` in the record plane and `message` in channels. It is immutable.
//
// The language is CEL with its standard functions and without its comprehension macros: a row has no
// lists, and without comprehensions the cost of an expression is linear in its row. Added is
// coalesce(a, b): a when it is not null, else b. There are no implicit casts: int and double do not
// mix, and a field that is nullable has a type of its own, so that `row.x == null` and coalesce are
// how a null is dealt with; a null that reaches an operator refuses the row.
type Scope struct {
	variable string
	schema   *Schema
	env      *cel.Env
}

// rowType is the CEL name of the type of a scope's variable.
const rowType = "millrace.Row"

// NewScope returns the scope in which variable is a row of schema.
func NewScope(variable string, schema *Schema) (*Scope, error) {
	registry, err := types.NewRegistry()
	if err != nil {
		return nil, fmt.Errorf("create scope of %s: %w", schema.Name(), err)
	}
	provider := &rowProvider{Registry: registry, fields: make(map[string]*types.FieldType, schema.Len()), schema: schema}
	for i, f := range schema.fields {
		provider.fields[f.Name] = fieldType(i, f)
	}
	options := []cel.EnvOption{
		cel.CustomTypeProvider(provider), cel.CustomTypeAdapter(registry),
		cel.ClearMacros(), cel.Macros(cel.HasMacro),
		cel.ParserRecursionLimit(MaxExpressionDepth), cel.ParserExpressionSizeLimit(MaxExpressionBytes),
		cel.Variable(variable, cel.ObjectType(rowType)), coalesce(),
	}
	env, err := cel.NewEnv(options...)
	if err != nil {
		return nil, fmt.Errorf("create scope of %s: %w", schema.Name(), err)
	}
	return &Scope{variable: variable, schema: schema, env: env}, nil
}

// Schema returns the schema of the scope's rows.
func (s *Scope) Schema() *Schema { return s.schema }

// Variable returns the name of the row in expressions.
func (s *Scope) Variable() string { return s.variable }

func coalesce() cel.EnvOption {
	pick := cel.BinaryBinding(func(a, b ref.Val) ref.Val {
		if a == types.NullValue {
			return b
		}
		return a
	})
	// The guards would refuse a null timestamp, whose CEL type is not a nullable one. Every overload
	// does the same, so nothing is left for a guard to decide.
	overloads := []cel.FunctionOpt{decls.DisableTypeGuards(true)}
	for _, t := range allTypes() {
		whole, maybe := celType(t, false), celType(t, true)
		overloads = append(overloads,
			cel.Overload("coalesce_"+t.String(), []*cel.Type{maybe, whole}, whole, pick))
	}
	return cel.Function("coalesce", overloads...)
}

// celType maps a field type to CEL's. CEL lets any timestamp be null.
func celType(t Type, nullable bool) *cel.Type {
	var c *cel.Type
	switch t {
	case String:
		c = cel.StringType
	case Bool:
		c = cel.BoolType
	case Int64:
		c = cel.IntType
	case Float64:
		c = cel.DoubleType
	case Timestamp:
		return cel.TimestampType
	case Bytes:
		c = cel.BytesType
	}
	if nullable {
		return cel.NullableType(c)
	}
	return c
}

// fromCEL is celType backwards; false for a type that no field can have.
func fromCEL(t *cel.Type) (Field, bool) {
	for _, own := range allTypes() {
		if t.IsExactType(celType(own, false)) {
			return Field{Type: own}, true
		}
		if t.IsExactType(celType(own, true)) {
			return Field{Type: own, Nullable: true}, true
		}
	}
	return Field{}, false
}

// rowProvider tells CEL's checker and planner about the one struct type that a scope has.
type rowProvider struct {
	*types.Registry
	schema *Schema
	fields map[string]*types.FieldType
}

var _ types.Provider = (*rowProvider)(nil)

func (p *rowProvider) FindStructType(name string) (*types.Type, bool) {
	if name == rowType {
		return types.NewTypeTypeWithParam(types.NewObjectType(rowType)), true
	}
	return p.Registry.FindStructType(name)
}

func (p *rowProvider) FindStructFieldNames(name string) ([]string, bool) {
	if name != rowType {
		return p.Registry.FindStructFieldNames(name)
	}
	names := make([]string, 0, p.schema.Len())
	for _, f := range p.schema.fields {
		names = append(names, f.Name)
	}
	return names, true
}

func (p *rowProvider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if name != rowType {
		return p.Registry.FindStructFieldType(name, field)
	}
	t, ok := p.fields[field]
	return t, ok
}

func fieldType(i int, f Field) *types.FieldType {
	return &types.FieldType{
		Type:  celType(f.Type, f.Nullable),
		IsSet: func(target any) bool { return !target.(*cursor).row.Value(i).null },
		GetFrom: func(target any) (any, error) {
			return toCEL(target.(*cursor).row.Value(i)), nil
		},
	}
}

func toCEL(v Value) ref.Val {
	if v.null {
		return types.NullValue
	}
	switch v.typ {
	case String:
		return types.String(v.text)
	case Bool:
		return types.Bool(v.Bool())
	case Int64:
		return types.Int(v.Int64())
	case Float64:
		return types.Double(v.Float64())
	case Timestamp:
		return types.Timestamp{Time: v.Time()}
	case Bytes:
		return types.Bytes(v.text)
	}
	panic("record: value of " + v.typ.String())
}

// cursor is the activation of an evaluation: it binds the scope's variable to a row and is moved
// from row to row by the one task that evaluates.
type cursor struct {
	variable string
	row      Row
}

var _ cel.Activation = (*cursor)(nil)

func (c *cursor) ResolveName(name string) (any, bool) {
	if name == c.variable {
		return c, true
	}
	return nil, false
}

func (c *cursor) Parent() cel.Activation { return nil }
