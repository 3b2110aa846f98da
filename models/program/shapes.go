package program

import "fmt"

// block writes a block behind the points and returns where the next one is connected.
func (c *container) block(points []point, b *Block) []point {
	switch b.Shape {
	case Sequence:
		for _, child := range b.Children {
			points = c.block(points, child)
		}
		return points
	case Choice:
		return c.choice(points, b)
	case Race:
		return c.race(points, b)
	case Parallel:
		return c.parallel(points, b)
	case Loop:
		return c.loop(points, b)
	case Guard:
		return c.guard(points, b)
	case Double:
		points = c.add(points, b.id(), "task", "", "")
		return c.add(append(points, points...), b.id()+"-merge", "exclusiveGateway", "", "")
	case Stop:
		return c.stop(points, b)
	default:
		return c.activity(points, b)
	}
}

// activity writes the blocks that are one element.
func (c *container) activity(points []point, b *Block) []point {
	id := b.id()
	switch b.Shape {
	case Script:
		return c.add(points, id, "scriptTask", "", extension(fmt.Sprintf("<zeebe:script expression=\"=%s\" resultVariable=%q/>",
			escape(b.Terms[0]), b.Terms[1])))
	case User:
		return c.add(points, id, "userTask", "", extension(b.mapping()))
	case Work:
		return c.add(points, id, "serviceTask", "", extension(fmt.Sprintf("<zeebe:taskDefinition type=%q retries=\"%d\"/>", "t-"+id, b.Count)+b.mapping()))
	case Receive:
		return c.add(points, id, "receiveTask", fmt.Sprintf(" messageRef=%q", c.message(c.about(b))), "")
	case Catch:
		return c.add(points, id, "intermediateCatchEvent", "", c.messageEvent(c.about(b)))
	case Pause:
		return c.add(points, id, "intermediateCatchEvent", "", timerEvent(b.Number, "timeDuration"))
	case Sub:
		var mapping string
		if b.Flag {
			mapping = extension(ioMapping("input", "n + 1", "i"+b.variable(), "output", "i"+b.variable(), "o"+b.variable()))
		}
		return c.add(points, id, "subProcess", "", mapping+c.file.container(c.process, id, b.Children[0]))
	case Call:
		return c.call(points, b)
	default:
		return c.add(points, id, "task", "", "")
	}
}

// about is the message that a block waits for: one of its own, or that of the process, for which other blocks may wait too.
func (c *container) about(b *Block) string {
	if b.Flag {
		return c.process + "-shared"
	}
	return b.id()
}

// mapping gives a task a variable of its own, and maps its result to the variable that the block writes.
func (b *Block) mapping() string {
	if !b.Flag {
		return ""
	}
	return ioMapping("input", b.Terms[0], "i"+b.variable(), "output", "result", b.variable(), "output", "i"+b.variable(), "o"+b.variable())
}

func (c *container) call(points []point, b *Block) []point {
	called := fmt.Sprintf("called%d", b.Number)
	c.addProcess(called, b.Children[0])
	attributes, mapping := "", ""
	if b.Flag {
		attributes = ` propagateAllParentVariables="false" propagateAllChildVariables="false"`
		mapping = ioMapping("input", "n", "n", "input", "key", "key", "output", "n + 1", "o"+b.variable())
	}
	return c.add(points, b.id(), "callActivity", "", extension(fmt.Sprintf("<zeebe:calledElement processId=%q%s/>", called, attributes)+mapping))
}

func (c *container) stop(points []point, b *Block) []point {
	inner := "<bpmn:terminateEventDefinition/>"
	if b.Flag {
		inner = fmt.Sprintf("<bpmn:errorEventDefinition errorRef=\"error-%d\"/>", b.Count)
	}
	c.add(points, b.id(), "endEvent", "", inner)
	return nil
}

// choice ends in a merge of its own when its number is odd; else the branches lead into whatever is next.
func (c *container) choice(points []point, b *Block) []point {
	at := c.add(points, b.id(), "exclusiveGateway", "", "")[0]
	var ends []point
	for i, child := range b.Children {
		last := b.Flag && i == len(b.Children)-1
		p := point{from: at.from, condition: b.Terms[i]}
		before := len(c.byID[at.from].out)
		ends = append(ends, c.branch(p, b, i, child)...)
		if last {
			c.byID[at.from].attributes = fmt.Sprintf(" default=%q", c.byID[at.from].out[before])
		}
	}
	if len(ends) == 0 || b.Number%2 == 0 {
		return ends
	}
	return c.add(ends, b.id()+"-merge", "exclusiveGateway", "", "")
}

