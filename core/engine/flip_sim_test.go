package engine_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/sim"
)

// versions are two packages of the process sum: an instance of the first waits for the message add, one of the second for plus.
type versions map[string]engine.Package

func bothVersions(t testing.TB) versions {
	t.Helper()
	text, err := os.ReadFile("testdata/sum.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	v := versions{}
	for id, message := range map[string]string{"d1": "add", "d2": "plus"} { //order:each is put under its own name
		model, faults := bpmn.Load("sum.bpmn", bytes.Replace(text, []byte(`name="add"`), []byte(`name="`+message+`"`), 1), flow.Executes)
		if model == nil {
			t.Fatal(faults)
		}
		d, err := flow.NewDefinition(model.Processes[0])
		if err != nil {
			t.Fatal(err)
		}
		v[id] = engine.Package{Deployment: id, Source: []byte(id), Flows: []*flow.Definition{d}, Channels: []engine.Channel{
			{Name: "open", Flow: "sum"}, {Name: message, Message: message},
		}}
	}
	return v
}

func (v versions) compile(id string, source []byte) (engine.Package, error) {
	if string(source) != id {
		return engine.Package{}, fmt.Errorf("source of %s is %q", id, source)
	}
	return v[id], nil
}

// replica starts an engine over the store. It begins with the first version unless the store knows better.
func (x *outside) replica(scope *sched.Scope, v versions, o engine.Options) *engine.Engine {
	e, err := engine.New(x.Scheduler(), scope, o, engine.Parts{
		Store: x.st, Package: v["d1"], Compile: v.compile, Handlers: map[string]engine.Handler{"add": x.add}, Send: x.receive,
	})
	x.NoError(err)
	return e
}

// pinned returns the deployment of an instance, as the worst crash would leave it.
func (x *outside) pinned(id store.InstanceID) string { return x.durable(id).Deployment }

// account opens an account on one node and adds to it on another, by the message that its version waits for. It returns the version.
func (x *outside) account(name string, opens, adds func() *engine.Engine) string {
	opened := x.transport(x.Scope(), message("open", "open-"+name, "", text("account", name), integer("wanted", 1)), opens)
	version := x.pinned(opened.Instance)
	channel := map[string]string{"d1": "add", "d2": "plus"}[version]
	r := x.transport(x.Scope(), message(channel, "add-"+name, name, integer("amount", 7)), adds)
	x.Require(r.Outcome == engine.Accepted && r.Instance == opened.Instance, "L9.lost", "%s to %s of version %s: %+v", channel, name, version, r)
	return version
}

// ended requires that n accounts have come to their end, and that nothing is left to send.
func (x *outside) ended(n int) {
	d := x.dump(x.engine.Peek)
	maps.DeleteFunc(d.Instances, func(id store.InstanceID, _ store.Instance) bool { return engine.Internal(id) })
	x.Require(len(d.Instances) == n && len(d.Emissions) == 0, "L1.once", "%d instances, %d emissions left", len(d.Instances), len(d.Emissions))
	for id, in := range d.Instances {
		x.Require(in.Status == store.Completed && in.Owner.Nobody(), "L1.once", "instance %s is %v: %s", id, in.Status, in.Snapshot)
	}
}

// Two replicas share a store, and one of them activates. Whoever has a reply and goes to the other replica finds the instance, and never
// goes back to the version before; both end with the new version and with nothing of the old one.
func TestSimL9ReplicasActivate(t *testing.T) {
	v := bothVersions(t)
	sim.Check(t, "L9/replicas-activate", func(w *sim.World) {
		x := newOutside(w, nil, memory.Options{})
		var nodes []*engine.Engine
		for _, name := range []string{"a", "b"} {
			nodes = append(nodes, x.replica(w.Scope(), v, engine.Options{Replica: name, Shared: true, Lanes: 1 + w.Choose("lanes", 2), Follow: time.Minute, Retire: time.Second}))
		}
		at := func(i int) func() *engine.Engine { return func() *engine.Engine { return nodes[i] } }
		for i, name := range []string{"p", "q"} {
			w.Go("client "+name, func() {
				first := x.account(name+"1", at(i), at(1-i))
				again := x.account(name+"2", at(1-i), at(i))
				w.Require(again >= first, "L9.back", "version %s after version %s", again, first)
			})
		}
		w.Go("operator", func() {
			w.NoError(nodes[0].Activate(w.Scope(), v["d2"]))
			// The other replica has not heard of it, and what follows from the answer meets it all the same.
			for i, name := range []string{"r1", "r2"} {
				version := x.account(name, at(1-i), at(i))
				w.Require(version == "d2", "L9.back", "%s started version %s after the activation", name, version)
			}
		})
		w.Join()
		w.NoError(w.Scheduler().Sleep(w.Scope(), "settle", 4*time.Minute))
		for _, e := range nodes {
			active, draining := e.Active()
			w.Require(active == "d2" && len(draining) == 0, "L9.end", "active %s, draining %v", active, draining)
			e.Close()
		}
		x.ended(6)
	}, sim.Steps(60_000))
}

// The power is cut in the middle of an activation, wherever it is. The node begins wholly with one version; the operator tries again, and
// what was started on either ends.
func TestSimL9ActivationThroughPowerCuts(t *testing.T) {
	v := bothVersions(t)
	sim.Check(t, "L9/activation-through-power-cuts", func(w *sim.World) {
		x := newOutside(w, nil, memory.Options{})
		p := &plant{outside: x, options: engine.Options{Lanes: 2, Retire: time.Second}, begin: func(scope *sched.Scope) *engine.Engine {
			return x.replica(scope, v, engine.Options{Lanes: 2, Retire: time.Second})
		}}
		p.up()
		p.cuts(2)
		for _, name := range []string{"p", "q"} {
			w.Go("client "+name, func() {
				first := p.account(name + "1")
				again := p.account(name + "2")
				w.Require(again >= first, "L9.back", "version %s after version %s", again, first)
			})
		}
		w.Go("operator", func() {
			for range 100 {
				_, err := p.connect(func(scope *sched.Scope, e *engine.Engine) (engine.Reply, error) {
					return engine.Reply{}, e.Activate(scope, v["d2"])
				})
				if err == nil {
					return
				}
				w.NoError(w.Scheduler().Sleep(w.Scope(), "again", time.Second))
			}
			w.Require(false, "L9.progress", "never activated")
		})
		w.Join()
		w.NoError(w.Scheduler().Sleep(w.Scope(), "settle", 2*time.Minute))
		active, draining := p.running.Active()
		w.Require(active == "d2" && len(draining) == 0, "L9.end", "active %s, draining %v", active, draining)
		p.shut()
		x.ended(4)
	}, sim.Steps(60_000))
}

// account is that of outside, over connections that may be cut.
func (p *plant) account(name string) string {
	opened := p.deliver(message("open", "open-"+name, "", text("account", name), integer("wanted", 1)))
	version := p.pinned(opened.Instance)
	channel := map[string]string{"d1": "add", "d2": "plus"}[version]
	r := p.deliver(message(channel, "add-"+name, name, integer("amount", 7)))
	p.Require(r.Outcome == engine.Accepted && r.Instance == opened.Instance, "L9.lost", "%s to %s of version %s: %+v", channel, name, version, r)
	return version
}
