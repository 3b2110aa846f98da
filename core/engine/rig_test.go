package engine_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
)

func TestMain(m *testing.M) { sim.Main(m) }

// definitions reads the processes of testdata, once for all executions of a check: they are immutable.
func definitions(t testing.TB, files ...string) []*flow.Definition {
	t.Helper()
	var all []*flow.Definition
	for _, file := range files {
		data, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		model, faults := bpmn.Load(file, data, flow.Executes)
		if model == nil {
			t.Fatal(faults)
		}
		for _, p := range model.Processes {
			d, err := flow.NewDefinition(p)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, d)
		}
	}
	return all
}

// channels of the processes in testdata.
var channels = []engine.Channel{
	{Name: "open", Flow: "sum"},
	{Name: "open-and-wait", Flow: "sum", Ack: engine.OnComplete, Timeout: time.Hour},
	{Name: "add", Message: "add"},
	{Name: "remind", Flow: "remind"},
	{Name: "route", Flow: "route"},
	{Name: "charge", Flow: "charge"},
	{Name: "keep", Message: "add", Buffer: time.Hour},
	{Name: "hear", Flow: "heard"},
	{Name: "late", Flow: "late"},
	{Name: "nap", Flow: "nap", Ack: engine.OnComplete, Timeout: time.Hour},
	{Name: "brief", Flow: "route", Keep: time.Millisecond},
	{Name: "brief-and-wait", Flow: "route", Keep: time.Minute, Ack: engine.OnComplete, Timeout: time.Minute},
}

// outside is what is not part of a node: the store, the receiver of emissions and the transports' own memory.
type outside struct {
	*sim.World
	flows  []*flow.Definition
	st     *step.Store
	lossy  bool // reservations keep nobody apart
	engine *memory.Engine
	begun  time.Time

	emitted map[string][]byte           // payload by id
	arrived map[store.InstanceID]uint64 // emissions of an instance that have arrived, each counted once
	targets string                      // of what was emitted, in order
	calls   map[string]int              // handler calls by instance and token
	fails   func(flow.Call) error
}

func newOutside(w *sim.World, flows []*flow.Definition, o memory.Options) *outside {
	x := &outside{World: w, flows: flows, begun: w.Scheduler().Now(), emitted: map[string][]byte{}, arrived: map[store.InstanceID]uint64{}, calls: map[string]int{}}
	x.st, x.engine = memory.Open(w.Scheduler(), o)
	return x
}

// node starts an engine. Its tasks end with scope.
func (x *outside) node(scope *sched.Scope, o engine.Options) *engine.Engine {
	return x.nodeWith(scope, o, nil)
}

// nodeWith is node with hints to other replicas.
func (x *outside) nodeWith(scope *sched.Scope, o engine.Options, hints store.Hinter) *engine.Engine {
	return x.nodeOver(scope, x.shared(), o, hints)
}

// nodeOver is nodeWith over a store of one's own.
func (x *outside) nodeOver(scope *sched.Scope, st store.Store, o engine.Options, hints store.Hinter) *engine.Engine {
	var e *engine.Engine
	for {
		var err error
		e, err = engine.New(x.Scheduler(), scope, o, engine.Parts{
			Store:    st,
			Hints:    hints,
			Package:  x.deployment("d1"),
			Compile:  func(id string, _ []byte) (engine.Package, error) { return x.deployment(id), nil },
			Handlers: map[string]engine.Handler{"add": x.add, "work": x.work},
			Send:     x.receive,
		})
		if err == nil {
			return e
		}
		x.expect(err, store.ErrUnavailable, store.ErrUnknown)
		x.NoError(x.Scheduler().Sleep(scope, "start again", time.Second))
	}
}

// deployment is one of the flows under test. Deployments differ in their names alone.
func (x *outside) deployment(id string) engine.Package {
	return engine.Package{Deployment: id, Flows: x.flows, Channels: channelsOf(x.flows), Source: []byte(id)}
}

