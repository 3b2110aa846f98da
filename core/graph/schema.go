package graph

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/millrace-dev/millrace/core/record"
)

func (l *loader) loadSchemas(root object) {
	for _, e := range root.collection("schemas", checkName) {
		s := l.schema(e, join("schemas", e.name))
		l.schemas.define(e, s)
		l.pkg.Schemas = append(l.pkg.Schemas, s)
	}
}

// schema reads the fields of a schema; nil when any of them is faulty.
func (l *loader) schema(e entry, path string) *record.Schema {
	n := e.value
	if n.Kind != yaml.MappingNode {
		l.at(n, path, "want an object of field names and types, found "+found(n))
		return nil
	}
	if count := len(n.Content) / 2; count == 0 || count > record.MaxFields {
		l.at(e.key, path, fmt.Sprintf("schema has %d fields, want 1 to %d", count, record.MaxFields))
		return nil
	}
	fields, ok := make([]record.Field, 0, len(n.Content)/2), true
	for i := 0; i < len(n.Content); i += 2 {
		f, good := l.field(n.Content[i], n.Content[i+1], path)
		fields, ok = append(fields, f), ok && good
	}
	if !ok {
		return nil
	}
	s, err := record.NewSchema(e.name, fields)
	if err != nil {
		l.at(e.key, path, err.Error())
		return nil
	}
	return s
}

func (l *loader) field(name, value *yaml.Node, path string) (record.Field, bool) {
	ok := true
	if err := record.CheckFieldName(name.Value); err != nil {
		l.at(name, path, err.Error())
		ok = false
	}
	path = join(path, clip(name.Value))
	if value.Kind != yaml.ScalarNode || value.ShortTag() != "!!str" {
		l.at(value, path, "want a type, found "+found(value))
		return record.Field{}, false
	}
	t, nullable, err := record.ParseType(value.Value)
	if err != nil {
		reason := err.Error()
		if s := suggest(value.Value, record.TypeNames()); s != "" {
			reason += "; did you mean " + s + "?"
		}
		l.at(value, path, reason)
		return record.Field{}, false
	}
	return record.Field{Name: name.Value, Type: t, Nullable: nullable}, ok
}

func (l *loader) loadBranches(root object) {
	for _, e := range root.collection("branches", checkName) {
		o := l.object(e.key, e.value, join("branches", e.name), branchKeys())
		b := &Branch{Name: e.name, TTL: o.duration("ttl"), Max: int(o.integer("max"))}
		parts := o.list("key", 8)
		if n := o.node("key"); n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			o.fault("key", "want at least one part")
		}
		for _, part := range parts {
			if reason := checkName(part.name); reason != "" {
				l.at(part.value, join(o.path, "key"), reason)
			}
			b.Key = append(b.Key, part.name)
		}
		l.branches.define(e, b)
		l.pkg.Branches = append(l.pkg.Branches, b)
	}
}

func (l *loader) loadRelays(root object) {
	for _, e := range root.collection("relays", checkName) {
		o := l.object(e.key, e.value, join("relays", e.name), relayKeys())
		r := &Relay{
			Name: e.name, Schema: l.schemas.find(o, "schema"), BranchedBy: l.branches.find(o, "branched_by"),
			Capacity: int(o.integer("capacity")),
		}
		if r.Schema == nil || o.has("branched_by") && r.BranchedBy == nil {
			r = nil
		}
		l.relays.define(e, r)
		l.pkg.Relays = append(l.pkg.Relays, r)
	}
}

// target reads where records of a schema go. The schema is nil when it failed to load; then only
// names are checked.
func (l *loader) target(o object, schema *record.Schema) Target {
	r := l.relays.find(o, "relay")
	l.produce(o.text("relay"))
	t := Target{Relay: r}
	if r == nil {
		return t
	}
	if schema != nil && !schema.Equal(r.Schema) {
		o.fault("relay", fmt.Sprintf("relay %s is of schema %s, the records are of schema %s", r.Name, r.Schema.Name(), schema.Name()))
	}
	if r.BranchedBy == nil {
		if o.has("branch") {
			o.fault("branch", "relay "+r.Name+" is not branched")
		}
		return t
	}
	want := "{" + r.BranchedBy.Name + ": {part: expression, …}}"
	if !o.has("branch") {
		o.fault("branch", "key branch is missing: relay "+r.Name+" is branched by "+r.BranchedBy.Name+", want "+want)
		return t
	}
	members := o.collection("branch", checkName)
	if len(members) != 1 || members[0].name != r.BranchedBy.Name {
		o.fault("branch", "relay "+r.Name+" is branched by "+r.BranchedBy.Name+", want "+want)
		return t
	}
	t.Keys = l.branchKeys(members[0], join(o.path, "branch"), r, l.scope(rowVariable, r.Schema))
	return t
}

// branchKeys reads one expression for each part of a branch's key. The parts are a section of their
// own, so that a misspelled or missing part is found like any other key.
func (l *loader) branchKeys(e entry, path string, r *Relay, scope *record.Scope) []*record.Expr {
	parts := section{path: path}
	for _, part := range r.BranchedBy.Key {
		if !slices.Contains(parts.names(), part) {
			parts.keys = append(parts.keys, key{name: part, kind: anExpr, required: true})
		}
	}
	o := l.object(e.key, e.value, join(path, e.name), parts)
	var keys []*record.Expr
	for _, part := range parts.names() {
		keys = append(keys, o.keyExpression(part, scope))
	}
	return keys
}
