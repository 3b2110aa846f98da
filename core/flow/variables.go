package flow

import (
	"fmt"
	"strings"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/feel"
)

func (m *machine) options() feel.Options {
	return feel.Options{Now: m.env.Now, Limits: m.env.Limits}
}

// layers looks names up in the first scope that has them.
type layers []feel.Scope

// Lookup implements feel.Scope.
func (l layers) Lookup(name string) (feel.Value, bool) {
	for _, scope := range l {
		if v, ok := scope.Lookup(name); ok {
			return v, true
		}
	}
	return nil, false
}

// scope is what the token's expressions see: its local variables, then the instance's.
func (m *machine) scope(a *active) feel.Scope {
	if a.Local == nil || a.Local.Context == nil {
		return m.s.Variables.Context
	}
	return layers{a.Local.Context, m.s.Variables.Context}
}

// visible is what a task is given: its local variables when its input mappings made some, else all of the instance's.
func (m *machine) visible(a *active) *feel.Context {
	if a.Local != nil && a.Local.Context != nil {
		return a.Local.Context
	}
	return m.s.Variables.Context
}

// mapInputs makes the local variables of a task that has input mappings. Later mappings see earlier ones.
func (m *machine) mapInputs(a *active) bool {
	if len(a.node.Inputs) == 0 {
		return true
	}
	local := feel.NewContext()
	for _, mapping := range a.node.Inputs {
		value, err := m.mapped(mapping, layers{local, m.s.Variables.Context})
		if err != nil {
			m.stick(a, ExpressionFailed, err.Error())
			return false
		}
		local = put(local, mapping.Target, value)
	}
	a.Local = &Variables{local}
	return true
}

// mapped returns the value of a mapping's source.
func (m *machine) mapped(mapping bpmn.Mapping, scope feel.Scope) (feel.Value, error) {
	value, err := mapping.Source.Evaluate(scope, m.options())
	if err == nil {
		value, err = normalize(value)
	}
	if err != nil {
		return nil, fmt.Errorf("variable %s: %w", strings.Join(mapping.Target, "."), err)
	}
	return value, nil
}

// assignResult makes variables of the result: what the output mappings say, or all of it without any.
func (m *machine) assignResult(a *active) error {
	if len(a.node.Outputs) == 0 {
		return m.assign(a.result)
	}
	variables := m.s.Variables.Context
	scope := layers{a.result}
	if a.Local != nil && a.Local.Context != nil {
		scope = append(scope, a.Local.Context)
	}
	for _, mapping := range a.node.Outputs {
		value, err := m.mapped(mapping, append(scope[:len(scope):len(scope)], variables))
		if err != nil {
			return err
		}
		variables = put(variables, mapping.Target, value)
	}
	m.s.Variables = Variables{variables}
	return nil
}

// assign sets every entry of values as a variable of the instance.
func (m *machine) assign(values *feel.Context) error {
	value, err := normalize(values)
	if err != nil {
		return fmt.Errorf("assign variables: %w", err)
	}
	plain := value.(*feel.Context) // the JSON of a context is an object
	entries := make([]feel.Entry, plain.Len())
	for i := range entries {
		entries[i] = plain.At(i)
	}
	m.s.Variables = Variables{m.s.Variables.With(entries...)}
	return nil
}

// normalize takes a value through JSON, so that what an expression sees never depends on whether the
// instance was loaded from the store in between.
func normalize(value feel.Value) (feel.Value, error) {
	switch value := value.(type) {
	case feel.Null, feel.Bool, feel.Number:
		return value, nil
	case feel.String:
		return feel.String(strings.ToValidUTF8(string(value), "\uFFFD")), nil
	}
	data, err := feel.AppendJSON(nil, value)
	if err != nil {
		return nil, err
	}
	return feel.ParseJSON(data)
}

// put returns c with value at path. What stands in the way and is no context is replaced by one.
func put(c *feel.Context, path []string, value feel.Value) *feel.Context {
	if len(path) == 1 {
		return c.With(feel.Entry{Key: path[0], Value: value})
	}
	inner := feel.NewContext()
	if v, ok := c.Lookup(path[0]); ok {
		if existing, ok := v.(*feel.Context); ok {
			inner = existing
		}
	}
	return c.With(feel.Entry{Key: path[0], Value: put(inner, path[1:], value)})
}
