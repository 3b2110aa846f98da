package engine_test

import (
	"errors"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/mail"
	"github.com/millrace-dev/millrace/core/outbox"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/core/timer"
	"github.com/millrace-dev/millrace/sim"
)

// teller runs one case on a real engine over the simulated store.
type teller struct {
	*sim.World
	lanes    int
	st       *step.Store
	mem      *memory.Engine
	life     *sched.Scope
	e        *engine.Engine
	flows    []*flow.Definition
	buffer   time.Duration
	handlers map[string]verb
	said     []string // by the outside, in the order in which it happened

	names   []store.InstanceID
	told    map[store.InstanceID]uint64 // the last step that was shown
	current store.InstanceID
	locked  []engine.Task

	deployment string
	earlier    []engine.Package
}

type verb struct{ verb, text string }

// tell runs the commands and returns the text with what each came to.
func tell(w *sim.World, text string, lanes int) string {
	x := &teller{World: w, lanes: lanes, handlers: map[string]verb{}, told: map[store.InstanceID]uint64{}, deployment: "d1"}
	x.st, x.mem = memory.Open(w.Scheduler(), memory.Options{})
	var out strings.Builder
	for i, block := range strings.Split(strings.TrimSpace(text), "\n\n") {
		command, _, _ := strings.Cut(block, "\n----")
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(strings.TrimSpace(command) + "\n")
		if strings.HasPrefix(command, "#") && !strings.Contains(command, "\n") {
			continue
		}
		out.WriteString("----\n")
		for _, line := range x.run(strings.TrimSpace(command)) {
			out.WriteString(line + "\n")
		}
	}
	x.stop()
	return out.String()
}

func (x *teller) run(command string) []string {
	for strings.HasPrefix(command, "#") {
		_, command, _ = strings.Cut(command, "\n")
	}
	line, rest, _ := strings.Cut(command, "\n")
	if strings.HasPrefix(line, "@") {
		var name string
		name, line, _ = strings.Cut(line[1:], " ")
		var n int
		if _, err := fmt.Sscanf(name, "%d", &n); err != nil || n < 1 || n > len(x.names) {
			return []string{"there is no instance " + name}
		}
		x.current = x.names[n-1]
	}
	words := strings.Fields(line)
	payload := feel.NewContext()
	if i := strings.IndexByte(line, '{'); i >= 0 {
		v, err := feel.ParseJSON([]byte(line[i:]))
		if err != nil {
			return []string{err.Error()}
		}
		payload, words = v.(*feel.Context), strings.Fields(line[:i])
	}
	x.said = nil
	switch words[0] {
	case "flow":
		return x.define(words[1], rest)
	case "keep":
		x.buffer = x.span(words[1])
		return nil
	case "handler":
		x.handlers[words[1]] = verb{words[2], strings.TrimSpace(line[strings.Index(line, words[2])+len(words[2]):])}
		return nil
	case "down":
		x.stop()
		x.NoError(x.Scheduler().Sleep(x.Scope(), "down", x.span(words[1])))
	case "deploy":
		x.stop()
		x.earlier = append(x.earlier, engine.Package{Deployment: x.deployment, Flows: x.flows})
		x.earlier = slices.DeleteFunc(x.earlier, func(p engine.Package) bool { return p.Deployment == words[1] })
		x.deployment = words[1]
	}
	x.start()
	lines := x.act(words, payload)
	x.NoError(x.Scheduler().Sleep(x.Scope(), "rest", 100*time.Millisecond))
	return append(append(lines, x.said...), x.steps()...)
}

func (x *teller) span(text string) time.Duration {
	d, err := time.ParseDuration(text)
	x.NoError(err)
	return d
}

// define reads the elements of a process.
func (x *teller) define(id, body string) []string {
	var b strings.Builder
	b.WriteString(`<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="case">` + "\n")
	var elements strings.Builder
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "flow "):
			elements.WriteString(sequence(line) + "\n")
		case strings.HasPrefix(line, "<message ") || strings.HasPrefix(line, "<error "):
			b.WriteString(line + "\n")
		default:
			elements.WriteString(line + "\n")
		}
	}
	fmt.Fprintf(&b, "<process id=%q>\n%s</process>\n</definitions>\n", id, elements.String())
	model, faults := bpmn.Load(id, []byte(b.String()), flow.Executes)
	var lines []string
	for _, f := range faults {
		lines = append(lines, f.String())
	}
	if model == nil {
		return lines
	}
	d, err := flow.NewDefinition(model.Processes[0])
	if err != nil {
		return append(lines, strings.Split(err.Error(), "\n")...)
	}
	x.flows = append(x.flows, d)
	return lines
}

