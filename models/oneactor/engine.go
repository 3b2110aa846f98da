package oneactor

import (
	"fmt"
	"slices"
	"strings"
)

// Mode says when a delivery is acknowledged.
type Mode string

// The modes.
const (
	OnPersist  Mode = "on-persist"  // when its step is committed
	OnComplete Mode = "on-complete" // when the instance has ended
)

// Options say what starts and how deliveries are acknowledged.
type Options struct {
	Flow            string // the process that a start delivery starts
	Start, Messages Mode
}

// Kind is a kind of delivery.
type Kind string

// The kinds. Start and Message are deliveries of channels with an id each; the others are a clock, workers and administrators.
const (
	Start    Kind = "start"    // ID, Variables
	Message  Kind = "message"  // ID, Name, Key, Variables
	Advance  Kind = "advance"  // Seconds: the clock moves, and stops at each moment at which a timer is due
	Finish   Kind = "finish"   // Instance, At, Variables: a user task
	Fetch    Kind = "fetch"    // Name (the task type), Seconds (of the lock)
	Complete Kind = "complete" // Instance, At, Lock, Variables
	Fail     Kind = "fail"     // Instance, At, Lock, Retries, Seconds (of the pause)
	Throw    Kind = "throw"    // Instance, At, Lock, Name (the error code)
	Extend   Kind = "extend"   // Instance, At, Lock, Seconds
	Resolve  Kind = "resolve"  // Instance, At, Variables: the token that is stuck there is tried again
	Cancel   Kind = "cancel"   // Instance
)

// Delivery is one input of the engine. An instance is named by the id of the delivery that started it, a task by the path of
// its element: of several tokens there the one that came first is meant.
type Delivery struct {
	Kind      Kind
	ID        string         `json:",omitempty"`
	Name      string         `json:",omitempty"`
	Key       any            `json:",omitempty"`
	Instance  string         `json:",omitempty"`
	At        string         `json:",omitempty"`
	Lock      uint64         `json:",omitempty"`
	Retries   int            `json:",omitempty"`
	Seconds   int            `json:",omitempty"`
	Variables map[string]any `json:",omitempty"`
}

const (
	maxInstances = 1000
	maxFirings   = 10000 // steps of one delivery
)

// Engine is the actor. It is not for concurrent use.
type Engine struct {
	program   *Program
	options   Options
	now       int
	instances []*instance       // in the order of their start
	seen      map[string]string // channel and id of a delivery that took effect → its instance
	held      []hold
	offers    int
	log       []string
}

// hold is an acknowledgement that waits for the end of an instance.
type hold struct{ delivery, instance string }

// New returns an engine without instances at time 0.
func New(p *Program, o Options) (*Engine, error) {
	if p.processes[o.Flow] == nil {
		return nil, fmt.Errorf("make engine: %w: no process %s", ErrFile, o.Flow)
	}
	return &Engine{program: p, options: o, seen: map[string]string{}}, nil
}

// Now is the time in seconds.
func (e *Engine) Now() int { return e.now }

// Deliver takes one delivery to its end and returns what it did, line by line: its outcome, then each commit with the state that
// it wrote, and the acknowledgements that followed.
func (e *Engine) Deliver(d Delivery) ([]string, error) {
	e.log = nil
	if len(e.instances) >= maxInstances {
		return nil, fmt.Errorf("deliver %s: more than %d instances", d.ID, maxInstances)
	}
	d.Variables = whole(d.Variables)
	switch d.Kind {
	case Start:
		e.start(d)
	case Message:
		e.message(d)
	case Advance:
		return e.log, e.advance(e.now + d.Seconds)
	case Fetch:
		e.fetch(d)
	case Finish, Complete, Fail, Throw, Extend:
		e.work(d)
	case Resolve, Cancel:
		e.administer(d)
	default:
		return nil, fmt.Errorf("deliver %s: unknown kind %q", d.ID, d.Kind)
	}
	return e.log, nil
}

// whole makes every number an int64, as expressions have them.
func whole(values map[string]any) map[string]any {
	all := map[string]any{}
	for name, value := range values { //order:each name is set once
		if n, is := value.(int); is {
			value = int64(n)
		}
		all[name] = value
	}
	return all
}

func (e *Engine) outcome(d Delivery, what string) {
	line := []string{"outcome", string(d.Kind)}
	if d.ID != "" {
		line = append(line, d.ID)
	}
	e.log = append(e.log, strings.Join(append(line, what), " "))
}

func (e *Engine) acknowledge(id, how, instance string) {
	e.log = append(e.log, fmt.Sprintf("acknowledge %s %s of %s", id, how, instance))
}

