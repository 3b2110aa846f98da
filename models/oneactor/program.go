package oneactor

import "fmt"

// Program is what a file says: processes that may call each other.
type Program struct {
	processes map[string]*process
	messages  map[string]message
	errors    map[string]string // id → code
}

type message struct {
	name string
	key  expression
}

// process is the inside of a process or of a subprocess.
type process struct {
	id    string
	nodes map[string]*node
	start *node
}

// node is a flow element.
type node struct {
	id, kind  string
	in, out   []*flow
	fallback  *flow // of a gateway
	boundary  []*node
	events    // what a catch or boundary event, a receive task or an end event is about
	inputs    []mapping
	outputs   []mapping
	variable  string // of a script
	script    expression
	taskType  string
	retries   int
	called    string
	noParent  bool // a called process gets input mappings only
	noChild   bool // and gives nothing back but output mappings
	inside    *process
	interrupt bool
}

type events struct {
	message   *message
	timer     *timer
	catches   bool   // an error boundary event
	errorCode string // "": every error
	terminate bool
	throws    bool // an error end event
}

// timer is a duration in seconds, again and again when it repeats; -1 repeats without end.
type timer struct{ seconds, repeats int }

type mapping struct {
	source expression
	target string
}

type flow struct {
	id        string
	from, to  *node
	condition expression // nil: none
}

// Load reads a file.
func Load(text []byte) (*Program, error) {
	root, err := readXML(text)
	if err != nil {
		return nil, err
	}
	p := &Program{processes: map[string]*process{}, messages: map[string]message{}, errors: map[string]string{}}
	for _, e := range root.all("error") {
		p.errors[e.attrs["id"]] = e.attrs["errorCode"]
	}
	for _, e := range root.all("message") {
		if err := p.message(e); err != nil {
			return nil, err
		}
	}
	for _, e := range root.all("process") {
		if p.processes[e.attrs["id"]], err = p.process(e); err != nil {
			return nil, err
		}
	}
	return p, p.checkCalls()
}

func (p *Program) message(e *element) error {
	m := message{name: e.attrs["name"]}
	if s := e.extension("subscription"); s != nil {
		var err error
		if m.key, err = parse(s.attrs["correlationKey"]); err != nil {
			return fmt.Errorf("read message %s: %w", m.name, err)
		}
	}
	p.messages[e.attrs["id"]] = m
	return nil
}

func (p *Program) checkCalls() error {
	for _, proc := range p.processes { //order:any fault refuses the program
		if err := p.checkCallsOf(proc); err != nil {
			return err
		}
	}
	return nil
}

func (p *Program) checkCallsOf(proc *process) error {
	for _, n := range proc.nodes { //order:any fault refuses the program
		if n.kind == "callActivity" && p.processes[n.called] == nil {
			return fmt.Errorf("read %s: %w: no process %s", n.id, ErrFile, n.called)
		}
		if n.inside != nil {
			if err := p.checkCallsOf(n.inside); err != nil {
				return err
			}
		}
	}
	return nil
}

// process reads the inside of a process: nodes first, then what connects them.
func (p *Program) process(e *element) (*process, error) {
	proc := &process{id: e.attrs["id"], nodes: map[string]*node{}}
	for _, c := range e.children {
		if c.name == "sequenceFlow" || c.name == "extensionElements" || c.name == "incoming" || c.name == "outgoing" {
			continue
		}
		n, err := p.node(c)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", c.attrs["id"], err)
		}
		if proc.nodes[n.id] != nil {
			return nil, fmt.Errorf("read %s: %w: the id stands twice", n.id, ErrFile)
		}
		proc.nodes[n.id] = n
		if n.kind == "startEvent" {
			proc.start = n
		}
	}
	if proc.start == nil {
		return nil, fmt.Errorf("read %s: %w: it has no start event", proc.id, ErrFile)
	}
	return proc, proc.connect(e)
}

func (proc *process) connect(e *element) error {
	for _, c := range e.all("sequenceFlow") {
		f := &flow{id: c.attrs["id"], from: proc.nodes[c.attrs["sourceRef"]], to: proc.nodes[c.attrs["targetRef"]]}
		if f.from == nil || f.to == nil {
			return fmt.Errorf("read %s: %w: an end is missing", f.id, ErrFile)
		}
		if condition := c.one("conditionExpression"); condition != nil {
			var err error
			if f.condition, err = parse(condition.text); err != nil {
				return fmt.Errorf("read %s: %w", f.id, err)
			}
		}
		f.from.out, f.to.in = append(f.from.out, f), append(f.to.in, f)
	}
	for _, c := range e.children {
		n := proc.nodes[c.attrs["id"]]
		if id := c.attrs["default"]; n != nil && id != "" {
			for _, f := range n.out {
				if f.id == id {
					n.fallback = f
				}
			}
		}
		if c.name != "boundaryEvent" {
			continue
		}
		host := proc.nodes[c.attrs["attachedToRef"]]
		if host == nil {
			return fmt.Errorf("read %s: %w: it is attached to nothing", n.id, ErrFile)
		}
		host.boundary = append(host.boundary, n)
	}
	return nil
}
