package bpmn

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/core/feel"
)

// Load reads a file for a deployment: Examine, whose definitions are nil when a fault that is not a warning was found.
func Load(file string, data []byte, supported func(Kind) bool) (*Definitions, []Fault) {
	d, faults := Examine(file, data, supported)
	if Refused(faults) {
		return nil, faults
	}
	return d, faults
}

// Examine is Parse, then Validate with the kinds the engine executes. All faults are in document order. When the file is refused for
// them, the definitions are incomplete, good to look for more faults and for nothing else.
func Examine(file string, data []byte, supported func(Kind) bool) (*Definitions, []Fault) {
	d, faults := Parse(file, data)
	if d != nil {
		faults = append(faults, d.Validate(supported)...)
		sortFaults(faults)
	}
	return d, faults
}

// Parse reads a file and checks its structure. It returns every fault it finds, in document order. The
// definitions are nil only when the file could not be read as BPMN at all; with faults that are not
// warnings they are incomplete, good for Validate and for nothing else.
func Parse(file string, data []byte) (*Definitions, []Fault) {
	s := newSource(file, data)
	root, fault := readTree(s)
	b := &builder{source: s}
	if fault != nil {
		b.faultAt(fault.offset, "", fault.reason)
		return nil, b.faults
	}
	if !root.is("definitions") {
		b.fault(root, "the root element is %q in namespace %q, not \"definitions\" of BPMN 2.0", root.name.Local, root.name.Space)
		return nil, b.faults
	}
	b.definitions(root)
	sortFaults(b.faults)
	return b.result, b.faults
}

// builder makes the model of an element tree and collects faults.
type builder struct {
	source *source
	faults []Fault
	result *Definitions
	// language is the file's expression language. Tools write the standard's default, XPath, into files
	// that have no XPath, so it is held against the conditions alone.
	language string

	ids      map[string]*element // the first element with each id; only looked up
	messages map[string]*Message
	errors   map[string]*Error
}

func (b *builder) faultAt(offset int, id, reason string) {
	b.report(offset, id, reason, false)
}

func (b *builder) report(offset int, id, reason string, warning bool) {
	if len(b.faults) > MaxFaults {
		return
	}
	line, column := b.source.place(offset)
	if len(b.faults) == MaxFaults {
		reason, id, warning = fmt.Sprintf("there are more than %d faults; the others are not listed", MaxFaults), "", false
	}
	b.faults = append(b.faults, Fault{b.source.file, line, column, id, reason, warning})
}

func (b *builder) fault(e *element, format string, args ...any) {
	b.faultAt(e.start, owner(e), fmt.Sprintf(format, args...))
}

func (b *builder) warn(e *element, format string, args ...any) {
	b.report(e.start, owner(e), fmt.Sprintf(format, args...), true)
}

// owner is the id of the element, or of the nearest one around it that has one.
func owner(e *element) string {
	for ; e != nil; e = e.parent {
		if id := e.id(); id != "" {
			return id
		}
	}
	return ""
}

// line is where the element starts.
func (b *builder) line(e *element) int {
	line, _ := b.source.place(e.start)
	return line
}

func (b *builder) definitions(root *element) {
	b.result = &Definitions{File: b.source.file, ID: root.id(), Name: root.attr("name")}
	b.ids = map[string]*element{}
	b.messages = map[string]*Message{}
	b.errors = map[string]*Error{}
	b.language = root.attr("expressionLanguage")
	b.collectIDs(root)
	for _, e := range root.children {
		b.declaration(e)
	}
	processes := 0
	for _, e := range root.children {
		if e.is("process") {
			processes++
			b.process(e)
		}
	}
	if len(b.result.Processes) == 0 {
		b.fault(root, "%s", pick(processes == 0, "the file has no process", "the file has no executable process"))
	}
}

