package check

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/millrace-dev/millrace/tla/config"
	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

// Model is a specification with its configuration, compiled.
type Model struct {
	Prog *eval.Program
	Cfg  *config.Config

	init, next  *eval.Action
	invariants  []named
	initProps   []named
	stepProps   []named
	live        []eval.Property
	fair        []*eval.Formula
	constraints []named
	actionCons  []named
	perms       []*permuter
	view        *eval.Expr
	alias       *eval.Expr
	post        []named
	nextTerm    eval.Term
}

type named struct {
	name string
	term eval.Term
	x    *eval.Expr // of all but predicates of a state
	// parts are the conjuncts of a predicate of a state: after a step only those are evaluated that read what it changed.
	parts eval.Parts
}

// ErrNoBehavior says that a configuration does not say where behaviors begin and how they go on.
var ErrNoBehavior = errors.New("there is no state or no step to check, give SPECIFICATION, or INIT and NEXT")

// Compile prepares a loaded program for checking under cfg; count asks for coverage.
func Compile(p *eval.Program, cfg *config.Config, count bool) (*Model, error) {
	if err := p.Build(cfg); err != nil {
		return nil, err
	}
	m := &Model{Prog: p, Cfg: cfg}
	if err := m.behavior(count); err != nil {
		return nil, err
	}
	for _, g := range []struct {
		names []string
		to    *[]named
	}{
		{cfg.Constraints, &m.constraints}, {cfg.ActionConstraints, &m.actionCons},
	} {
		for _, n := range g.names {
			x, err := m.compile(n)
			if err != nil {
				return nil, err
			}
			*g.to = append(*g.to, x)
		}
	}
	for _, n := range cfg.Invariants {
		t, err := p.Lookup(n)
		if err == nil {
			err = m.invariant(n, t)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, n := range cfg.Properties {
		if err := m.property(n); err != nil {
			return nil, err
		}
	}
	return m, m.extras()
}

// invariant adds a predicate that must hold in every state.
func (m *Model) invariant(name string, t eval.Term) error {
	parts, err := m.Prog.CompileParts(t)
	if err != nil {
		return fmt.Errorf("compile %s: %w", name, err)
	}
	m.invariants = append(m.invariants, named{name: name, term: t, parts: parts})
	return nil
}

func (m *Model) compile(name string) (named, error) {
	t, err := m.Prog.Lookup(name)
	if err != nil {
		return named{}, err
	}
	x, err := m.Prog.Compile(t)
	if err != nil {
		return named{}, fmt.Errorf("compile %s: %w", name, err)
	}
	return named{name: name, x: x, term: t}, nil
}

func (m *Model) extras() error {
	one := func(name string, to **eval.Expr) error {
		if name == "" {
			return nil
		}
		x, err := m.compile(name)
		*to = x.x
		return err
	}
	if err := one(m.Cfg.View, &m.view); err != nil {
		return err
	}
	if err := one(m.Cfg.Alias, &m.alias); err != nil {
		return err
	}
	if m.Cfg.Postcondition != "" {
		x, err := m.compile(m.Cfg.Postcondition)
		if err != nil {
			return err
		}
		m.post = append(m.post, x)
	}
	for _, n := range m.Cfg.Symmetry {
		x, err := m.compile(n)
		if err != nil {
			return err
		}
		v, err := x.x.Eval(eval.NewCtx(&eval.Run{Prog: m.Prog}, len(m.Prog.Vars)))
		if err != nil {
			return fmt.Errorf("evaluate symmetry %s: %w", n, err)
		}
		perms, err := permuters(v)
		if err != nil {
			return fmt.Errorf("evaluate symmetry %s: %w", n, err)
		}
		m.perms = append(m.perms, perms...)
	}
	return nil
}

// behavior compiles the initial predicate and the next-state relation.
func (m *Model) behavior(count bool) error {
	cfg, p := m.Cfg, m.Prog
	var inits, nexts []eval.Term
	if cfg.Spec != "" {
		t, err := p.Lookup(cfg.Spec)
		if err != nil {
			return err
		}
		s, err := p.SplitSpec(t)
		if err != nil {
			return fmt.Errorf("take apart %s: %w", cfg.Spec, err)
		}
		inits, nexts, m.fair = s.Init, s.Next, s.Fair
	}
	for _, g := range []struct {
		name string
		to   *[]eval.Term
	}{{cfg.Init, &inits}, {cfg.Next, &nexts}} {
		if g.name == "" {
			continue
		}
		t, err := p.Lookup(g.name)
		if err != nil {
			return err
		}
		*g.to = append(*g.to, t)
	}
	if err := wholeBehavior(cfg); err != nil {
		return fmt.Errorf("%s: %w", cfg.File, err)
	}
	if len(inits) == 0 && len(nexts) == 0 {
		if len(p.Vars) == 0 || cfg.Spec == "" {
			return nil
		}
		return fmt.Errorf("%s: %s describes no behavior: %w", cfg.File, cfg.Spec, ErrNoBehavior)
	}
	if len(nexts) > 1 {
		return fmt.Errorf("%s: more than one next-state relation", cfg.File)
	}
	var err error
	if m.init, err = p.CompileInit(eval.Conjoin(inits)); err != nil {
		return fmt.Errorf("compile the initial predicate: %w", err)
	}
	if len(nexts) == 0 {
		return nil
	}
	m.nextTerm = nexts[0]
	if m.next, err = p.CompileNext(nexts[0], count); err != nil {
		return fmt.Errorf("compile the next-state relation: %w", err)
	}
	return nil
}

// wholeBehavior refuses a configuration without SPECIFICATION that describes behaviors by half, or not at all though it needs them. With
// neither, and nothing to hold in any state, only the assumptions are checked.
func wholeBehavior(cfg *config.Config) error {
	switch {
	case cfg.Spec != "":
		return nil
	case cfg.Init != "" && cfg.Next == "":
		return fmt.Errorf("INIT without NEXT: %w", ErrNoBehavior)
	case cfg.Next != "" && cfg.Init == "":
		return fmt.Errorf("NEXT without INIT: %w", ErrNoBehavior)
	case cfg.Init == "" && len(cfg.Invariants)+len(cfg.Properties) > 0:
		return fmt.Errorf("INVARIANT or PROPERTY without SPECIFICATION: %w", ErrNoBehavior)
	default:
		return nil
	}
}

func (m *Model) property(name string) error {
	t, err := m.Prog.Lookup(name)
	if err != nil {
		return err
	}
	props, err := m.Prog.SplitProperty(name, t)
	if err != nil {
		return fmt.Errorf("take apart property %s: %w", name, err)
	}
	for _, q := range props {
		n := named{name: name, x: q.Expr, term: q.Term}
		switch q.Kind {
		case eval.PropInit:
			n.parts = eval.Parts{q.Expr}
			m.initProps = append(m.initProps, n)
		case eval.PropState:
			if err := m.invariant(name, q.Term); err != nil {
				return err
			}
		case eval.PropAction:
			m.stepProps = append(m.stepProps, n)
		case eval.PropLive:
			m.live = append(m.live, q)
		}
	}
	return nil
}

// search is the state of one run.
type search struct {
	m       *Model
	opt     Options
	run     *eval.Run
	main    *eval.Ctx
	table   *table
	rows    *rows
	graph   *graph
	start   time.Time
	level   int
	queue   int
	mu      sync.Mutex
	res     *Result
	found   *finding
	stopped bool
	exit    bool
	rng     *rng
	spill   *spill
	// pause asks the workers to stop for a checkpoint; nextSave is when the next one is due; partial
	// says that the expansion of some state was cut short, so that no checkpoint can be taken.
	pause    atomic.Bool
	nextSave time.Time
	partial  bool
	repeats  bool // what is done with a successor costs more than knowing that it came before
}

// finding is a violation that ends the run.
type finding struct {
	verdict  Verdict
	name     string
	term     *eval.Term
	err      error
	from, id uint32 // the state and, when it is not in the table, its predecessor
	last     []value.Value
}

const noState = ^uint32(0)
