package flow_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// program writes a random process of nested blocks: sequences, choices, forks, races of events, subprocesses with and without boundary
// events, tasks and waits.
type program struct {
	t     *rapid.T
	names int
	out   strings.Builder
}

// block writes one block and returns its first and last element.
func (p *program) block(depth int) (first, last string) {
	kinds := []string{"script", "user", "timer", "receive", "job", "pass"}
	if depth > 0 {
		kinds = append(kinds, "sequence", "choice", "fork", "race", "sub", "guarded", "noisy")
	}
	name := p.name()
	switch rapid.SampledFrom(kinds).Draw(p.t, "block") {
	case "script":
		p.add(`<scriptTask id=%q><extensionElements><zeebe:script expression="=if n = null then 1 else n + 1" resultVariable="n"/></extensionElements></scriptTask>`, name)
	case "user":
		p.add(`<userTask id=%q><extensionElements><zeebe:userTask/></extensionElements></userTask>`, name)
	case "timer":
		p.add(`<intermediateCatchEvent id=%q><timerEventDefinition><timeDuration>PT1M</timeDuration></timerEventDefinition></intermediateCatchEvent>`, name)
	case "receive":
		p.add(`<receiveTask id=%q messageRef="m"/>`, name)
	case "job":
		p.add(`<serviceTask id=%q><extensionElements><zeebe:taskDefinition type="job"/></extensionElements></serviceTask>`, name)
	case "pass":
		p.add(`<task id=%q/>`, name)
	case "sequence":
		a, b := p.block2(depth)
		p.flow(a[1], b[0])
		return a[0], b[1]
	case "choice":
		return p.split(name, "exclusiveGateway", depth)
	case "fork":
		return p.split(name, "parallelGateway", depth)
	case "race":
		return p.race(name)
	default:
		p.subprocess(name, depth)
	}
	return name, name
}

func (p *program) block2(depth int) (a, b [2]string) {
	a[0], a[1] = p.block(depth - 1)
	b[0], b[1] = p.block(depth - 1)
	return a, b
}

func (p *program) split(name, kind string, depth int) (first, last string) {
	join := name + "-join"
	p.add(`<%s id=%q/>`, kind, name)
	p.add(`<%s id=%q/>`, kind, join)
	a, b := p.block2(depth)
	condition := ""
	if kind == "exclusiveGateway" {
		condition = "<conditionExpression>= odd</conditionExpression>"
	}
	p.conditional(name, a[0], condition)
	p.conditional(name, b[0], strings.Replace(condition, "= odd", "= not(odd)", 1))
	p.flow(a[1], join)
	p.flow(b[1], join)
	return name, join
}

func (p *program) race(name string) (first, last string) {
	p.add(`<eventBasedGateway id=%q/>`, name)
	p.add(`<intermediateCatchEvent id="%s-a"><timerEventDefinition><timeDuration>PT1M</timeDuration></timerEventDefinition></intermediateCatchEvent>`, name)
	p.add(`<receiveTask id="%s-b" messageRef="m"/>`, name)
	p.add(`<exclusiveGateway id="%s-join"/>`, name)
	for _, event := range []string{"-a", "-b"} {
		p.flow(name, name+event)
		p.flow(name+event, name+"-join")
	}
	return name, name + "-join"
}

func (p *program) subprocess(name string, depth int) {
	p.add(`<subProcess id=%q>`, name)
	p.add(`<startEvent id="%s-in"/><endEvent id="%s-out"/>`, name, name)
	first, last := p.block(depth - 1)
	p.flow(name+"-in", first)
	p.flow(last, name+"-out")
	p.add(`</subProcess>`)
	if cycle := rapid.SampledFrom([]string{"", "PT2M", "R2/PT30S"}).Draw(p.t, "boundary"); cycle != "" {
		kind, interrupts := "timeDuration", "true"
		if cycle[0] == 'R' {
			kind, interrupts = "timeCycle", "false"
		}
		p.add(`<boundaryEvent id="%s-late" attachedToRef=%q cancelActivity=%q><timerEventDefinition><%s>%s</%s></timerEventDefinition></boundaryEvent>`,
			name, name, interrupts, kind, cycle, kind)
		p.add(`<endEvent id="%s-end"/>`, name)
		p.flow(name+"-late", name+"-end")
	}
}

func (p *program) name() string {
	p.names++
	return fmt.Sprintf("e%d", p.names)
}

func (p *program) add(format string, args ...any) { fmt.Fprintf(&p.out, format+"\n", args...) }

func (p *program) flow(from, to string) { p.conditional(from, to, "") }

func (p *program) conditional(from, to, condition string) {
	p.names++
	p.add(`<sequenceFlow id="f%d" sourceRef=%q targetRef=%q>%s</sequenceFlow>`, p.names, from, to, condition)
}

// definition reads the program, in one of its executions.
func randomDefinition(t *rapid.T) (*flow.Definition, string) {
	p := &program{t: t}
	p.add(`<startEvent id="in"/><endEvent id="out"/>`)
	first, last := p.block(3)
	p.flow("in", first)
	p.flow(last, "out")
	text := `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t">
<message id="m" name="m"><extensionElements><zeebe:subscription correlationKey="=&quot;k&quot;"/></extensionElements></message>
<process id="random">` + p.out.String() + "</process></definitions>"
	model, faults := bpmn.Load("random", []byte(text), flow.Executes)
	if model == nil {
		t.Fatalf("%v\n%s", faults, text)
	}
	d, err := flow.NewDefinition(model.Processes[0])
	if err != nil {
		t.Fatal(err)
	}
	return d, text
}

