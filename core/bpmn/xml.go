package bpmn

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"
	"unicode/utf8"
)

// Bounds of a file.
const (
	MaxFile     = 8 << 20 // bytes
	MaxDepth    = 100     // nested elements
	MaxElements = 200_000 // elements and attributes
	MaxFaults   = 1000    // faults reported; one more says that there are others
)

// The namespaces the reader knows.
const (
	spaceBPMN     = "http://www.omg.org/spec/BPMN/20100524/MODEL"
	spaceDiagram  = "http://www.omg.org/spec/BPMN/20100524/DI"
	spaceZeebe    = "http://camunda.org/schema/zeebe/1.0"
	spaceModeler  = "http://camunda.org/schema/modeler/1.0"
	spaceInstance = "http://www.w3.org/2001/XMLSchema-instance"
	spaceInclude  = "http://www.w3.org/2001/XInclude"
)

// element is an XML element with its place in the file.
type element struct {
	name     xml.Name
	attrs    []xml.Attr
	children []*element
	parent   *element
	start    int       // offset of "<"
	tagEnd   int       // offset behind the start tag
	content  []byte    // the decoded text
	segments []segment // where the pieces of text stand
}

// segment maps a piece of decoded text to the file.
type segment struct {
	decoded int // offset in element.content
	raw     int // offset in the file
	end     int
}

// is reports whether the element has this name in the BPMN namespace.
func (e *element) is(local string) bool { return e.name.Space == spaceBPMN && e.name.Local == local }

// attr returns an attribute without namespace.
func (e *element) attr(local string) string {
	for _, a := range e.attrs {
		if a.Name.Space == "" && a.Name.Local == local {
			return a.Value
		}
	}
	return ""
}

func (e *element) text() string { return string(e.content) }

func (e *element) id() string { return e.attr("id") }

// child returns the first child of that name in the BPMN namespace, or nil.
func (e *element) child(local string) *element {
	for _, c := range e.children {
		if c.is(local) {
			return c
		}
	}
	return nil
}

// source is a file with an index of its lines.
type source struct {
	file  string
	data  []byte
	lines []int // offsets at which lines begin
}

func newSource(file string, data []byte) *source {
	s := &source{file: file, data: data, lines: []int{0}}
	for i, c := range data {
		if c == '\n' {
			s.lines = append(s.lines, i+1)
		}
	}
	return s
}

func (s *source) place(offset int) (line, column int) {
	line = sort.SearchInts(s.lines, offset+1)
	return line, offset - s.lines[line-1] + 1
}

// readError is why a file could not be read as XML, and where.
type readError struct {
	offset int
	reason string
}

func (e *readError) Error() string { return e.reason }

// reader builds the element tree.
type reader struct {
	decoder *xml.Decoder
	source  *source
	base    int // bytes of a mark before the document
	count   int
}

// readTree reads the whole file. The first fault of the XML ends it: what follows cannot be trusted.
func readTree(s *source) (*element, *readError) {
	data := s.data
	switch {
	case len(data) > MaxFile:
		return nil, &readError{0, fmt.Sprintf("the file has %d bytes, more than %d", len(data), MaxFile)}
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}) || bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		return nil, &readError{0, "the encoding UTF-16 is not supported; save the file as UTF-8"}
	}
	trimmed := bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	r := &reader{decoder: xml.NewDecoder(bytes.NewReader(trimmed)), source: s, base: len(data) - len(trimmed)}
	r.decoder.CharsetReader = func(charset string, input io.Reader) (io.Reader, error) {
		if strings.EqualFold(charset, "us-ascii") {
			return input, nil // a part of UTF-8
		}
		return nil, fmt.Errorf("the encoding %q is not supported; save the file as UTF-8", charset)
	}
	return r.document()
}

func (r *reader) offset() int { return r.base + int(r.decoder.InputOffset()) }

func (r *reader) document() (*element, *readError) {
	var root, current *element
	depth := 0
	for {
		start := r.offset()
		token, err := r.decoder.Token()
		if err != nil {
			if errors.Is(err, io.EOF) && root != nil && current == nil {
				return root, nil
			}
			return nil, r.syntaxError(err, root, current)
		}
		switch token := token.(type) {
		case xml.Directive:
			return nil, &readError{start, "document type declarations and entities are not allowed"}
		case xml.StartElement:
			if depth++; depth > MaxDepth {
				return nil, &readError{start, fmt.Sprintf("elements nest deeper than %d", MaxDepth)}
			}
			if root != nil && current == nil {
				return nil, &readError{start, "the file has a second root element"}
			}
			next, fault := r.open(token, start, current)
			if fault != nil {
				return nil, fault
			}
			if current = next; root == nil {
				root = next
			}
		case xml.EndElement:
			depth--
			current = current.parent // Token refuses an end without a start
		case xml.CharData:
			if fault := r.characters(string(token), start, current); fault != nil {
				return nil, fault
			}
		}
	}
}

