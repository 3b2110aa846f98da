package graph

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Difference is one thing that differs between two packages.
type Difference struct {
	Kind   string `json:"kind"` // flow, channel, emit, source, …
	Name   string `json:"name"`
	Change string `json:"change"` // added, changed, removed
	// Refused says why a running node cannot take it; empty: it can.
	Refused string `json:"refused,omitempty"`
	// Line is the place in the file that defines it: of the new package, or of the old one for what is removed.
	File string `json:"file"`
	Line int    `json:"line,omitempty"`
}

// The words of Difference.Change.
const (
	Added   = "added"
	Changed = "changed"
	Removed = "removed"
)

// Compare returns what differs between the package that a node runs and another one, by kind and name. What the node has built its
// record plane and its port from cannot be changed while it runs; flows, channels and what only they use can.
func Compare(old, now *Package) []Difference {
	c := comparison{old: old, now: now, was: sectionsOf(old), is: sectionsOf(now)}
	for _, kind := range []string{"branches", "sources", "relays", "processors", "sinks"} {
		c.section(kind, func(string, string) string {
			return "the node has built its streams from it; restart the node with the new package"
		})
	}
	c.section("node", func(string, string) string { return "settings of a node are read when it starts" })
	if old.Name != now.Name {
		c.add("name", now.Name, Changed, "a node runs one package; this is another one", c.is.lines["name"])
	}
	c.section("schemas", c.schemaRefusal)
	c.section("channels", c.channelRefusal)
	c.section("emits", func(name, change string) string {
		if change == Changed {
			return "instances of the deployment before still use it; give the new one another name"
		}
		return ""
	})
	c.flows()
	return c.found
}

// sections are the named things of a package file, as values that can be compared, with their lines.
type sectionsIn struct {
	values map[string]map[string]any
	lines  map[string]int // of "kind" and "kind.name"
}

func sectionsOf(p *Package) sectionsIn {
	s := sectionsIn{values: map[string]map[string]any{}, lines: map[string]int{}}
	var doc yaml.Node
	if i := slices.IndexFunc(p.files, func(f file) bool { return f.name == PackageFile }); i < 0 || yaml.Unmarshal(p.files[i].data, &doc) != nil || len(doc.Content) == 0 {
		return s // it was loaded from this text, so there is one
	}
	root := doc.Content[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		kind, list := root.Content[i].Value, root.Content[i+1]
		s.lines[kind] = root.Content[i].Line
		s.values[kind] = map[string]any{}
		if list.Kind != yaml.MappingNode {
			continue
		}
		for j := 0; j+1 < len(list.Content); j += 2 {
			var value any
			_ = list.Content[j+1].Decode(&value) // it was decoded before
			s.values[kind][list.Content[j].Value] = value
			s.lines[kind+"."+list.Content[j].Value] = list.Content[j].Line
		}
	}
	return s
}

type comparison struct {
	old, now *Package
	was, is  sectionsIn
	found    []Difference
}

func (c *comparison) add(kind, name, change, refused string, line int) {
	c.found = append(c.found, Difference{Kind: strings.TrimSuffix(singular(kind), "s"), Name: name, Change: change, Refused: refused, File: PackageFile, Line: line})
}

func singular(kind string) string {
	if kind == "branches" {
		return "branch"
	}
	return kind
}

// section compares the named things of one kind. refuse says why a difference cannot be taken.
func (c *comparison) section(kind string, refuse func(name, change string) string) {
	var names []string
	for name := range c.was.values[kind] { //order:sorted below
		names = append(names, name)
	}
	for name := range c.is.values[kind] { //order:sorted below
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		before, there := c.was.values[kind][name]
		after, stays := c.is.values[kind][name]
		switch {
		case !there:
			c.add(kind, name, Added, refuse(name, Added), c.is.lines[kind+"."+name])
		case !stays:
			c.add(kind, name, Removed, refuse(name, Removed), c.was.lines[kind+"."+name])
		case !reflect.DeepEqual(before, after), kind == "channels" && c.usesChanged(name):
			c.add(kind, name, Changed, refuse(name, Changed), c.is.lines[kind+"."+name])
		}
	}
}

