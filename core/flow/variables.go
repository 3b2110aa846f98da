package flow

import (
	"fmt"
	"strings"
	"unicode/utf8"

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

// scope is what the token's expressions see: its local variables, then those around it.
func (m *machine) scope(a *active) feel.Scope {
	around := m.around(a)
	if a.Local == nil || a.Local.Context == nil {
		return around
	}
	return append(layers{a.Local.Context}, around...)
}

// around are the variables of the scopes that the token stands in, from the inside out. A called process sees its own alone.
func (m *machine) around(a *active) layers {
	var out layers
	for s := m.token(a.Scope); s != nil; s = m.token(s.Scope) {
		if s.Local != nil && s.Local.Context != nil {
			out = append(out, s.Local.Context)
		}
		if s.Called != "" {
			return out
		}
	}
	return append(out, m.s.Variables.Context)
}

// flat is what is around the token as one context; what is further in hides what is further out.
func (m *machine) flat(a *active) *feel.Context {
	around := m.around(a)
	flat := around[len(around)-1].(*feel.Context)
	for i := len(around) - 2; i >= 0; i-- {
		flat = with(flat, around[i].(*feel.Context))
	}
	return flat
}

// with returns c with all entries of d.
func with(c, d *feel.Context) *feel.Context {
	entries := make([]feel.Entry, d.Len())
	for i := range entries {
		entries[i] = d.At(i)
	}
	return c.With(entries...)
}

// visible is what a task is given: its local variables when its input mappings made some, else all that are around it.
func (m *machine) visible(a *active) *feel.Context {
	if len(a.node.Inputs) > 0 && a.Local != nil && a.Local.Context != nil {
		return a.Local.Context
	}
	return m.flat(a)
}

// mapInputs makes the local variables of a task that has input mappings. Later mappings see earlier ones.
func (m *machine) mapInputs(a *active) bool {
	if len(a.node.Inputs) == 0 {
		return true
	}
	local, around := feel.NewContext(), m.around(a)
	for _, mapping := range a.node.Inputs {
		value, err := m.mapped(mapping, append(layers{local}, around...))
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

// assignResult makes variables of the result: what the output mappings say, or all of it without any. A subprocess has no result
// but its own variables, which only its output mappings see.
func (m *machine) assignResult(a *active) error {
	if len(a.node.Outputs) == 0 {
		if a.result == nil {
			return nil
		}
		return m.assign(a, a.result)
	}
	changes, err := m.mapOutputs(a)
	for _, c := range changes {
		m.set(a, c.path, c.value)
	}
	return err
}

// change is one assignment of an output mapping.
type change struct {
	path  []string
	value feel.Value
}

// mapOutputs evaluates the output mappings; without all of them there are none. Later mappings see what earlier ones set.
func (m *machine) mapOutputs(a *active) ([]change, error) {
	var seen layers
	if a.result != nil {
		seen = append(seen, a.result)
	}
	if a.Local != nil && a.Local.Context != nil {
		seen = append(seen, a.Local.Context)
	}
	made, around := feel.NewContext(), m.around(a)
	var changes []change
	for _, mapping := range a.node.Outputs {
		scope := append(append(seen[:len(seen):len(seen)], made), around...)
		value, err := m.mapped(mapping, scope)
		if err != nil {
			return nil, err
		}
		name := mapping.Target[0]
		before := feel.NewContext()
		if v, ok := (layers{made, m.holder(a, name)}).Lookup(name); ok {
			before = before.With(feel.Entry{Key: name, Value: v})
		}
		made = with(made, put(before, mapping.Target, value))
		changes = append(changes, change{mapping.Target, value})
	}
	return changes, nil
}

// assign sets every entry of values as a variable around the token.
func (m *machine) assign(a *active, values *feel.Context) error {
	value, err := normalize(values)
	if err != nil {
		return fmt.Errorf("assign variables: %w", err)
	}
	plain := value.(*feel.Context) // the JSON of a context is an object
	if a.Scope == 0 {
		m.s.Variables = Variables{with(m.s.Variables.Context, plain)}
		return nil
	}
	for i := range plain.Len() {
		e := plain.At(i)
		m.set(a, []string{e.Key}, e.Value)
	}
	return nil
}

// owner returns the scope token whose variable the name is for the token: the innermost that has it, else the outermost, which is the
// called process or, as nil, the process itself.
func (m *machine) owner(a *active, name string) *active {
	for s := m.token(a.Scope); s != nil; s = m.token(s.Scope) {
		if s.Called != "" {
			return s
		}
		if s.Local != nil && s.Local.Context != nil {
			if _, ok := s.Local.Lookup(name); ok {
				return s
			}
		}
	}
	return nil
}

// holder returns the variables of the owner.
func (m *machine) holder(a *active, name string) *feel.Context {
	if s := m.owner(a, name); s != nil {
		return s.Local.Context
	}
	return m.s.Variables.Context
}

// set sets a variable, or an entry inside of one, around the token.
func (m *machine) set(a *active, path []string, value feel.Value) {
	changed := Variables{put(m.holder(a, path[0]), path, value)}
	if s := m.owner(a, path[0]); s != nil {
		s.Local = &changed
		return
	}
	m.s.Variables = changed
}

// normalize takes a value through JSON, so that what an expression sees never depends on whether the
// instance was loaded from the store in between.
func normalize(value feel.Value) (feel.Value, error) {
	switch value := value.(type) {
	case feel.Null, feel.Bool, feel.Number:
		return value, nil
	case feel.String:
		return feel.String(strings.ToValidUTF8(string(value), "\uFFFD")), nil
	case *feel.Context:
		if plain(value) {
			return value, nil
		}
	}
	data, err := feel.AppendJSON(nil, value)
	if err != nil {
		return nil, err
	}
	return feel.ParseJSON(data)
}

// maxPlain bounds the texts of a context that is not taken through JSON, far below what has none.
const maxPlain = 4096

// plain reports that a context surely is the same after it went through JSON: it has a few short texts and the like, as most have.
func plain(c *feel.Context) bool {
	bytes := 0
	for i := range c.Len() {
		e := c.At(i)
		text := ""
		switch v := e.Value.(type) {
		case feel.Null, feel.Bool:
		case feel.String:
			text = string(v)
		default:
			return false
		}
		bytes += len(e.Key) + len(text)
		if bytes > maxPlain || !utf8.ValidString(e.Key) || !utf8.ValidString(text) {
			return false
		}
	}
	return true
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