// branch begins a branch with a plain task, so that it is never empty.
func (c *container) branch(p point, b *Block, i int, body *Block) []point {
	return c.block(c.add([]point{p}, fmt.Sprintf("%s-branch-%d", b.id(), i), "task", "", ""), body)
}

func (c *container) race(points []point, b *Block) []point {
	at := c.add(points, b.id(), "eventBasedGateway", "", "")
	var ends []point
	for i, child := range b.Children {
		id := fmt.Sprintf("%s-event-%d", b.id(), i)
		inner := c.event(b.Terms[i], id, 10*b.Number+i)
		ends = append(ends, c.block(c.add(at, id, "intermediateCatchEvent", "", inner), child)...)
	}
	return ends
}

func (c *container) event(kind, id string, number int) string {
	switch kind {
	case "message":
		return c.messageEvent(id)
	case "cycle":
		return timerEvent(number, "timeCycle")
	default:
		return timerEvent(number, "timeDuration")
	}
}

func (c *container) parallel(points []point, b *Block) []point {
	at := c.add(points, b.id(), "parallelGateway", "", "")
	var ends []point
	for i, child := range b.Children {
		end := c.branch(at[0], b, i, child)
		if len(end) > 1 { // the join wants one flow of each branch
			end = c.add(end, fmt.Sprintf("%s-merge-%d", b.id(), i), "exclusiveGateway", "", "")
		}
		ends = append(ends, end...)
	}
	return c.add(ends, b.id()+"-join", "parallelGateway", "", "")
}

// loop counts its rounds in a variable of its own.
func (c *container) loop(points []point, b *Block) []point {
	counter := b.variable()
	again := b.id() + "-again"
	points = c.add(points, b.id()+"-before", "scriptTask", "", extension(fmt.Sprintf("<zeebe:script expression=\"=0\" resultVariable=%q/>", counter)))
	points = c.add(points, again, "exclusiveGateway", "", "")
	points = c.block(points, b.Children[0])
	if len(points) == 0 {
		return nil
	}
	points = c.add(points, b.id()+"-count", "scriptTask", "",
		extension(fmt.Sprintf("<zeebe:script expression=\"=%s + 1\" resultVariable=%q/>", counter, counter)))
	c.add(points, b.id(), "exclusiveGateway", "", "")
	c.connect(point{b.id(), fmt.Sprintf("%s < %d", counter, b.Count)}, again)
	onward := c.add([]point{{from: b.id()}}, b.id()+"-after", "task", "", "")
	c.byID[b.id()].attributes = fmt.Sprintf(" default=%q", c.byID[b.id()].out[1])
	return onward
}

// guard writes an activity with boundary events. What follows an event that interrupts leads to where the activity leads; what
// runs beside the activity has an end of its own.
func (c *container) guard(points []point, b *Block) []point {
	host := b.Children[0]
	ends := c.activity(points, host)
	for i, child := range b.Children {
		if i == 0 {
			continue
		}
		id := fmt.Sprintf("%s-boundary-%d", b.id(), i)
		kind := b.Terms[i]
		attributes, inner := fmt.Sprintf(" attachedToRef=%q", host.id()), ""
		beside := false
		switch kind {
		case "error":
			inner = fmt.Sprintf("<bpmn:errorEventDefinition errorRef=\"error-%d\"/>", b.Number%3)
		case "error-any":
			inner = "<bpmn:errorEventDefinition/>"
		case "timer":
			inner = c.event(kind, id, 10*b.Number+i)
		case "message", "message-beside":
			name := id
			if b.Flag && i == 1 { // no two events of one activity are for one message
				name = c.about(b)
			}
			inner, beside = c.messageEvent(name), kind != "message"
		case "timer-beside":
			inner, beside = c.event("timer", id, 10*b.Number+i), true
		default:
			inner, beside = c.event(kind, id, 10*b.Number+i), true
		}
		if beside {
			attributes += ` cancelActivity="false"`
		}
		behind := c.block(c.add(nil, id, "boundaryEvent", attributes, inner), child)
		if beside && len(behind) > 0 {
			c.add(behind, id+"-end", "endEvent", "", "")
			continue
		}
		ends = append(ends, behind...)
	}
	return ends
}