// sequence turns "flow NAME: A -> B when EXPRESSION" into a sequence flow.
func sequence(line string) string {
	name, rest, _ := strings.Cut(strings.TrimPrefix(line, "flow "), ": ")
	ends, condition, has := strings.Cut(rest, " when ")
	from, to, _ := strings.Cut(ends, " -> ")
	text := fmt.Sprintf(`<sequenceFlow id=%q sourceRef=%q targetRef=%q>`, name, from, to)
	if has {
		text += "<conditionExpression>= " + html.EscapeString(condition) + "</conditionExpression>"
	}
	return text + "</sequenceFlow>"
}

// start starts an engine when none runs.
func (x *teller) start() {
	if x.e != nil {
		return
	}
	var channels []engine.Channel
	handlers := map[string]engine.Handler{}
	for _, d := range x.flows {
		if d.Starts("") {
			channels = append(channels, engine.Channel{Name: "start " + d.ID(), Flow: d.ID(), Correlates: true, Buffer: x.buffer})
		}
		for _, n := range d.Process().Nodes {
			if n.Kind.CatchesMessage() && !n.Kind.IsStart() && n.Message.Name.Expression == nil {
				channels = append(channels, engine.Channel{Name: n.Message.Name.Literal, Message: n.Message.Name.Literal, Buffer: x.buffer})
			}
		}
	}
	slices.SortFunc(channels, func(a, b engine.Channel) int { return strings.Compare(a.Name, b.Name) })
	channels = slices.CompactFunc(channels, func(a, b engine.Channel) bool { return a.Name == b.Name })
	for name := range x.handlers { //order:each is put under its own name
		handlers[name] = x.call
	}
	x.life = x.Scheduler().NewScope("life")
	var err error
	x.e, err = engine.New(x.Scheduler(), x.life, engine.Options{
		Lanes: x.lanes, Journal: time.Hour * 10_000, TaskPoll: time.Minute,
		// What is not told is found late, so that a mark that got lost shows.
		Timers: timer.Options{Poll: time.Hour}, Outbox: outbox.Options{Poll: time.Hour}, Mail: mail.Options{Poll: time.Hour},
		Dropped: func(message, key string) { x.say("dropped %s, key %q", message, key) },
	}, engine.Parts{
		Store: x.st, Package: engine.Package{Deployment: x.deployment, Flows: x.flows, Channels: channels}, Earlier: x.earlier, Reactivate: true,
		Handlers: handlers, Send: x.receive,
	})
	x.NoError(err)
}

func (x *teller) stop() {
	if x.e != nil {
		x.e.Close()
		x.life.Close()
		x.e = nil
	}
}

func (x *teller) say(format string, args ...any) {
	x.said = append(x.said, fmt.Sprintf(format, args...))
}

func (x *teller) receive(_ *sched.Scope, e store.Emission) error {
	x.say("emitted to %s: %s", e.Target, e.Payload)
	return nil
}

func (x *teller) call(_ *sched.Scope, c flow.Call) (*feel.Context, error) {
	x.say("called %s for %s with %v", c.Type, c.Element, c.Variables)
	switch h := x.handlers[c.Type]; h.verb {
	case "fails":
		return nil, errors.New(h.text)
	case "panics":
		panic(h.text)
	case "throws":
		return nil, &flow.Thrown{Code: h.text, Message: "by the handler", Variables: feel.NewContext(text("reason", h.text))}
	default:
		v, err := feel.ParseJSON([]byte(h.text))
		if err != nil {
			return nil, err
		}
		return v.(*feel.Context), nil
	}
}