// commit tells the state of an instance, and acknowledges what waited for its end.
func (e *Engine) commit(i *instance) {
	e.log = append(e.log, "commit "+i.id)
	e.log = append(e.log, i.state()...)
	if i.status == running {
		return
	}
	for _, h := range e.held {
		if h.instance == i.id {
			e.acknowledge(h.delivery, i.status, i.id)
		}
	}
	e.held = slices.DeleteFunc(e.held, func(h hold) bool { return h.instance == i.id })
}

// settle acknowledges a delivery that took effect on an instance, now or when that ends. It comes before the commit that the
// delivery caused, as a registration does.
func (e *Engine) settle(d Delivery, m Mode, i *instance) (after func()) {
	if m == OnPersist {
		return func() { e.acknowledge(d.ID, "accepted", i.id) }
	}
	if i.status != running {
		return func() { e.acknowledge(d.ID, i.status, i.id) }
	}
	e.held = append(e.held, hold{d.ID, i.id})
	return func() {}
}

func (e *Engine) find(id string) *instance {
	at := slices.IndexFunc(e.instances, func(i *instance) bool { return i.id == id })
	if at < 0 {
		return nil
	}
	return e.instances[at]
}

// repeated answers a delivery that took effect before.
func (e *Engine) repeated(channel string, d Delivery, m Mode) bool {
	id, seen := e.seen[channel+" "+d.ID]
	if seen {
		e.outcome(d, "duplicate")
		e.settle(d, m, e.find(id))()
	}
	return seen
}

func (e *Engine) start(d Delivery) {
	if e.repeated("start", d, e.options.Start) {
		return
	}
	e.seen["start "+d.ID] = d.ID
	proc := e.program.processes[e.options.Flow]
	i := &instance{engine: e, id: d.ID, status: running}
	i.root = i.scope(nil, nil, proc, d.Variables)
	e.instances = append(e.instances, i)
	e.outcome(d, "started")
	i.spawn(i.root, proc.start)
	i.run()
	after := e.settle(d, e.options.Start, i)
	e.commit(i)
	after()
}

// message resumes the first wait for the name and key.
func (e *Engine) message(d Delivery) {
	if e.repeated(d.Name, d, e.options.Messages) {
		return
	}
	for _, i := range e.instances {
		for _, w := range i.waits {
			if w.kind != "message" || w.name != d.Name || w.key != text(d.Key) {
				continue
			}
			e.seen[d.Name+" "+d.ID] = i.id
			e.outcome(d, "resumed "+i.id)
			i.fire(w, d.Variables)
			after := e.settle(d, e.options.Messages, i)
			e.commit(i)
			after()
			return
		}
	}
	e.outcome(d, "missed")
	e.acknowledge(d.ID, "missed", "nobody")
}

// advance moves the clock from due time to due time. Timers due at once fire in the order of their instances and of their waits.
func (e *Engine) advance(until int) error {
	for range maxFirings {
		i, w := e.earliest()
		if w == nil || w.due > until {
			e.now = until
			return nil
		}
		e.now = max(e.now, w.due)
		e.log = append(e.log, fmt.Sprintf("fired %s %s at %d", i.id, w.path(), e.now))
		i.fire(w, nil)
		e.commit(i)
	}
	return fmt.Errorf("advance to %d: more than %d steps", until, maxFirings)
}

func (e *Engine) earliest() (*instance, *wait) {
	var owner *instance
	var first *wait
	for _, i := range e.instances {
		for _, w := range i.waits {
			if w.kind == "timer" && (first == nil || w.due < first.due) {
				owner, first = i, w
			}
		}
	}
	return owner, first
}

// administer corrects variables and tries again, or ends an instance.
func (e *Engine) administer(d Delivery) {
	i := e.find(d.Instance)
	if i == nil || i.status != running {
		e.outcome(d, "gone")
		return
	}
	if d.Kind == Cancel {
		e.outcome(d, "cancelled "+i.id)
		i.end(failed)
		e.commit(i)
		return
	}
	retry := i.stuck(d)
	if retry == nil {
		e.outcome(d, "refused")
		return
	}
	e.outcome(d, "resolved "+i.id)
	retry()
	i.run()
	e.commit(i)
}

// stuck returns how the token or event that is stuck at a path is tried again, or nil.
func (i *instance) stuck(d Delivery) (retry func()) {
	correct := func(s *scope) {
		for name, value := range d.Variables { //order:each name is set once
			s.assign(name, value)
		}
	}
	for _, t := range i.tokens {
		if t.incident != "" && t.path() == d.At {
			return func() {
				correct(t.scope)
				t.incident = ""
				i.ready = append(i.ready, t)
			}
		}
	}
	for _, w := range i.waits {
		if w.incident != "" && w.path() == d.At {
			return func() {
				correct(w.token.scope)
				i.withdraw(w)
				i.event(w.token, w.on, w.boundary)
			}
		}
	}
	return nil
}
