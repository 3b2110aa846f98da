// Package bind attaches the bindings of specifications to simulated executions. A binding, the package beside a
// specification, says which event is which action and how an owner's words are variables; loading the specification once,
// and asking whether this execution is one of those that are checked, is the same for all of them.
package bind

import (
	"strings"
	"sync"

	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/tla/trace"
)

// Handler takes one event of an execution.
type Handler func(owner any, action string, args []any) error

// Protocol is a specification that executions are checked against.
type Protocol struct {
	options trace.Options
	once    func() (*trace.Spec, error)
}

// New returns the protocol of o. It is loaded when it is first needed.
func New(o trace.Options) *Protocol {
	p := &Protocol{options: o}
	p.once = sync.OnceValues(func() (*trace.Spec, error) { return p.Load(nil) })
	return p
}

// Spec returns the specification as it is written, loaded once.
func (p *Protocol) Spec() (*trace.Spec, error) { return p.once() }

// Sequences loads the specification for a plan that covers its graph: as the configuration X-sequences.cfg beside X.cfg says, with the
// actions of the given prefix.
func (p *Protocol) Sequences(prefix string) (*trace.Spec, error) {
	o := p.options
	o.Config, o.Prefix = strings.TrimSuffix(o.Config, ".cfg")+"-sequences.cfg", prefix
	return trace.Load(o)
}

// Load compiles the specification; replace maps names of modules to other texts, those of a mutant.
func (p *Protocol) Load(replace map[string]string) (*trace.Spec, error) {
	o := p.options
	o.Replace = replace
	return trace.Load(o)
}

// Attach checks the events of w's execution from now on, if it is one of those that are checked; start begins with what is
// there now.
func (p *Protocol) Attach(w *sim.World, start func(*trace.Spec) (Handler, error)) {
	if !w.Traced() {
		return
	}
	p.AttachAlways(w, start)
}

// AttachAlways is Attach in every execution.
func (p *Protocol) AttachAlways(w *sim.World, start func(*trace.Spec) (Handler, error)) {
	spec, err := p.Spec()
	w.NoError(err)
	To(w, spec, start)
}

// To is Attach to a specification that was loaded before, in every execution.
func To(w *sim.World, spec *trace.Spec, start func(*trace.Spec) (Handler, error)) {
	handle, err := start(spec)
	w.NoError(err)
	w.OnEvent(handle)
	w.Covers(spec, spec.Taken)
}

// Numbers gives things the numbers 1, 2, … in the order in which they first turn up.
type Numbers map[any]int

// Of returns the number of x.
func (n Numbers) Of(x any) int {
	if n[x] == 0 {
		n[x] = len(n) + 1
	}
	return n[x]
}