func (r *reader) open(token xml.StartElement, start int, parent *element) (*element, *readError) {
	if r.count += 1 + len(token.Attr); r.count > MaxElements {
		return nil, &readError{start, fmt.Sprintf("the file has more than %d elements and attributes", MaxElements)}
	}
	e := &element{name: token.Name, attrs: token.Copy().Attr, parent: parent, start: start, tagEnd: r.offset()}
	for i, a := range e.attrs {
		for _, b := range e.attrs[:min(i, 100)] {
			if a.Name == b.Name {
				return nil, &readError{start, fmt.Sprintf("the attribute %q stands twice", a.Name.Local)}
			}
		}
	}
	if parent != nil {
		parent.children = append(parent.children, e)
	}
	return e, nil
}

func (r *reader) characters(text string, start int, current *element) *readError {
	if current == nil {
		if strings.TrimSpace(text) != "" {
			return &readError{start, "there is text outside the root element"}
		}
		return nil
	}
	current.segments = append(current.segments, segment{len(current.content), start, r.offset()})
	current.content = append(current.content, text...)
	return nil
}

func (r *reader) syntaxError(err error, root, current *element) *readError {
	at := min(r.offset(), len(r.source.data))
	var syntax *xml.SyntaxError
	switch {
	case errors.Is(err, io.EOF) && root == nil:
		return &readError{0, "the file has no root element"}
	case errors.Is(err, io.EOF) || errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF"):
		if current != nil {
			return &readError{at, fmt.Sprintf("the file is cut off inside the element %q", current.name.Local)}
		}
		return &readError{at, "the file is cut off"}
	case !utf8.Valid(r.source.data):
		return &readError{at, "the file is not valid UTF-8"}
	case errors.As(err, &syntax):
		return &readError{at, "the file is not well-formed XML: " + syntax.Msg}
	}
	reason := strings.TrimPrefix(err.Error(), "xml: ")
	if i := strings.Index(reason, "the encoding "); i > 0 {
		reason = reason[i:] // without the decoder's own words before the CharsetReader's
	}
	return &readError{at, reason}
}

// textOffset returns where a byte of the element's text stands in the file.
func (s *source) textOffset(e *element, decoded int) int {
	for i := len(e.segments) - 1; i >= 0; i-- {
		if seg := e.segments[i]; seg.decoded <= decoded {
			return s.rawOffset(seg.raw, seg.end, decoded-seg.decoded)
		}
	}
	return e.start
}

// attrOffset returns where a byte of an attribute's value stands in the file.
func (s *source) attrOffset(e *element, local string, decoded int) int {
	tag := s.data[e.start:e.tagEnd]
	i := bytes.IndexAny(tag, " \t\r\n")
	for i >= 0 && i < len(tag) {
		equals := bytes.IndexByte(tag[i:], '=')
		if equals < 0 {
			break
		}
		name := strings.TrimSpace(string(tag[i : i+equals]))
		open := bytes.IndexAny(tag[i+equals:], `"'`)
		if open < 0 {
			break
		}
		value := i + equals + open + 1
		length := bytes.IndexByte(tag[value:], tag[value-1])
		if length < 0 {
			break
		}
		if name == local {
			return s.rawOffset(e.start+value, e.start+value+length, decoded)
		}
		i = value + length + 1
	}
	return e.start
}

// rawOffset walks a raw text from offset until it has passed so many bytes of decoded text. An entity such
// as &gt; is one character, CR LF is one byte, and the frame of a CDATA section is none.
func (s *source) rawOffset(offset, end, decoded int) int {
	raw := s.data[offset:end]
	i := 0
	if bytes.HasPrefix(raw, []byte("<![CDATA[")) {
		i = len("<![CDATA[")
	}
	for passed := 0; passed < decoded && i < len(raw); {
		switch {
		case raw[i] == '&':
			size := bytes.IndexByte(raw[i:], ';')
			if size < 0 {
				return offset + i
			}
			passed += entitySize(string(raw[i+1 : i+size]))
			i += size + 1
		case raw[i] == '\r' && i+1 < len(raw) && raw[i+1] == '\n':
			i += 2
			passed++
		default:
			i++
			passed++
		}
	}
	return offset + i
}

// entitySize is the number of bytes that a predefined entity or character reference stands for.
func entitySize(name string) int {
	digits, base := strings.TrimPrefix(name, "#"), 10
	if len(digits) == len(name) {
		return 1 // lt, gt, amp, quot, apos
	}
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	r := rune(0)
	for _, c := range digits {
		r = r*rune(base) + rune(strings.IndexRune("0123456789abcdef", c|0x20))
	}
	return max(1, utf8.RuneLen(r))
}
