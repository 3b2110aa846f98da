package graph

import (
	"fmt"
	"path"
	"strings"

	"github.com/millrace-dev/millrace/core/record"
)

// places are what parts of the package have taken: paths of the port, files, and ends of relays.
type places struct {
	taken map[string]string // path or file → the key that took it
	stdin string
	// produced and consumed are the relays that something feeds or consumes, by name.
	produced, consumed []string
}

// take claims a place for a key; a place that another key has is a fault.
func (o object) take(name, place string) {
	p := &o.l.placed
	if p.taken == nil {
		p.taken = make(map[string]string)
	}
	at := join(o.path, name)
	if other, ok := p.taken[place]; ok {
		o.fault(name, "already used by "+other)
		return
	}
	p.taken[place] = at
}

func (l *loader) loadSources(root object) {
	for _, e := range root.collection("sources", checkName) {
		l.pkg.Sources = append(l.pkg.Sources, l.source(e))
	}
}

func (l *loader) source(e entry) *Source {
	o := l.object(e.key, e.value, join("sources", e.name), sourceKeys())
	s := &Source{Name: e.name}
	o.exactlyOne("http", "file", "stdin")
	if c, ok := o.child("http", httpSourceKeys()); ok {
		s.HTTP = &HTTPSource{Path: c.httpPath("path"), Ack: SourceAck(c.choice("ack"))}
	}
	if c, ok := o.child("file", fileSourceKeys()); ok {
		s.File = &FileSource{Path: c.filePath("path"), DeadLetter: c.filePath("dead_letter")}
	}
	if c, ok := o.child("stdin", stdinSourceKeys()); ok {
		s.Stdin = &StdinSource{DeadLetter: c.filePath("dead_letter")}
		if l.placed.stdin != "" {
			l.at(c.at, c.path, "standard input is already read by "+l.placed.stdin)
		}
		l.placed.stdin = c.path
	}
	if c, ok := o.child("decode", decodeKeys()); ok {
		c.choice("format")
		s.Schema = l.schemas.find(c, "schema")
		s.Decode = record.Options{MaxLineBytes: int(c.size("max_line")), IgnoreUnknown: c.choice("unknown") == "ignore"}
	}
	if c, ok := o.child("to", targetKeys()); ok {
		s.To = l.target(c, s.Schema)
	}
	return s
}

// exactlyOne reports that none or several of the keys are given.
func (o object) exactlyOne(names ...string) {
	var given []string
	for _, name := range names {
		if o.has(name) {
			given = append(given, name)
		}
	}
	switch {
	case len(given) == 0:
		o.incomplete("want one of " + strings.Join(names, ", "))
	case len(given) > 1:
		o.fault(given[1], "want only one of "+strings.Join(names, ", ")+"; there is also "+given[0])
	}
}

// httpPath returns a path of the node's port that nothing else in the package has.
func (o object) httpPath(name string) string {
	p := o.text(name)
	if p == "" {
		return ""
	}
	if reason := checkHTTPPath(p); reason != "" {
		o.fault(name, reason)
		return p
	}
	o.take(name, "port "+p)
	return p
}

const maxHTTPPathBytes = 200

func checkHTTPPath(p string) string {
	if len(p) > maxHTTPPathBytes {
		return fmt.Sprintf("path has %d bytes, want at most %d", len(p), maxHTTPPathBytes)
	}
	if !strings.HasPrefix(p, "/") || p == "/" || path.Clean(p) != p {
		return fmt.Sprintf("path %q: want / and words between single slashes, as in /orders", p)
	}
	for _, c := range p {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && !strings.ContainsRune("/._~-", c) {
			return fmt.Sprintf("path %q: character %q is not allowed", p, c)
		}
	}
	first, _, _ := strings.Cut(p[1:], "/")
	switch first {
	case "api", "console", "debug", "livez", "metrics", "readyz":
		return fmt.Sprintf("path %q: /%s belongs to the node", p, first)
	}
	return ""
}

// filePath returns a file name that nothing else in the package has.
func (o object) filePath(name string) string {
	p := o.text(name)
	if p == "" {
		return ""
	}
	if reason := checkFilePath(p); reason != "" {
		o.fault(name, reason)
		return p
	}
	o.take(name, "file "+p)
	return p
}

func checkFilePath(p string) string {
	switch {
	case strings.ContainsAny(p, "\\\x00\n"):
		return fmt.Sprintf("file name %q has a character that is not allowed", p)
	case path.Clean(p) != p || p == "." || p == "/" || p == ".." || strings.HasPrefix(p, "../"):
		return fmt.Sprintf("file name %q: want names between single slashes, without . and ..", p)
	case p == PackageFile || strings.HasSuffix(p, ".bpmn"):
		return fmt.Sprintf("file name %q is one of the package itself", p)
	}
	return ""
}
