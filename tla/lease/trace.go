// Package lease is the binding of the specification Lease to the role lease of L4: which event of which Go value is which action of
// Lease.tla, and how the role's row, visible and durable, is its variables.
package lease

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/bind"
	"github.com/millrace-dev/millrace/tla/value"
)

//go:embed *.tla *.cfg
var files embed.FS

// The actions of Lease that executions report: replicas by their lease, landings and durability by the store. Pass is the binding's
// own: time that went by since the event before.
var (
	replicas   = []string{"Ask", "Believe", "Unsure", "Refused", "Lose", "Look", "Free", "End"}
	landings   = []string{"LandTake", "LandRenew", "LandFree"}
	durability = []string{"Sync", "Crash"}
)

// TTL is that of the leases in a traced execution.
const TTL = 10 * time.Second

var protocol = bind.New(trace.Options{
	Files: files, Module: "TraceLease", Config: "TraceLease.cfg", Name: "Lease", Prefix: "Trace",
	Actions: slices.Concat(replicas, landings, durability, []string{"Make", "Pass"}),
})

// Load compiles Lease for traces; replace maps names of modules to other texts, those of a mutant.
func Load(replace map[string]string) (*trace.Spec, error) { return protocol.Load(replace) }

// Attach checks the leases of w's execution against Lease from now on. They want one role of engine, whose row nobody has made yet, and
// there are at most three, with a TTL of TTL.
func Attach(w *sim.World, engine *memory.Engine) { protocol.Attach(w, starts(w, engine)) }

// AttachTo is Attach to a specification that was loaded before.
func AttachTo(w *sim.World, spec *trace.Spec, engine *memory.Engine) {
	bind.To(w, spec, starts(w, engine))
}

func starts(w *sim.World, engine *memory.Engine) func(*trace.Spec) (bind.Handler, error) {
	return func(spec *trace.Spec) (bind.Handler, error) {
		b := newBinding(spec, engine, w.Scheduler().Now)
		shown, err := b.shown()
		if err != nil {
			return nil, err
		}
		b.run, err = bind.BeginAt(spec, b.now(), shown, b.shown)
		return b.event, err
	}
}

// binding maps one execution.
type binding struct {
	spec      *trace.Spec
	run       *bind.Run
	engine    *memory.Engine
	now       func() time.Time
	names     bind.Numbers
	row, kept int
	heads     trace.Shape
	claims    trace.Shape
	nobody    value.Value
}

func newBinding(spec *trace.Spec, engine *memory.Engine, now func() time.Time) *binding {
	return &binding{
		spec: spec, engine: engine, now: now, names: bind.Numbers{}, row: spec.Index("row"), kept: spec.Index("kept"),
		heads: spec.Shape("there", "owner", "epoch"), claims: spec.Shape("owner", "epoch"), nobody: spec.Model("Nobody"),
	}
}

// event takes one event, after the time that went by before it. Those of other specifications are not its business.
func (b *binding) event(owner any, action string, args []any) error {
	now := b.now()
	vals, mine := b.values(owner, &action, args, now)
	if !mine {
		return nil
	}
	return b.run.StepAt(now, action, vals)
}

// values returns the arguments of an event of Lease. The store's commit of the step that makes the row is its Make.
func (b *binding) values(owner any, action *string, args []any, now time.Time) (vals []value.Value, mine bool) {
	if l, ok := owner.(*claim.Lease); ok {
		rest := value.MakeInt(int64(l.PeekRest(now)))
		return []value.Value{b.owner(args[0].(store.Owner)), b.claim(args[1].(store.Claim)), rest}, true
	}
	switch {
	case owner != any(b.engine):
		return nil, false
	case *action == "LandCommit":
		*action = "Make"
		return nil, true
	case slices.Contains(landings, *action):
		return []value.Value{b.claim(args[0].(store.Claim))}, true
	}
	return nil, slices.Contains(durability, *action)
}

func (b *binding) owner(o store.Owner) value.Value {
	if o.Nobody() {
		return b.nobody
	}
	return b.spec.Str(strconv.Itoa(b.names.Of(o)))
}

func (b *binding) claim(c store.Claim) value.Value {
	return b.claims.Record(b.owner(c.Owner), value.MakeInt(int64(c.Epoch)))
}

// shown maps the role's row as the store shows it, and as the worst crash would leave it.
func (b *binding) shown() (trace.State, error) {
	s := make(trace.State, len(b.spec.Vars))
	var err error
	if s[b.row], err = b.head(b.engine.Peek); err != nil {
		return nil, err
	}
	s[b.kept], err = b.head(b.engine.PeekDurable)
	return s, err
}

func (b *binding) head(peek func(func(step.View) error) error) (value.Value, error) {
	var role store.Head
	err := peek(func(v step.View) error {
		return step.EachHead(v, func(h store.Head, _ []byte) error {
			if role.Instance != "" {
				return fmt.Errorf("lease: %q and %q: Lease.tla has one role", role.Instance, h.Instance)
			}
			role = h
			return nil
		})
	})
	return b.heads.Record(value.Bool(role.Status == store.Running), b.owner(role.Owner), value.MakeInt(int64(role.Epoch))), err
}