// schemaRefusal: a schema of the record plane is fixed; one that only channels use goes with them.
func (c *comparison) schemaRefusal(name, change string) string {
	if change == Added {
		return ""
	}
	for _, r := range c.old.Relays {
		if r.Schema.Name() == name {
			return "relay " + r.Name + " carries it; restart the node with the new package"
		}
	}
	for _, s := range c.old.Sources {
		if s.Schema.Name() == name {
			return "source " + s.Name + " decodes it; restart the node with the new package"
		}
	}
	return ""
}

// usesChanged reports whether a channel that reads the same means something else, because of its schema.
func (c *comparison) usesChanged(name string) bool {
	before, after := channelOf(c.old, name), channelOf(c.now, name)
	if before == nil || after == nil {
		return false
	}
	if before.JSONSchema != nil && after.JSONSchema != nil {
		return !bytes.Equal(c.old.data(before.JSONSchema.File), c.now.data(after.JSONSchema.File))
	}
	return before.Schema != nil && after.Schema != nil && !before.Schema.Equal(after.Schema)
}

func channelOf(p *Package, name string) *Channel {
	for _, x := range p.Channels {
		if x.Name == name {
			return x
		}
	}
	return nil
}

func (p *Package) data(name string) []byte {
	for _, f := range p.files {
		if f.name == name {
			return f.data
		}
	}
	return nil
}

// channelRefusal: relays keep their consumers, and messages that instances may still wait for keep a way in.
func (c *comparison) channelRefusal(name, change string) string {
	before, after := channelOf(c.old, name), channelOf(c.now, name)
	const streams = "a channel from a relay is one of its consumers, which stay; restart the node with the new package"
	switch {
	case before != nil && before.From != nil && (after == nil || after.From == nil || after.From.Name != before.From.Name),
		after != nil && after.From != nil && (before == nil || before.From == nil):
		return streams
	case before == nil || before.Flow != "":
		return ""
	case after != nil && after.Flow == "" && after.Message == before.Message:
		return ""
	case after == nil && !c.pathTaken(before):
		return "" // it stays open until nobody can wait for its message any more
	}
	for _, x := range c.now.Channels {
		if x.Flow == "" && x.Message == before.Message {
			return ""
		}
	}
	return fmt.Sprintf("instances that run may wait for its message %s; give the new channel another name", before.Message)
}

// pathTaken reports whether another channel of the new package has the path of an old one.
func (c *comparison) pathTaken(before *Channel) bool {
	return before.HTTPPath != "" && slices.ContainsFunc(c.now.Channels, func(x *Channel) bool { return x.HTTPPath == before.HTTPPath })
}

// flows compares the processes, each by the file that it stands in.
func (c *comparison) flows() {
	was, is := processesOf(c.old), processesOf(c.now)
	var ids []string
	for id := range was { //order:sorted below
		ids = append(ids, id)
	}
	for id := range is { //order:sorted below
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		before, there := was[id]
		after, stays := is[id]
		d := Difference{Kind: "flow", Name: id, Change: Changed, File: after.file, Line: after.line}
		switch {
		case !there:
			d.Change = Added
		case !stays:
			d.Change, d.File, d.Line = Removed, before.file, before.line
		case bytes.Equal(before.data, after.data):
			continue
		}
		c.found = append(c.found, d)
	}
}

type placed struct {
	file string
	line int
	data []byte
}

func processesOf(p *Package) map[string]placed {
	all := map[string]placed{}
	for _, f := range p.Flows {
		for _, x := range f.Processes {
			all[x.ID] = placed{f.File, x.Line, f.Data}
		}
	}
	return all
}
