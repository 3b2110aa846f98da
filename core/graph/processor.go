package graph

import (
	"fmt"
	"net/url"

	"github.com/millrace-dev/millrace/core/record"
)

func (l *loader) loadProcessors(root object) {
	for _, e := range root.collection("processors", checkName) {
		o := l.object(e.key, e.value, join("processors", e.name), processorKeys())
		p := &Processor{Name: e.name, From: l.relays.find(o, "from"), To: l.relays.find(o, "to")}
		l.consume(o.text("from"))
		l.produce(o.text("to"))
		l.edges = append(l.edges, edge{from: o.text("from"), to: o.text("to"), processor: e})
		l.processor(o, p)
		l.pkg.Processors = append(l.pkg.Processors, p)
	}
}

func (l *loader) processor(o object, p *Processor) {
	var scope *record.Scope
	if p.From != nil {
		scope = l.scope(rowVariable, p.From.Schema)
	}
	switch transforms := o.has("where") || o.has("map"); {
	case o.has("deduplicate") && transforms:
		o.fault("deduplicate", "want deduplicate alone; put where and map into a processor of their own")
	case !o.has("deduplicate") && !transforms:
		o.incomplete("want where, map or deduplicate")
	}
	p.Where = o.condition("where", scope)
	if c, ok := o.child("deduplicate", deduplicateKeys()); ok {
		p.Deduplicate = &Deduplicate{On: c.keyExpression("on", scope), Keep: c.duration("keep"), Max: int(c.integer("max"))}
	}
	if p.From == nil || p.To == nil {
		return
	}
	if o.has("map") {
		p.Map = l.projection(o, scope, p.To.Schema)
	} else if !p.From.Schema.Equal(p.To.Schema) {
		o.fault("to", fmt.Sprintf("relay %s is of schema %s, relay %s of schema %s: they must be the same without map",
			p.From.Name, p.From.Schema.Name(), p.To.Name, p.To.Schema.Name()))
	}
	if p.From.BranchedBy != p.To.BranchedBy {
		o.fault("to", fmt.Sprintf("relay %s is branched by %s, relay %s by %s: a processor keeps the branch",
			p.From.Name, branchName(p.From), p.To.Name, branchName(p.To)))
	}
}

func branchName(r *Relay) string {
	if r.BranchedBy == nil {
		return "nothing"
	}
	return r.BranchedBy.Name
}

// projection compiles the map of a processor.
func (l *loader) projection(o object, scope *record.Scope, out *record.Schema) *record.Projection {
	path := join(o.path, "map")
	entries := o.collection("map", func(string) string { return "" }) // the output schema knows its fields
	assignments := make([]record.Assignment, 0, len(entries))
	for _, e := range entries {
		text, ok := l.expressionText(e.value, join(path, clip(e.name)))
		if !ok {
			return nil
		}
		assignments = append(assignments, record.Assignment{Field: e.name, Text: text})
	}
	p, faults := scope.Project(out, assignments)
	for _, f := range faults {
		switch {
		case f.Index < 0:
			l.at(o.node("map"), path, f.Message)
		case f.Unknown:
			e := entries[f.Index]
			l.at(e.key, path, f.Message+hint(clip(e.name), fieldNames(out)))
		default:
			e := entries[f.Index]
			l.exprFaults(e.value, join(path, clip(e.name)), []record.ExprFault{f.ExprFault})
		}
	}
	return p
}

func fieldNames(s *record.Schema) []string {
	var names []string
	for _, f := range s.Fields() {
		names = append(names, f.Name)
	}
	return names
}

func (l *loader) loadSinks(root object) {
	for _, e := range root.collection("sinks", checkName) {
		o := l.object(e.key, e.value, join("sinks", e.name), sinkKeys())
		s := &Sink{Name: e.name, From: l.relays.find(o, "from")}
		l.consume(o.text("from"))
		var scope *record.Scope
		if s.From != nil {
			scope = l.scope(rowVariable, s.From.Schema)
		}
		s.Where = o.condition("where", scope)
		o.exactlyOne("file", "http")
		if c, ok := o.child("file", fileSinkKeys()); ok {
			s.File = &FileSink{Path: c.filePath("path")}
		}
		if c, ok := o.child("http", httpSinkKeys()); ok {
			s.HTTP = &HTTPSink{
				URL: c.url("url"), Retries: int(c.integer("retries")), Timeout: c.duration("timeout"), Backoff: c.duration("backoff"),
			}
		}
		l.pkg.Sinks = append(l.pkg.Sinks, s)
	}
}

const maxURLBytes = 2000

// url returns an absolute http URL. Its faults never repeat the URL: it may hold the very secret
// that must not be there.
func (o object) url(name string) string {
	text := o.text(name)
	if text == "" {
		return ""
	}
	if reason := urlFault(text); reason != "" {
		o.fault(name, reason)
	}
	return text
}

// urlFault returns why records and tasks cannot be sent to a URL, or "".
func urlFault(text string) string {
	u, err := url.Parse(text)
	switch {
	case len(text) > maxURLBytes:
		return fmt.Sprintf("URL has %d bytes, want at most %d", len(text), maxURLBytes)
	case err != nil:
		return "want a URL as in https://host/path"
	case u.User != nil:
		return "URL has a user or a password: secrets never stand in a package"
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Fragment != "":
		return "want an absolute http or https URL without a fragment"
	}
	return ""
}
