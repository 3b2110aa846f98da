package trace

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/millrace-dev/millrace/tla/config"
	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/modules"
	"github.com/millrace-dev/millrace/tla/value"
)

// Options name a specification and the actions that events may name.
type Options struct {
	// Files holds the modules and the configuration; bindings embed them.
	Files fs.FS
	// Module is the name of the root module, Config that of the configuration file.
	Module, Config string
	// Name is what verdicts call the specification; by default that of the module.
	Name string
	// Actions are the names of events; with Prefix before them they are operators of the root module. Silent, when set, is one that is taken between events any number of
	// times: what the program does without telling.
	Actions []string
	Prefix  string
	Silent  string
	// Replace maps names of modules to texts that win over Files, as those of a mutant do.
	Replace map[string]string
}

// Spec is a compiled specification. Executions on all cores share it; each has a Run of its own.
type Spec struct {
	Name string
	// Vars are the names of the variables, in the order of a State.
	Vars []string

	prog       *eval.Program
	init       *eval.Action
	steps      map[string]*eval.Step
	silent     *eval.Step
	invariants []invariant
	taken      map[string]*atomic.Int64
	explaining sync.Mutex // compiling for an explanation is no concurrent business
}

type invariant struct {
	name  string
	parts eval.Parts
}

// State has a value for each variable, or nil for one that is not shown.
type State []value.Value

// Load compiles a specification.
func Load(o Options) (*Spec, error) {
	sources, text, err := o.read()
	if err != nil {
		return nil, err
	}
	cfg, err := config.Parse(o.Config, text)
	if err != nil {
		return nil, err
	}
	p, err := eval.Load(o.Module, eval.Options{Natives: modules.All(), Sources: sources, Words: cfg.Words})
	if err != nil {
		return nil, err
	}
	if err := p.Build(cfg); err != nil {
		return nil, err
	}
	if o.Name == "" {
		o.Name = o.Module
	}
	s := &Spec{Name: o.Name, Vars: p.Vars, prog: p, steps: map[string]*eval.Step{}, taken: map[string]*atomic.Int64{}}
	return s, s.compile(cfg, o)
}

// read returns the texts of all modules and of the configuration.
func (o Options) read() (sources map[string]string, cfg string, err error) {
	files, err := fs.Glob(o.Files, "*.tla")
	if err != nil {
		return nil, "", fmt.Errorf("load %s: %w", o.Module, err)
	}
	sources = map[string]string{}
	for _, f := range files {
		text, err := fs.ReadFile(o.Files, f)
		if err != nil {
			return nil, "", fmt.Errorf("load %s: %w", o.Module, err)
		}
		sources[strings.TrimSuffix(f, ".tla")] = string(text)
	}
	for name, text := range o.Replace {
		sources[name] = text
	}
	text, err := fs.ReadFile(o.Files, o.Config)
	if err != nil {
		return nil, "", fmt.Errorf("load %s: %w", o.Module, err)
	}
	return sources, string(text), nil
}

func (s *Spec) compile(cfg *config.Config, o Options) error {
	init, err := s.prog.Lookup(cfg.Init)
	if err != nil {
		return fmt.Errorf("load %s: a configuration for traces names INIT: %w", o.Module, err)
	}
	if s.init, err = s.prog.CompileInit(init); err != nil {
		return err
	}
	for _, name := range o.Actions {
		if s.steps[name], err = s.prog.CompileStep(o.Prefix + name); err != nil {
			return err
		}
		s.taken[name] = &atomic.Int64{}
	}
	if o.Silent != "" {
		if s.silent, err = s.prog.CompileStep(o.Silent); err != nil {
			return err
		}
	}
	for _, name := range cfg.Invariants {
		t, err := s.prog.Lookup(name)
		if err != nil {
			return err
		}
		parts, err := s.prog.CompileParts(t)
		if err != nil {
			return err
		}
		s.invariants = append(s.invariants, invariant{name, parts})
	}
	return nil
}

// Index returns the position of a variable in a State. It panics on a name that is none: a binding is wrong then.
func (s *Spec) Index(variable string) int {
	i := slices.Index(s.Vars, variable)
	if i < 0 {
		panic(fmt.Sprintf("trace: %s has no variable %q", s.Name, variable))
	}
	return i
}

// Taken returns how often each action was an event of some execution, those never taken included.
func (s *Spec) Taken() map[string]int64 {
	counts := map[string]int64{}
	for name, n := range s.taken {
		counts[s.Name+"."+name] = n.Load()
	}
	return counts
}

// Str returns a string of the specification, Model one of the model values of its configuration.
func (s *Spec) Str(text string) value.Value { return s.prog.U.Str(text) }

// Model returns the model value called name.
func (s *Spec) Model(name string) value.Value { return s.prog.U.Model(name) }

// Shape makes records with the same fields.
type Shape struct {
	domain *value.Domain
	from   []int // position in the domain → argument
}

// Shape returns the shape of records with the given fields.
func (s *Spec) Shape(fields ...string) Shape {
	atoms := make([]*value.Atom, len(fields))
	marks := make([]value.Value, len(fields))
	for i, f := range fields {
		atoms[i], marks[i] = s.prog.U.Str(f), value.MakeInt(int64(i))
	}
	r := value.NewRecord(atoms, marks)
	out := Shape{domain: r.Dom}
	for _, v := range r.Vals {
		out.from = append(out.from, int(v.(value.Int)))
	}
	return out
}

// Record returns the record whose fields have the given values, in the order in which Shape named the fields.
func (x Shape) Record(vals ...value.Value) value.Value {
	sorted := make([]value.Value, len(vals))
	for i, from := range x.from {
		sorted[i] = vals[from]
	}
	return value.NewFcn(x.domain, sorted)
}

// Domain returns the domain of functions on the given keys.
func Domain(keys ...value.Value) *value.Domain { return value.NewDomain(value.NewSet(keys).E) }

// Function returns the function with the given values; keys are values that compare as Go values, as strings do.
func Function(vals map[value.Value]value.Value) value.Value {
	var keys []value.Value
	for k := range vals { //order:a set sorts them
		keys = append(keys, k)
	}
	d := Domain(keys...)
	sorted := make([]value.Value, len(vals))
	for i, k := range d.Keys {
		sorted[i] = vals[k]
	}
	return value.NewFcn(d, sorted)
}

// Constant evaluates an expression without variables over the names of the specification.
func (s *Spec) Constant(text string) (value.Value, error) {
	s.explaining.Lock()
	defer s.explaining.Unlock()
	t, err := s.prog.Parse(text)
	if err != nil {
		return nil, err
	}
	x, err := s.prog.Compile(t)
	if err != nil {
		return nil, err
	}
	return x.Eval(eval.NewCtx(&eval.Run{Prog: s.prog}, len(s.Vars)))
}