func pick(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

// isFEEL reports whether an expression language is FEEL, by name or by one of its namespaces.
func isFEEL(language string) bool {
	return strings.EqualFold(language, "feel") || strings.Contains(language, "/DMN/") && strings.Contains(language, "FEEL")
}

// collectIDs finds ids that stand twice, diagrams left out.
func (b *builder) collectIDs(e *element) {
	if e.name.Space != spaceBPMN {
		return
	}
	if id := e.id(); id != "" {
		if first := b.ids[id]; first != nil {
			b.fault(e, "the id %q stands twice: first in line %d", id, b.line(first))
		} else {
			b.ids[id] = e
		}
	}
	for _, c := range e.children {
		b.collectIDs(c)
	}
}

// declaration reads what stands beside the processes.
func (b *builder) declaration(e *element) {
	if e.name.Space != spaceBPMN {
		b.foreign(e)
		return
	}
	switch e.name.Local {
	case "message":
		m := b.message(e)
		b.result.Messages = append(b.result.Messages, m)
		b.messages[m.ID] = m
	case "error":
		declared := &Error{ID: e.id(), Name: e.attr("name"), Code: e.attr("errorCode"), Line: b.line(e)}
		b.result.Errors = append(b.result.Errors, declared)
		b.errors[declared.ID] = declared
	case "import":
		b.fault(e, "imports are not supported: every file of a package is read on its own")
	case "process", "collaboration", "signal", "escalation", "itemDefinition", "dataStore", "category", "interface", "endPoint",
		"resource", "partnerEntity", "partnerRole", "documentation", "extensionElements", "relationship", "extension":
	default:
		b.fault(e, "the element %q is not supported here", e.name.Local)
	}
}

// foreign is for elements of other namespaces outside of extensionElements.
func (b *builder) foreign(e *element) {
	switch e.name.Space {
	case spaceDiagram:
	case spaceInclude:
		b.fault(e, "includes are not supported: every file of a package is read on its own")
	default:
		b.warn(e, "the element %q of namespace %q has no effect", e.name.Local, e.name.Space)
	}
}

func (b *builder) message(e *element) *Message {
	m := &Message{ID: e.id(), Line: b.line(e)}
	if m.ID == "" {
		b.fault(e, "the message has no id")
	}
	if m.Name = b.attribute(e, "name"); m.Name.Expression == nil && strings.TrimSpace(m.Name.Literal) == "" {
		b.fault(e, "the message has no name")
	}
	for _, x := range b.extensions(e, "subscription") {
		key := b.attribute(x, "correlationKey")
		switch {
		case key.Expression != nil:
			m.CorrelationKey = &key
		case strings.TrimSpace(key.Literal) != "":
			m.CorrelationKey = &key
			b.warn(x, "the correlation key %q is a constant; an expression starts with \"=\"", key.Literal)
		}
	}
	return m
}

// attribute reads an attribute as literal or FEEL; faults are placed inside its value.
func (b *builder) attribute(e *element, local string) feel.Attribute {
	value := e.attr(local)
	attribute, err := feel.ParseAttribute(value)
	if err != nil {
		offset, reason := errorPlace(err)
		b.faultAt(b.source.attrOffset(e, local, offset), owner(e), fmt.Sprintf("the expression in %q does not parse: %s", local, reason))
		// The element is not missing, so it must not be reported as missing too.
		return feel.Attribute{Literal: value}
	}
	return attribute
}

// errorPlace is the offset and reason of a FEEL fault.
func errorPlace(err error) (offset int, reason string) {
	var place *feel.Error
	if errors.As(err, &place) {
		return place.Offset, place.Reason
	}
	return 0, err.Error()
}

// textAttribute is attribute for an element's text.
func (b *builder) textAttribute(e *element, what string) feel.Attribute {
	attribute, err := feel.ParseAttribute(e.text())
	if err != nil {
		b.textFault(e, what, err)
		return feel.Attribute{Literal: e.text()}
	}
	attribute.Literal = strings.TrimSpace(attribute.Literal)
	return attribute
}

func (b *builder) textFault(e *element, what string, err error) {
	offset, reason := errorPlace(err)
	b.faultAt(b.source.textOffset(e, offset), owner(e), fmt.Sprintf("the %s does not parse: %s", what, reason))
}

// required is attribute for one that must not be empty.
func (b *builder) required(e *element, local, what string) feel.Attribute {
	a := b.attribute(e, local)
	if a.Expression == nil && strings.TrimSpace(a.Literal) == "" {
		b.fault(e, "%s is missing: %q is empty", what, local)
	}
	return a
}

// expression reads an attribute that is an expression with or without "=". It returns nil when it is
// empty or does not parse.
func (b *builder) expression(e *element, local string) *feel.Expression {
	if strings.TrimSpace(e.attr(local)) == "" {
		return nil
	}
	if strings.HasPrefix(strings.TrimSpace(e.attr(local)), "=") {
		return b.attribute(e, local).Expression
	}
	parsed, err := feel.Parse(e.attr(local))
	if err != nil {
		offset, reason := errorPlace(err)
		b.faultAt(b.source.attrOffset(e, local, offset), owner(e), fmt.Sprintf("the expression in %q does not parse: %s", local, reason))
		return nil
	}
	return parsed
}

// condition reads a sequence flow's condition: FEEL with or without "=".
func (b *builder) condition(e *element) *feel.Expression {
	text := e.text()
	trimmed := strings.TrimSpace(text)
	language := e.attr("language")
	switch {
	case language != "" && !isFEEL(language):
		b.fault(e, "the condition is written in %q; conditions are FEEL", language)
		return nil
	case trimmed == "":
		b.fault(e, "the condition is empty")
		return nil
	case strings.HasPrefix(trimmed, "${") || strings.HasPrefix(trimmed, "#{"):
		b.fault(e, "the condition is written in the unified expression language; conditions are FEEL")
		return nil
	case strings.HasPrefix(trimmed, "="):
		return b.textAttribute(e, "condition").Expression
	case language == "" && b.language != "" && !isFEEL(b.language):
		b.fault(e, "the file declares the expression language %q; a condition in FEEL starts with \"=\" there", b.language)
		return nil
	}
	parsed, err := feel.Parse(text)
	if err != nil {
		b.textFault(e, "condition", err)
		return nil
	}
	return parsed
}

// extensions returns the zeebe extension elements of that name.
func (b *builder) extensions(e *element, local string) []*element {
	holder := e.child("extensionElements")
	if holder == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(holder.children), func(x *element) bool {
		return x.name.Space != spaceZeebe || x.name.Local != local
	})
}

// extension returns the one extension of that name, or nil.
func (b *builder) extension(e *element, local string) *element {
	list := b.extensions(e, local)
	if len(list) == 0 {
		return nil
	}
	for _, x := range list[1:] {
		b.fault(x, "the extension %q stands twice", local)
	}
	return list[0]
}
