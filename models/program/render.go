package program

import (
	"fmt"
	"slices"
	"strings"
)

const (
	head = `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" ` +
		`id="definitions" targetNamespace="generated">
`
	errorsOf = `  <bpmn:error id="error-0" errorCode="E0"/>
  <bpmn:error id="error-1" errorCode="E1"/>
  <bpmn:error id="error-2" errorCode="E2"/>
`
)

// Flow is the id of the process that a program starts.
const Flow = "main"

// file is the BPMN file under construction.
type file struct {
	declared  []string // messages
	messages  strings.Builder
	processes strings.Builder
}

// container is a process or subprocess under construction.
type container struct {
	*file
	process  string
	elements []*item
	byID     map[string]*item
	flows    []string
}

type item struct {
	id, tag, attributes, inner string
	in, out                    []string
}

// point is where the next element is connected: behind an element, under a condition.
type point struct{ from, condition string }

// BPMN writes the process of a block, and those that it calls.
func BPMN(root *Block) string {
	f := &file{}
	f.addProcess(Flow, root)
	return head + errorsOf + f.messages.String() + f.processes.String() + "</bpmn:definitions>\n"
}

func (f *file) addProcess(id string, body *Block) {
	inner := f.container(id, id, body)
	fmt.Fprintf(&f.processes, "  <bpmn:process id=%q isExecutable=\"true\">\n%s  </bpmn:process>\n", id, inner)
}

// container writes the inside of a process: a start event, the body, an end event.
func (f *file) container(process, id string, body *Block) string {
	c := &container{file: f, process: process, byID: map[string]*item{}}
	points := c.add(nil, id+"-start", "startEvent", "", "")
	points = c.block(points, body)
	if len(points) > 0 {
		c.add(points, id+"-end", "endEvent", "", "")
	}
	return c.text()
}

func (c *container) text() string {
	var b strings.Builder
	for _, e := range c.elements {
		fmt.Fprintf(&b, "<bpmn:%s id=%q%s>%s", e.tag, e.id, e.attributes, extensions(e.inner))
		for _, f := range e.in {
			fmt.Fprintf(&b, "<bpmn:incoming>%s</bpmn:incoming>", f)
		}
		for _, f := range e.out {
			fmt.Fprintf(&b, "<bpmn:outgoing>%s</bpmn:outgoing>", f)
		}
		fmt.Fprintf(&b, "%s</bpmn:%s>\n", rest(e.inner), e.tag)
	}
	return b.String() + strings.Join(c.flows, "")
}

const closing = "</bpmn:extensionElements>"

// extensions is the part of an element's inside that stands before its flows, rest the part behind.
func extensions(inner string) string { return inner[:len(inner)-len(rest(inner))] }

func rest(inner string) string {
	if !strings.HasPrefix(inner, "<bpmn:extensionElements>") {
		return inner
	}
	_, after, _ := strings.Cut(inner, closing)
	return after
}

// add writes an element behind all points.
func (c *container) add(points []point, id, tag, attributes, inner string) []point {
	e := &item{id: id, tag: tag, attributes: attributes, inner: inner}
	c.elements = append(c.elements, e)
	c.byID[id] = e
	for _, p := range points {
		c.connect(p, id)
	}
	return []point{{from: id}}
}

func (c *container) connect(p point, to string) string {
	from := c.byID[p.from]
	id := fmt.Sprintf("%s-%s-%d", p.from, to, len(from.out))
	from.out = append(from.out, id)
	c.byID[to].in = append(c.byID[to].in, id)
	inner := ""
	if p.condition != "" {
		inner = fmt.Sprintf("<bpmn:conditionExpression>=%s</bpmn:conditionExpression>", escape(p.condition))
	}
	c.flows = append(c.flows, fmt.Sprintf("<bpmn:sequenceFlow id=%q sourceRef=%q targetRef=%q>%s</bpmn:sequenceFlow>\n", id, p.from, to, inner))
	return id
}

func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(text)
}

func (b *Block) id() string { return fmt.Sprintf("%s%d", b.Shape, b.Number) }

// message declares a message, under the key of the instance.
func (f *file) message(id string) string {
	if slices.Contains(f.declared, id) {
		return "message-" + id
	}
	f.declared = append(f.declared, id)
	fmt.Fprintf(&f.messages, "  <bpmn:message id=\"message-%s\" name=\"m-%s\"><bpmn:extensionElements><zeebe:subscription correlationKey=\"=key\"/>"+
		"</bpmn:extensionElements></bpmn:message>\n", id, id)
	return "message-" + id
}

func (f *file) messageEvent(id string) string {
	return fmt.Sprintf("<bpmn:messageEventDefinition messageRef=%q/>", f.message(id))
}

// timerEvent draws nothing: the duration follows from the number, so that few timers are due at once.
func timerEvent(number int, form string) string {
	seconds := 1000*(1+number%3) + number
	return fmt.Sprintf("<bpmn:timerEventDefinition><bpmn:%s>%sPT%dS</bpmn:%s></bpmn:timerEventDefinition>",
		strings.TrimSuffix(form, "*"), map[bool]string{true: "R2/"}[form == "timeCycle"], seconds, strings.TrimSuffix(form, "*"))
}

func extension(inner string) string {
	if inner == "" {
		return ""
	}
	return "<bpmn:extensionElements>" + inner + closing
}

func ioMapping(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 3 {
		fmt.Fprintf(&b, "<zeebe:%s source=\"=%s\" target=%q/>", pairs[i], escape(pairs[i+1]), pairs[i+2])
	}
	return "<zeebe:ioMapping>" + b.String() + "</zeebe:ioMapping>"
}
