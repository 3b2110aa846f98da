package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/millrace-dev/millrace/core/deploy"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/outbox"
	"github.com/millrace-dev/millrace/core/store"
)

// Parts are what an engine is put together from.
type Parts struct {
	Store store.Store
	// Hints carry to other replicas that there is something to look at. Nil: they find it by looking.
	Hints store.Hinter
	// Package is what spawns. When the store knows it and says that another deployment is active, the store is right: that one was
	// activated later. A package that the store does not know becomes active with the start.
	Package Package
	// Reactivate makes Package active also where the store knows it and has another active: a rollback by a restart.
	Reactivate bool
	// Earlier are deployments whose instances may still be parked, beside those that the store knows.
	Earlier []Package
	// Compile makes a package of what the store keeps of it: its hash and its Source. It is asked for deployments that are neither
	// Package nor among Earlier, by this node's start and where it follows another replica. Nil knows none.
	Compile func(deployment string, source []byte) (Package, error)
	// Handlers by task type.
	Handlers map[string]Handler
	// Send gives an emission to its receiver. Required when a flow has a task of type emit.
	Send outbox.Send
	// Fits says why an emission would not be taken by Send, ever; then the task that emits it is an incident. It runs on a lane and must not
	// wait. Nil: everything fits.
	Fits func(target string, payload []byte) error
}

// ErrPackage is wrapped by the faults of a package that an engine refuses.
var ErrPackage = errors.New("engine package")

// definitions are one deployment as lanes use it, immutable. Maps are only looked up.
type definitions struct {
	flows    map[string]*flow.Definition
	list     []*flow.Definition // in the order of the package
	channels []*Channel
	origin   any // the caller's
}

type (
	view       = deploy.View[*definitions]
	deployment = deploy.Deployment[*definitions]
)

// define reads a package, or joins every fault of it.
func (e *Engine) define(p Package) (deployment, error) {
	linked, err := flow.Link(p.Flows)
	d := &definitions{flows: make(map[string]*flow.Definition, len(linked)), list: linked, origin: p.Origin}
	faults := []error{err}
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s", ErrPackage, fmt.Sprintf(format, args...)))
	}
	for _, f := range linked {
		d.flows[f.ID()] = f
		if e.sendOut == nil && f.Emits() {
			fault("process %s emits, and there is no receiver", f.ID())
		}
	}
	for i := range p.Channels {
		ch := p.Channels[i]
		if reason := d.channelFault(&ch); reason != "" {
			fault("channel %s: %s", ch.Name, reason)
		}
		ch.deployment = p.Deployment
		d.channels = append(d.channels, &ch)
	}
	if len(p.Source) > MaxSource {
		fault("its source has %d bytes, more than %d", len(p.Source), MaxSource)
	}
	if reason := nameFault(p.Deployment); reason != "" {
		fault("its hash %s", reason)
	}
	return deployment{ID: p.Deployment, Definitions: d}, errors.Join(faults...)
}

func (d *definitions) channelFault(ch *Channel) string {
	f := d.flows[ch.Flow]
	switch {
	case ch.Name == "":
		return "it has no name"
	case slices.ContainsFunc(d.channels, func(x *Channel) bool { return x.Name == ch.Name }):
		return "its name is used twice"
	case ch.Flow == "" && ch.Message == "":
		return "it neither starts a flow nor names a message"
	case ch.Buffer < 0 || ch.Buffer > 0 && ch.Ack == OnComplete:
		return "a channel that keeps messages acknowledges when they are durable"
	case ch.Flow != "" && f == nil:
		return fmt.Sprintf("there is no process %s", ch.Flow)
	case ch.Flow != "" && !f.Starts(ch.Message) && !f.Starts(""):
		return fmt.Sprintf("process %s starts neither with message %q nor without one", ch.Flow, ch.Message)
	}
	return ""
}

// flow returns a process of a deployment; without definitions there is none.
func (d *definitions) flow(id string) *flow.Definition {
	if d == nil {
		return nil
	}
	return d.flows[id]
}

// routes are what a view comes to for whoever brings messages, immutable.
type routes struct {
	view     *view
	channels map[string]*Channel
	holding  map[string]bool // flows for whose ends deliveries may be held, at whatever replica
}

// newRoutes opens the channels of the active deployment, and the tail: those by which messages reach instances of deployments that
// drain, unless the active one has a channel of that name.
func newRoutes(v *view) *routes {
	r := &routes{view: v, channels: map[string]*Channel{}, holding: map[string]bool{}}
	for i, d := range v.All() {
		if d.Definitions == nil {
			continue
		}
		for _, ch := range d.Definitions.channels {
			r.hold(ch)
			if r.channels[ch.Name] != nil || i > 0 && ch.Flow != "" {
				continue
			}
			open := *ch
			switch open.receivers = r.awaiting(ch.Message); {
			case ch.Flow != "":
				open.receivers = []string{ch.Flow}
			case len(open.receivers) == 0:
				open.receivers = []string{""}
			}
			r.channels[ch.Name] = &open
		}
	}
	return r
}

// hold notes the flows for whose ends deliveries of a channel are held.
func (r *routes) hold(ch *Channel) {
	if ch.Ack != OnComplete {
		return
	}
	flows := []string{ch.Flow}
	if ch.Flow == "" {
		flows = r.awaiting(ch.Message)
	}
	for _, f := range flows {
		r.holding[f] = true
	}
}

// awaiting are the processes that may wait for a message of that name, of any deployment, each once, in order.
func (r *routes) awaiting(message string) []string {
	var ids []string
	for _, d := range r.view.All() {
		if d.Definitions != nil {
			ids = append(ids, where(d.Definitions.list, func(f *flow.Definition) bool { return f.Awaits(message) })...)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// startedBy are the processes of the active deployment that such a message starts, in order.
func (r *routes) startedBy(message string) []string {
	ids := where(r.view.Active.Definitions.list, func(f *flow.Definition) bool { return message != "" && f.Starts(message) })
	slices.Sort(ids)
	return ids
}

func where(list []*flow.Definition, holds func(*flow.Definition) bool) []string {
	var ids []string
	for _, d := range list {
		if holds(d) {
			ids = append(ids, d.ID())
		}
	}
	return ids
}

// routes returns the routes of the view that is published now. They are made once a view; whoever is late makes them again.
func (e *Engine) routes() *routes {
	v := e.flip.Observe()
	r := e.routed.Observe()
	if r.view != v {
		r = newRoutes(v)
		e.routed.Publish(r)
	}
	return r
}
