package node

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/sched"
)

// transports are what is open to the outside under one view of the deployments: the channels of the active one, those by which messages
// reach instances of deployments that drain, and what all of them emit to. It is immutable and replaced whole, after the lanes have
// the view.
type transports struct {
	channels []*channel
	byName   map[string]*channel
	emits    map[string]*emitter
	mux      *http.ServeMux
	folders  *sched.Scope // of the tasks that watch folders
}

// transportsOf opens the channels of a package and the tail of those that drain, newest first.
func (n *Node) transportsOf(active *graph.Package, draining []*graph.Package) (*transports, error) {
	t := &transports{byName: map[string]*channel{}, emits: map[string]*emitter{}}
	paths := map[string]bool{}
	for i, p := range append([]*graph.Package{active}, draining...) {
		for _, c := range p.Channels {
			if i > 0 && (t.byName[c.Name] != nil || c.Flow != "" || c.From != nil || paths[c.HTTPPath]) {
				continue
			}
			x := &channel{Channel: c, n: n, deployment: p.ID}
			t.channels, t.byName[c.Name] = append(t.channels, x), x
			paths[c.HTTPPath] = c.HTTPPath != ""
		}
		for _, e := range p.Emits {
			if t.emits[e.Name] != nil {
				continue
			}
			x, err := n.newEmitter(e)
			if err != nil && i > 0 {
				n.log.Warn("emissions of a deployment that drains stay", "emit", e.Name, "reason", err)
				continue
			}
			if err != nil {
				return nil, err
			}
			t.emits[e.Name] = x
		}
	}
	t.mux = n.mux(t.channels)
	return t, nil
}

// enginePackage turns a package into what the engine runs.
func (n *Node) enginePackage(p *graph.Package) (engine.Package, error) {
	out := engine.Package{Deployment: p.ID, Origin: p}
	var faults []error
	for _, f := range p.Flows {
		for _, process := range f.Definitions.Processes {
			d, err := flow.NewDefinition(process)
			faults = append(faults, err)
			out.Flows = append(out.Flows, d)
		}
	}
	for _, c := range p.Channels {
		out.Channels = append(out.Channels, n.engineChannel(c))
		if c.Invalid != "" {
			out.Channels = append(out.Channels, engine.Channel{Name: invalidOf(c.Name), Flow: c.Invalid, Keep: inboxKeep})
		}
	}
	var err error
	out.Source, err = p.Archive()
	return out, errors.Join(append(faults, err)...)
}

// compile makes a package of what the store keeps of it.
func (n *Node) compile(_ string, source []byte) (engine.Package, error) {
	p, err := unpackSource(source)
	if err != nil {
		return engine.Package{}, err
	}
	return n.enginePackage(p)
}

func unpackSource(source []byte) (*graph.Package, error) {
	p, faults := graph.LoadArchive(source)
	var errs []error
	for _, f := range faults {
		errs = append(errs, f)
	}
	return p, errors.Join(errs...)
}

// deployed returns the packages of the active deployment and of those that drain; one that cannot be compiled is left out. The engine
// keeps them, and forgets one with its deployment.
func (n *Node) deployed() (active *graph.Package, draining []*graph.Package) {
	first, older := n.flows.engine.Origins()
	for _, x := range older {
		draining = append(draining, x.(*graph.Package)) // enginePackage has set it
	}
	return first.(*graph.Package), draining
}

// openTransports opens what the engine's view says, and closes what it does not. Files and requests that are under way under the ones
// before end by themselves, or are sent again to the new ones.
func (n *Node) openTransports(scope *sched.Scope) error {
	if err := n.flows.opening.Acquire(scope, 1); err != nil {
		return fmt.Errorf("open transports: %w", err)
	}
	defer n.flows.opening.Release(1)
	active, draining := n.deployed()
	next, err := n.transportsOf(active, draining)
	if err != nil {
		return fmt.Errorf("open transports: %w", err)
	}
	before := n.flows.open.Observe()
	if before.folders != nil {
		before.folders.Close()
	}
	next.folders = n.intake.Child("folders of channels")
	n.flows.open.Publish(next)
	for _, x := range next.channels {
		if x.Drop != nil {
			n.s.Go(next.folders, "folder of channel "+x.Name, func() { x.watchFolder(next.folders) })
		}
		if x.From != nil && n.flows.streams[x.Name] == nil {
			n.openStream(x)
		}
	}
	return nil
}

func (n *Node) openStream(x *channel) {
	s := &stream{
		n: n, name: x.Name, from: n.attach("channel "+x.Name, x.From),
		room: sched.NewSemaphore(n.s, "room of channel "+x.Name, int64(max(n.pkg.Node.SettlementCapacity, 1))),
	}
	n.flows.streams[x.Name] = s
	n.s.Go(n.flowing, "channel "+x.Name, s.run)
}

// reopen is what the engine calls when its deployments changed, by whomever.
func (n *Node) reopen() {
	if !n.flows.started.Load() {
		return // the start opens by itself
	}
	if err := n.openTransports(n.intake); err != nil && n.intake.Err() == nil {
		n.log.Error("transports stay as they are", "reason", err)
	}
}

// How long a message waits for the transports of a deployment that has just become active.
const (
	openingTries = 400
	openingPause = 5 * time.Millisecond
)

// whileSuperseded does something with a channel, and again with the one of its name that is open now when the deployment changed in the
// middle.
func (n *Node) whileSuperseded(scope *sched.Scope, x *channel, do func(now *channel) error) error {
	err := do(x)
	for range openingTries {
		if !errors.Is(err, engine.ErrSuperseded) && !errors.Is(err, engine.ErrNoChannel) {
			return err
		}
		if slept := n.s.Sleep(scope, "transports", openingPause); slept != nil {
			return errors.Join(err, slept)
		}
		if now := n.flows.open.Observe().byName[x.Name]; now != nil && now != x {
			x = now
			err = do(x)
		}
	}
	return err
}
