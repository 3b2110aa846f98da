package engine_test

import (
	"errors"
	"fmt"
	"slices"
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
	"github.com/millrace-dev/millrace/core/timer"
	"github.com/millrace-dev/millrace/models/oneactor"
	"github.com/millrace-dev/millrace/models/program"
	"github.com/millrace-dev/millrace/sim"
)

// actor is an engine that takes the deliveries of a drawn program one after the other, and tells of each what the reference tells:
// outcome, commits with the state after them, acknowledgements.
type actor struct {
	*sim.World
	options  oneactor.Options
	lanes    int
	restarts bool // the engine is replaced by another after every delivery
	flows    []*flow.Definition
	messages []string // names of those that are delivered
	st       *recorder
	life     *sched.Scope
	e        *engine.Engine
	begun    time.Time
	now      int           // seconds that the deliveries have moved the clock
	shift    time.Duration // by which the clock is ahead of that: what the pauses between deliveries took
	stopping bool
}

// pause lets the engine do what a delivery led to. All pauses together stay below a second.
const pause = time.Millisecond

// load reads a drawn program as a node does.
func load(p *program.Program) ([]*flow.Definition, error) {
	model, faults := bpmn.Load("program", []byte(program.BPMN(p.Root)), flow.Executes)
	if model == nil {
		return nil, fmt.Errorf("load program: %v", faults)
	}
	var all []*flow.Definition
	for _, process := range model.Processes {
		d, err := flow.NewDefinition(process)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// perform runs the program and returns what each delivery came to.
func perform(w *sim.World, p *program.Program, flows []*flow.Definition, lanes int, restarts bool) [][]string {
	x := &actor{World: w, options: p.Options, lanes: lanes, restarts: restarts, flows: flows, begun: w.Scheduler().Now()}
	st, _ := memory.Open(w.Scheduler(), memory.Options{})
	x.st = &recorder{Store: st, actor: x, names: map[store.InstanceID]string{}, instances: map[string]*picture{}}
	for _, d := range p.Deliveries {
		switch {
		case d.Kind == oneactor.Start:
			x.st.names[engine.SpawnID(store.Delivery{Channel: "start", ID: d.ID})] = d.ID
		case d.Kind == oneactor.Message && !slices.Contains(x.messages, d.Name):
			x.messages = append(x.messages, d.Name)
		}
	}
	var told [][]string
	x.start()
	for _, d := range p.Deliveries {
		x.st.log = nil
		outcome := x.deliver(d)
		x.rest()
		if restarts {
			x.stop()
			x.start()
			x.rest()
		}
		told = append(told, ordered(append(outcome(), x.st.log...)))
	}
	x.stop()
	return told
}

func (x *actor) rest() {
	x.shift += pause
	x.NoError(x.Scheduler().Sleep(x.Scope(), "rest", pause))
}

func (x *actor) start() {
	channels := []engine.Channel{{Name: "start", Flow: program.Flow, Ack: mode(x.options.Start), Timeout: 24 * time.Hour}}
	for _, name := range x.messages {
		channels = append(channels, engine.Channel{Name: name, Message: name, Ack: mode(x.options.Messages), Timeout: 24 * time.Hour})
	}
	x.life, x.stopping = x.Scheduler().NewScope("life"), false
	var err error
	x.e, err = engine.New(x.Scheduler(), x.life, engine.Options{
		Lanes: x.lanes, TaskPoll: time.Minute, SettlePoll: time.Hour,
		Timers: timer.Options{Poll: time.Hour}, Outbox: outbox.Options{Poll: time.Hour}, Mail: mail.Options{Poll: time.Hour},
	}, engine.Parts{Store: x.st, Package: engine.Package{Deployment: "d", Flows: x.flows, Channels: channels}})
	x.NoError(err)
}

func mode(m oneactor.Mode) engine.Ack {
	if m == oneactor.OnComplete {
		return engine.OnComplete
	}
	return engine.OnPersist
}

func (x *actor) stop() {
	x.stopping = true
	x.e.Close()
	x.life.Close()
}

// deliver brings one delivery and returns how its outcome is told, after the engine has come to rest.
func (x *actor) deliver(d oneactor.Delivery) func() []string {
	switch d.Kind {
	case oneactor.Start, oneactor.Message:
		return x.bring(d)
	case oneactor.Advance:
		x.now += d.Seconds
		until := x.begun.Add(time.Duration(x.now)*time.Second + x.shift)
		x.NoError(x.Scheduler().Sleep(x.Scope(), "advance", until.Sub(x.Scheduler().Now())))
		return func() []string { return nil }
	case oneactor.Fetch:
		line := x.fetch(d)
		return func() []string { return []string{line} }
	default:
		_, err := x.request(d)
		line := "outcome " + string(d.Kind) + " " + verdict(d, err)
		return func() []string { return []string{line} }
	}
}

// bring delivers a message in a task of its own, which a channel that acknowledges at the end keeps waiting.
func (x *actor) bring(d oneactor.Delivery) func() []string {
	channel := "start"
	if d.Kind == oneactor.Message {
		channel = d.Name
	}
	payload := context(d.Variables)
	var missed bool
	x.Go("delivery "+d.ID, func() {
		r, err := x.e.Deliver(x.Scope(), engine.Delivery{Channel: channel, ID: d.ID, Decode: func() (engine.Message, error) {
			return engine.Message{Variables: payload, Key: keyText(d.Key)}, nil
		}})
		if x.stopping && errors.Is(err, engine.ErrUnsettled) {
			return // the instance runs on
		}
		x.NoError(err)
		how := r.Outcome.String()
		switch r.Outcome {
		case engine.Completed:
			how = r.Status.String()
		case engine.Unmatched:
			missed, how = true, "missed"
		default: // its name
		}
		of := x.st.names[r.Instance]
		if of == "" {
			of = "nobody"
		}
		x.st.log = append(x.st.log, fmt.Sprintf("acknowledge %s %s of %s", d.ID, how, of))
	})
	return func() []string {
		what := "duplicate"
		switch effect := x.st.effects[channel+" "+d.ID]; {
		case missed:
			what = "missed"
		case effect != "":
			what = effect
			delete(x.st.effects, channel+" "+d.ID)
		}
		return []string{fmt.Sprintf("outcome %s %s %s", d.Kind, d.ID, what)}
	}
}

func keyText(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

func context(values map[string]any) *feel.Context {
	c := feel.NewContext()
	for name, value := range values { //order:each name is set once, and the names are told in their order
		c = c.With(feel.Entry{Key: name, Value: valueOf(value)})
	}
	return c
}

func valueOf(v any) feel.Value {
	switch v := v.(type) {
	case nil:
		return feel.Null{}
	case bool:
		return feel.Bool(v)
	case int:
		return feel.Int(int64(v))
	default:
		return feel.String(v.(string))
	}
}

func (x *actor) fetch(d oneactor.Delivery) string {
	tasks, err := x.e.FetchTasks(x.Scope(), engine.Fetch{Worker: "w", Types: []string{d.Name}, Max: 1, Lock: time.Duration(d.Seconds) * time.Second})
	x.NoError(err)
	if len(tasks) == 0 {
		return "outcome fetch nothing"
	}
	ref := tasks[0].Ref
	name := x.st.names[ref.Instance]
	return fmt.Sprintf("outcome fetch %s %s lock %d", name, x.st.instances[name].path(ref.Wait), ref.Lock)
}

// request brings what workers and administrators do.
func (x *actor) request(d oneactor.Delivery) (engine.Reply, error) {
	id := engine.SpawnID(store.Delivery{Channel: "start", ID: d.Instance})
	span := time.Duration(d.Seconds) * time.Second
	at := x.st.instances[d.Instance]
	ref := engine.TaskRef{Instance: id, Wait: at.task(d.At, d.Lock, x.Scheduler().Now()), Lock: d.Lock}
	switch d.Kind {
	case oneactor.Finish:
		return x.e.CompleteTask(x.Scope(), id, ref.Wait, context(d.Variables))
	case oneactor.Complete:
		return x.e.CompleteExternal(x.Scope(), ref, context(d.Variables))
	case oneactor.Fail:
		return x.e.FailTask(x.Scope(), ref, d.Retries, span, "it broke")
	case oneactor.Throw:
		return x.e.ThrowError(x.Scope(), ref, d.Name, "the worker says so", nil)
	case oneactor.Extend:
		return x.e.ExtendTask(x.Scope(), ref, span)
	case oneactor.Resolve:
		return x.e.ResolveIncident(x.Scope(), id, at.stuck(d.At), context(d.Variables))
	default:
		return x.e.CancelInstance(x.Scope(), id, 0)
	}
}

func verdict(d oneactor.Delivery, err error) string {
	switch {
	case errors.Is(err, engine.ErrNoInstance):
		return "gone"
	case errors.Is(err, engine.ErrLease), errors.Is(err, engine.ErrNotWaiting):
		return "refused"
	case err != nil:
		return err.Error()
	case d.Kind == oneactor.Resolve:
		return "resolved " + d.Instance
	case d.Kind == oneactor.Cancel:
		return "cancelled " + d.Instance
	default:
		return "accepted"
	}
}

// ordered sorts acknowledgements that follow each other: which of the callers that one end wakes speaks first says nothing.
func ordered(lines []string) []string {
	for from := 0; from < len(lines); from++ {
		to := from
		for to < len(lines) && strings.HasPrefix(lines[to], "acknowledge ") {
			to++
		}
		slices.Sort(lines[from:to])
		from = max(from, to-1)
	}
	return lines
}
