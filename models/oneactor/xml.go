package oneactor

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrFile marks a file that is not a program of this engine.
var ErrFile = errors.New("not a program")

const (
	maxBytes = 1 << 20
	maxDepth = 64
)

// element is one XML element by its local name: prefixes mean nothing where nobody reuses a name.
type element struct {
	name     string
	attrs    map[string]string
	children []*element
	text     string
}

// readXML reads the document into a tree. Entities other than XML's own are an error of the decoder.
func readXML(text []byte) (*element, error) {
	if len(text) > maxBytes {
		return nil, fmt.Errorf("read program: %w: more than %d bytes", ErrFile, maxBytes)
	}
	top := &element{}
	open := []*element{top}
	decoder := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read program: %w: %w", ErrFile, err)
		}
		if open, err = grow(open, token); err != nil {
			return nil, err
		}
	}
	if len(top.children) != 1 {
		return nil, fmt.Errorf("read program: %w: it has no root", ErrFile)
	}
	return top.children[0], nil
}

func grow(open []*element, token xml.Token) ([]*element, error) {
	last := open[len(open)-1]
	switch t := token.(type) {
	case xml.StartElement:
		if len(open) > maxDepth {
			return nil, fmt.Errorf("read program: %w: more than %d levels", ErrFile, maxDepth)
		}
		e := &element{name: t.Name.Local, attrs: map[string]string{}}
		for _, a := range t.Attr {
			e.attrs[a.Name.Local] = a.Value
		}
		last.children = append(last.children, e)
		return append(open, e), nil
	case xml.EndElement:
		last.text = strings.TrimSpace(last.text)
		return open[:len(open)-1], nil
	case xml.CharData:
		last.text += string(t)
	default:
	}
	return open, nil
}

// all returns the children of a name.
func (e *element) all(name string) []*element {
	var found []*element
	for _, c := range e.children {
		if c.name == name {
			found = append(found, c)
		}
	}
	return found
}

// one returns the first child of a name, or nil.
func (e *element) one(name string) *element {
	if found := e.all(name); len(found) > 0 {
		return found[0]
	}
	return nil
}

// extension returns the first extension of a name, or nil.
func (e *element) extension(name string) *element {
	if x := e.one("extensionElements"); x != nil {
		return x.one(name)
	}
	return nil
}