// channelsOf are those whose flow is there.
func channelsOf(flows []*flow.Definition) []engine.Channel {
	return slices.DeleteFunc(slices.Clone(channels), func(c engine.Channel) bool {
		return c.Flow != "" && !slices.ContainsFunc(flows, func(d *flow.Definition) bool { return d.ID() == c.Flow })
	})
}

// expect fails on an error that is none of these.
func (x *outside) expect(err error, known ...error) {
	for _, k := range known {
		if errors.Is(err, k) {
			return
		}
	}
	x.NoError(err)
}

// add is the handler that sums up. Its result depends on the variables alone, so a repeated call does no harm.
func (x *outside) add(_ *sched.Scope, c flow.Call) (*feel.Context, error) {
	x.calls[fmt.Sprintf("%s/%d", c.Instance, c.Token)]++
	x.Scheduler().Yield()
	sum := number(c.Variables, "total") + number(c.Variables, "amount")
	return feel.NewContext(
		feel.Entry{Key: "total", Value: feel.Int(sum)},
		feel.Entry{Key: "count", Value: feel.Int(number(c.Variables, "count") + 1)},
	), nil
}

func (x *outside) work(_ *sched.Scope, c flow.Call) (*feel.Context, error) {
	x.calls[fmt.Sprintf("%s/%d", c.Instance, c.Token)]++
	if x.fails != nil {
		return nil, x.fails(c)
	}
	return feel.NewContext(), nil
}

func number(c *feel.Context, name string) int64 {
	v, _ := c.Lookup(name)
	n, ok := v.(feel.Number)
	if !ok {
		return 0
	}
	i, _ := n.Int64()
	return i
}

// receive is the relay behind the outbox.
func (x *outside) receive(_ *sched.Scope, e store.Emission) error {
	x.Scheduler().Yield()
	id := fmt.Sprintf("%s/%d", e.Instance, e.Sequence)
	before, seen := x.emitted[id]
	x.Require(!seen || string(before) == string(e.Payload), "L11.id", "emission %s is %s, and was %s", id, e.Payload, before)
	if !seen {
		x.arrived[e.Instance]++
		x.Require(x.arrived[e.Instance] == e.Sequence, "L11.order", "emission %s arrived first as number %d", id, x.arrived[e.Instance])
	}
	x.emitted[id] = e.Payload
	x.targets += e.Target + " "
	x.Require(x.durable(e.Instance).Emitted >= e.Sequence, "L11.I2", "emission %s left, and its step is not durable", id)
	return nil
}

// message makes a delivery of variables.
func message(channel, id, key string, variables ...feel.Entry) engine.Delivery {
	return engine.Delivery{Channel: channel, ID: id, Decode: func() (engine.Message, error) {
		return engine.Message{Variables: feel.NewContext(variables...), Key: key}, nil
	}}
}

func text(key, value string) feel.Entry { return feel.Entry{Key: key, Value: feel.String(value)} }

func integer(key string, value int64) feel.Entry { return feel.Entry{Key: key, Value: feel.Int(value)} }

// dump is what the store shows, or what the worst crash would leave.
func (x *outside) dump(peek func(func(step.View) error) error) step.Dump {
	d, err := step.InspectIn(peek)
	x.NoError(err)
	return d
}

// durable returns the instance as the worst crash would leave it.
func (x *outside) durable(id store.InstanceID) store.Instance {
	return x.dump(x.engine.PeekDurable).Instances[id]
}

// transport redelivers a message until it is answered, to whatever engine is there.
func (x *outside) transport(scope *sched.Scope, d engine.Delivery, node func() *engine.Engine) engine.Reply {
	for range 200 {
		r, err := node().Deliver(scope, d)
		if err == nil {
			return r
		}
		x.Logf("delivery %s: %v", d.ID, err)
		x.NoError(x.Scheduler().Sleep(scope, "redelivery", time.Second))
	}
	x.Require(false, "L1.progress", "delivery %s was never answered", d.ID)
	return engine.Reply{}
}
