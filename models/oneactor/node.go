package oneactor

import (
	"fmt"
	"regexp"
	"strconv"
)

// kinds are the elements that are executed.
var kinds = map[string]bool{
	"startEvent": true, "endEvent": true, "intermediateCatchEvent": true, "boundaryEvent": true,
	"task": true, "manualTask": true, "scriptTask": true, "userTask": true, "receiveTask": true, "serviceTask": true,
	"exclusiveGateway": true, "parallelGateway": true, "eventBasedGateway": true, "subProcess": true, "callActivity": true,
}

func (p *Program) node(e *element) (*node, error) {
	n := &node{id: e.attrs["id"], kind: e.name, interrupt: e.attrs["cancelActivity"] != "false"}
	if !kinds[n.kind] || n.id == "" || e.attrs["triggeredByEvent"] == "true" {
		return nil, fmt.Errorf("%w: %s is not executed", ErrFile, n.kind)
	}
	if err := n.mappings(e.extension("ioMapping")); err != nil {
		return nil, err
	}
	if ref := e.attrs["messageRef"]; ref != "" {
		if err := n.about(p, ref); err != nil {
			return nil, err
		}
	}
	for _, c := range e.children {
		if err := p.definition(n, c); err != nil {
			return nil, err
		}
	}
	if err := n.extensions(e); err != nil {
		return nil, err
	}
	if n.kind != "subProcess" {
		return n, nil
	}
	var err error
	n.inside, err = p.process(e)
	return n, err
}

// definition reads one event definition of a node.
func (p *Program) definition(n *node, e *element) error {
	switch e.name {
	case "messageEventDefinition":
		return n.about(p, e.attrs["messageRef"])
	case "terminateEventDefinition":
		n.terminate = true
	case "errorEventDefinition":
		n.throws, n.catches = n.kind == "endEvent", n.kind == "boundaryEvent"
		if ref := e.attrs["errorRef"]; ref != "" {
			code, known := p.errors[ref]
			if !known {
				return fmt.Errorf("%w: no error %s", ErrFile, ref)
			}
			n.errorCode = code
		}
	case "timerEventDefinition":
		var err error
		n.timer, err = readTimer(e)
		return err
	default:
	}
	return nil
}

func (n *node) about(p *Program, ref string) error {
	m, known := p.messages[ref]
	if !known || m.key == nil {
		return fmt.Errorf("%w: no message %s with a key", ErrFile, ref)
	}
	n.message = &m
	return nil
}

var cycle = regexp.MustCompile(`^(?:R(\d*)/)?PT(\d{1,9})S$`)

func readTimer(e *element) (*timer, error) {
	for _, form := range []string{"timeDuration", "timeCycle"} {
		c := e.one(form)
		if c == nil {
			continue
		}
		parts := cycle.FindStringSubmatch(c.text)
		if parts == nil {
			return nil, fmt.Errorf("%w: the time %q", ErrFile, c.text)
		}
		t := &timer{repeats: 1}
		t.seconds, _ = strconv.Atoi(parts[2]) // the pattern is a number
		if form == "timeCycle" {
			t.repeats = -1
			if parts[1] != "" {
				t.repeats, _ = strconv.Atoi(parts[1]) // the pattern is a number
			}
		}
		return t, nil
	}
	return nil, fmt.Errorf("%w: a timer without a time", ErrFile)
}

func (n *node) mappings(e *element) error {
	if e == nil {
		return nil
	}
	for _, c := range e.children {
		source, err := parse(c.attrs["source"])
		if err != nil {
			return err
		}
		m := mapping{source, c.attrs["target"]}
		if c.name == "input" {
			n.inputs = append(n.inputs, m)
		} else {
			n.outputs = append(n.outputs, m)
		}
	}
	return nil
}

func (n *node) extensions(e *element) error {
	if d := e.extension("taskDefinition"); d != nil {
		n.taskType, n.retries = d.attrs["type"], 3
		if text := d.attrs["retries"]; text != "" {
			var err error
			if n.retries, err = strconv.Atoi(text); err != nil {
				return fmt.Errorf("%w: retries %q", ErrFile, text)
			}
		}
	}
	if s := e.extension("script"); s != nil {
		n.variable = s.attrs["resultVariable"]
		var err error
		if n.script, err = parse(s.attrs["expression"]); err != nil {
			return err
		}
	}
	if c := e.extension("calledElement"); c != nil {
		n.called = c.attrs["processId"]
		n.noParent, n.noChild = c.attrs["propagateAllParentVariables"] == "false", c.attrs["propagateAllChildVariables"] == "false"
	}
	return n.complete()
}

// complete refuses a node that lacks what its kind needs.
func (n *node) complete() error {
	missing := n.kind == "serviceTask" && n.taskType == "" ||
		n.kind == "scriptTask" && (n.script == nil || n.variable == "") ||
		n.kind == "receiveTask" && n.message == nil ||
		n.kind == "callActivity" && n.called == "" ||
		n.kind == "intermediateCatchEvent" && n.message == nil && n.timer == nil ||
		n.kind == "boundaryEvent" && n.message == nil && n.timer == nil && !n.catches
	if missing {
		return fmt.Errorf("%w: the %s lacks what it is about", ErrFile, n.kind)
	}
	return nil
}