// world drives one instance of a program.
type world struct {
	outer *testing.T
	text  string
	now   time.Time
	open  map[uint64]flow.Wait
}

func (w *world) require(t *rapid.T, ok bool, format string, args ...any) {
	if !ok {
		message := fmt.Sprintf(format, args...)
		inventory.Observe(w.outer, inventory.Verdict{Kind: inventory.KindAssertion, ID: "L14.restart", Message: message})
		t.Fatalf("%s\n%s", message, w.text)
	}
}

func (w *world) environment() flow.Environment { return flow.Environment{Instance: "i", Now: w.now} }

// next draws an input for one of the open waits; a timer's comes when it is due.
func (w *world) next(t *rapid.T) flow.Input {
	var generations []uint64
	for g := range w.open {
		generations = append(generations, g)
	}
	w.require(t, len(generations) > 0, "it waits for nothing and has not ended")
	slices.Sort(generations)
	wait := w.open[rapid.SampledFrom(generations).Draw(t, "wait")]
	in := flow.Input{Wait: wait.Generation, Payload: feel.NewContext(feel.Entry{Key: "odd", Value: feel.Bool(rapid.Bool().Draw(t, "odd"))})}
	switch wait.Kind {
	case flow.ForTime:
		in.Kind, in.Payload = flow.Due, nil
		if wait.Due.After(w.now) {
			w.now = wait.Due
		}
	case flow.ForTask:
		in.Kind = flow.Complete
	case flow.ForWorker:
		in.Kind, in.Worker, in.Until = flow.Lock, "w", w.now.Add(time.Minute)
	default:
		in.Kind = flow.Message
	}
	return in
}

// kept takes a result over: its waits are those of its tokens, no more and no fewer.
func (w *world) kept(t *rapid.T, r *flow.Result) {
	for _, g := range r.Close {
		_, ok := w.open[g]
		w.require(t, ok, "wait %d was closed and is not open", g)
		delete(w.open, g)
	}
	for _, o := range r.Open {
		w.open[o.Generation] = o
	}
	waiting := 0
	for _, token := range r.Snapshot.Tokens {
		w.require(t, token.Incident == nil, "incident %+v", token.Incident)
		if token.Phase == flow.Waiting {
			_, ok := w.open[token.Wait]
			w.require(t, ok, "token %d waits for %d, which is not open", token.ID, token.Wait)
			waiting++
		}
	}
	w.require(t, waiting == len(w.open), "%d tokens wait, %d waits are open", waiting, len(w.open))
	w.require(t, (len(r.Snapshot.Tokens) == 0) == (r.Snapshot.Status == flow.Completed), "%s with %d tokens", r.Snapshot.Status, len(r.Snapshot.Tokens))
}

// Random programs come to the same, byte for byte, in an engine that is restarted after every step, whatever is delivered in what
// order; and they come to their end.
func TestModelL14RestartAfterEveryStep(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "L14/restart-after-every-step", func(outer *testing.T) int {
		cases := 0
		rapid.Check(outer, func(t *rapid.T) {
			cases++
			d, text := randomDefinition(t)
			w := &world{outer: outer, text: text, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), open: map[uint64]flow.Wait{}}
			in := flow.Input{Kind: flow.Start, Payload: feel.NewContext(feel.Entry{Key: "odd", Value: feel.Bool(true)})}
			var through, restarted *flow.Snapshot
			for range 400 {
				through, restarted = w.both(t, d, through, restarted, in)
				if through.Status != flow.Running {
					return
				}
				in = w.step(t, through)
			}
			w.require(t, false, "it does not end: %+v", through)
		})
		return cases
	})
}

// step draws the next input, or completes the external task that was locked last.
func (w *world) step(t *rapid.T, s *flow.Snapshot) flow.Input {
	for _, token := range s.Tokens {
		if j := token.Job; j != nil && j.Lease.Held(w.now) {
			return flow.Input{Kind: flow.Complete, Wait: token.Wait, Lock: j.Lease.Number}
		}
	}
	return w.next(t)
}

// both steps the two and compares all of what they came to.
func (w *world) both(t *rapid.T, d *flow.Definition, through, restarted *flow.Snapshot, in flow.Input) (*flow.Snapshot, *flow.Snapshot) {
	a, err := flow.Step(d, through, in, w.environment())
	w.require(t, err == nil, "%v", err)
	b, err := flow.Step(d, restarted, in, w.environment())
	w.require(t, err == nil, "after a restart: %v", err)
	w.kept(t, a)
	one, err := a.Snapshot.Encode()
	w.require(t, err == nil, "%v", err)
	two, err := b.Snapshot.Encode()
	w.require(t, err == nil, "%v", err)
	w.require(t, bytes.Equal(one, two), "without a restart\n%s\nwith one\n%s", one, two)
	w.require(t, fmt.Sprint(a.Open, a.Close, a.Visited, a.Emissions, a.Offers) == fmt.Sprint(b.Open, b.Close, b.Visited, b.Emissions, b.Offers),
		"without a restart %+v, with one %+v", a, b)
	again, err := flow.Decode(two)
	w.require(t, err == nil, "%v", err)
	return a.Snapshot, again
}