// act runs a command that brings something to the engine.
func (x *teller) act(words []string, payload *feel.Context) []string {
	var r engine.Reply
	var err error
	arg := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	switch words[0] {
	case "down", "deploy":
		return nil
	case "wait":
		x.NoError(x.Scheduler().Sleep(x.Scope(), "wait", x.span(words[1])))
		return nil
	case "start":
		r, err = x.e.Deliver(x.Scope(), x.delivery("start "+words[1], words[2], arg(3), payload))
	case "message":
		r, err = x.e.Deliver(x.Scope(), x.delivery(words[1], arg(3), words[2], payload))
	case "complete":
		d, failed := x.e.Describe(x.Scope(), x.current)
		if failed != nil {
			return []string{x.hide(failed.Error())}
		}
		wait := uint64(0)
		for _, w := range d.Waits {
			if w.Element == words[1] && wait == 0 {
				wait = w.Generation
			}
		}
		r, err = x.e.CompleteTask(x.Scope(), x.current, wait, payload)
	case "resolve":
		d, failed := x.e.Describe(x.Scope(), x.current)
		if failed != nil || len(d.Snapshot.Incidents()) == 0 {
			return []string{"there is no incident"}
		}
		r, err = x.e.ResolveIncident(x.Scope(), x.current, d.Snapshot.Incidents()[0].ID, payload)
	case "cancel":
		r, err = x.e.CancelInstance(x.Scope(), x.current, x.calling(arg(1)))
	default:
		return x.work(words, payload)
	}
	return x.answer(r, err)
}

// calling is the token of the flow that the instance calls, for "cancel called".
func (x *teller) calling(what string) uint64 {
	if what != "called" {
		return 0
	}
	d, err := x.e.Describe(x.Scope(), x.current)
	x.NoError(err)
	i := slices.IndexFunc(d.Snapshot.Tokens, func(t flow.Token) bool { return t.Called != "" })
	return d.Snapshot.Tokens[i].ID
}

func (x *teller) delivery(channel, id, key string, payload *feel.Context) engine.Delivery {
	return engine.Delivery{Channel: channel, ID: id, Decode: func() (engine.Message, error) {
		return engine.Message{Variables: payload, Key: key}, nil
	}}
}

// work is what external workers do.
func (x *teller) work(words []string, payload *feel.Context) []string {
	if words[0] == "lock" {
		span := time.Minute
		if len(words) > 2 {
			span = x.span(words[2])
		}
		tasks, err := x.e.FetchTasks(x.Scope(), engine.Fetch{Worker: "w", Types: words[1:2], Max: 1, Lock: span})
		if err != nil {
			return []string{x.hide(err.Error())}
		}
		if len(tasks) == 0 {
			return []string{"no task"}
		}
		t := tasks[0]
		x.locked = append(x.locked, t)
		line := fmt.Sprintf("locked %s at %s, lock %d, %d attempts left, with %v", t.Type, t.Element, t.Lock, t.Retries, t.Variables)
		for _, h := range t.Headers {
			line += fmt.Sprintf(" %s=%s", h.Key, h.Value)
		}
		return []string{line}
	}
	at := len(x.locked) - 1
	if words[0] == "late" {
		at, words = at-1, words[1:]
	}
	if at < 0 {
		return []string{"no task was locked"}
	}
	ref := x.locked[at].Ref
	var r engine.Reply
	var err error
	switch words[0] {
	case "done":
		r, err = x.e.CompleteExternal(x.Scope(), ref, payload)
	case "fail":
		left, failed := strconv.Atoi(words[1])
		x.NoError(failed)
		r, err = x.e.FailTask(x.Scope(), ref, left, x.span(words[2]), "it broke")
	case "extend":
		r, err = x.e.ExtendTask(x.Scope(), ref, x.span(words[1]))
	case "error":
		r, err = x.e.ThrowError(x.Scope(), ref, words[1], "the worker says so", payload)
	default:
		return []string{"unknown command " + words[0]}
	}
	return x.answer(r, err)
}

func (x *teller) answer(r engine.Reply, err error) []string {
	if err != nil {
		return []string{"refused: " + x.hide(err.Error())}
	}
	line := r.Outcome.String()
	if r.Duplicate {
		line += " as a duplicate"
	}
	if r.Reason != "" {
		line += ": " + r.Reason
	}
	return []string{line}
}

// hide replaces ids by the names of the instances.
func (x *teller) hide(text string) string {
	for i, id := range x.names {
		text = strings.ReplaceAll(text, string(id), fmt.Sprintf("@%d", i+1))
	}
	return text
}
