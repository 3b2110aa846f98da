package eval

import (
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/tla/config"
	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

// Arg is an argument of a built-in operator: a value, or an operator to be called.
type Arg = value.Value

// Builtin is an operator implemented in Go.
type Builtin struct {
	Name string
	// Arity is the number of arguments; Ops gives the arity of those that are operators.
	Arity int
	Ops   []int
	Eval  func(c *Ctx, args []Arg) value.Value
	// State marks an operator that reads or changes the state of the run, Fresh one that may answer
	// differently each time.
	State, Fresh bool
	// compile, when set, replaces the general call.
	compile func(cp *compiler, e env, at *place, args []syntax.Expr) node
}

// Native is a module implemented in Go, in TLA+ source text, or both.
type Native struct {
	Name    string
	Extends []string
	Ops     []*Builtin
	Source  string
	// Yields makes a module of the same name beside the specification win.
	Yields bool
}

// Program is a loaded specification.
type Program struct {
	U        *value.Universe
	Vars     []string
	Root     *syntax.Module
	Warnings []string

	natives map[string]*Native
	dirs    []string
	sources map[string]string
	parsed  map[string]*syntax.Module
	shared  map[string]*modEnv
	loading []string
	root    *modEnv
	modSubs map[string]map[string]string  // module → name → definition
	modVals map[string]map[string]*symbol // module → name → value
	assumes []assumption
	cp      *compiler
	kept    value.Interner
	regs    bool
	trace   bool
	draws   bool
	inGo    map[string]bool // modules whose text is ours, completed by operators in Go
}

// UsesRegisters reports whether compiled code calls TLCSet, whose registers all workers share.
func (p *Program) UsesRegisters() bool { return p.regs }

// Draws reports whether compiled code draws at random, so that no two runs need find the same states.
func (p *Program) Draws() bool { return p.draws }

// ReadsTrace reports whether the specification reads the behavior that leads to a state.
func (p *Program) ReadsTrace() bool { return p.trace }

// Digest identifies the text of all loaded modules.
func (p *Program) Digest() uint64 {
	h := fnv.New64a()
	for _, name := range slices.Sorted(maps.Keys(p.parsed)) {
		if m := p.parsed[name]; m != nil {
			h.Write([]byte(syntax.FormatModule(m)))
		}
	}
	return h.Sum64()
}

type assumption struct {
	x  syntax.Expr
	sc *scope
}

// modEnv is a module with its names resolved, for one set of substitutions.
type modEnv struct {
	name   string
	sc     *scope
	export map[string]*symbol
	nested map[string]*syntax.Module
	outer  *modEnv
}

// LoadError is a fault found while a module is loaded.
type LoadError struct {
	File string
	Pos  syntax.Pos
	Msg  string
}

// Error renders file:line:column: message.
func (e *LoadError) Error() string { return fmt.Sprintf("%s:%s: %s", e.File, e.Pos, e.Msg) }

// Options configure loading.
type Options struct {
	// Natives are the modules implemented in Go.
	Natives []*Native
	// Dirs are searched for modules after the folder of the specification.
	Dirs []string
	// Sources maps module names to text, which wins over files.
	Sources map[string]string
	// Words are spellings that appear before the module, as those of the configuration do.
	Words []string
}

// Load parses the module in the file named path and everything it needs.
func Load(path string, opt Options) (p *Program, err error) {
	p = &Program{
		U: value.NewUniverse(), natives: map[string]*Native{}, parsed: map[string]*syntax.Module{},
		inGo: map[string]bool{}, shared: map[string]*modEnv{}, sources: opt.Sources,
		modSubs: map[string]map[string]string{}, modVals: map[string]map[string]*symbol{},
	}
	p.cp = &compiler{p: p, cells: map[stateKey]int{}}
	for _, n := range opt.Natives {
		p.natives[n.Name] = n
	}
	for _, w := range opt.Words {
		p.U.See(w)
	}
	var m *syntax.Module
	if src, ok := opt.Sources[path]; ok {
		m, err = syntax.Parse(path, src)
	} else {
		p.dirs = append([]string{filepath.Dir(path)}, opt.Dirs...)
		m, err = syntax.ParseFile(path)
	}
	if err == nil {
		err = namedAs(m, strings.TrimSuffix(filepath.Base(path), ".tla"))
	}
	if err != nil {
		return nil, err
	}
	p.Root = m
	p.see(m)
	return p, nil
}

// namedAs refuses a module that is not called as what it was found under: its file, or a name that another module uses.
func namedAs(m *syntax.Module, name string) error {
	if m.Name == name {
		return nil
	}
	return &LoadError{m.File, m.P, fmt.Sprintf("expected a module called %s, as its file, found module %s", name, m.Name)}
}

func (p *Program) see(m *syntax.Module) {
	for _, s := range m.Strings {
		p.U.See(s)
	}
}

// Build resolves the names of the loaded module under a configuration.
func (p *Program) Build(cfg *config.Config) (err error) {
	defer catch(&err)
	if cfg != nil {
		p.moduleOverrides(cfg)
	}
	p.root = p.build(p.Root, nil, p.shared, nil)
	if cfg != nil {
		return p.applyConfig(cfg)
	}
	return nil
}

func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case *LoadError:
		*err = r
	case *Error:
		*err = r
	case *value.Error:
		*err = r
	case syntaxFault:
		*err = r.err
	default:
		panic(r)
	}
}

type syntaxFault struct{ err error }

func loadFail(file string, pos syntax.Pos, format string, args ...any) {
	panic(&LoadError{file, pos, fmt.Sprintf(format, args...)})
}

// find returns the parsed module called name, or nil with a native one.
func (p *Program) find(name string, from *modEnv, file string, pos syntax.Pos) (*syntax.Module, *Native) {
	for m := from; m != nil; m = m.outer {
		if n, ok := m.nested[name]; ok {
			return n, nil
		}
	}
	if m, ok := p.parsed[name]; ok {
		return m, nil
	}
	if p.Root != nil && name == p.Root.Name {
		return p.Root, nil
	}
	if src, ok := p.sources[name]; ok {
		m, err := syntax.Parse(name, src)
		return p.keep(name, m, err), nil
	}
	nat := p.natives[name]
	if nat == nil || nat.Yields {
		for _, d := range p.dirs {
			path := filepath.Join(d, name+".tla")
			if _, err := os.Stat(path); err == nil {
				m, err := syntax.ParseFile(path)
				return p.keep(name, m, err), nil
			}
		}
	}
	if nat == nil || nat.Yields {
		if m := p.beside(name); m != nil {
			return m, nil
		}
	}
	if nat == nil {
		loadFail(file, pos, "module %s not found, expected %s.tla beside the specification", name, name)
	}
	if nat.Source != "" {
		p.inGo[name] = true
		m, err := syntax.Parse("<"+name+">", nat.Source)
		return p.keep(name, m, err), nat
	}
	return nil, nat
}

// beside looks for a module in the file of the root module, after it.
func (p *Program) beside(name string) *syntax.Module {
	src, err := os.ReadFile(p.Root.File)
	if err != nil || len(src) > syntax.MaxFileBytes || !syntax.Holds(string(src), name) {
		return nil
	}
	m, err := syntax.ParseModule(p.Root.File, string(src), name)
	return p.keep(name, m, err)
}

// keep takes in a module that was parsed.
func (p *Program) keep(name string, m *syntax.Module, err error) *syntax.Module {
	if err == nil {
		err = namedAs(m, name)
	}
	if err != nil {
		panic(syntaxFault{err})
	}
	p.see(m)
	p.parsed[name] = m
	return m
}

// subst maps the constants and variables of an instantiated module; nil for none.
type subst func(name string, pos syntax.Pos, file string) *symbol

// get builds the module called name, once for each cache.
func (p *Program) get(name string, sub subst, cache map[string]*modEnv, from *modEnv, pos syntax.Pos) *modEnv {
	if m, ok := cache[name]; ok {
		return m
	}
	for _, l := range p.loading {
		if l == name {
			loadFail(from.sc.file, pos, "module %s extends or instantiates itself: %s", name, strings.Join(append(p.loading, name), " → "))
		}
	}
	if len(p.loading) > 200 {
		loadFail(from.sc.file, pos, "modules are nested deeper than 200")
	}
	m, nat := p.find(name, from, from.sc.file, pos)
	p.loading = append(p.loading, name)
	var out *modEnv
	if m == nil {
		out = p.buildNative(nat, cache, from)
	} else {
		out = p.build(m, sub, cache, from)
		if p.inGo[name] {
			p.addOps(out, p.natives[name])
		}
	}
	p.loading = p.loading[:len(p.loading)-1]
	cache[name] = out
	return out
}

func (p *Program) buildNative(n *Native, cache map[string]*modEnv, from *modEnv) *modEnv {
	if m, ok := p.shared[n.Name]; ok {
		return m
	}
	out := &modEnv{name: n.Name, export: map[string]*symbol{}}
	out.sc = &scope{m: map[string]*symbol{}, file: n.Name, mod: out}
	for _, x := range n.Extends {
		for k, s := range p.get(x, nil, p.shared, from, syntax.Pos{}).export {
			out.export[k] = s
		}
	}
	p.addOps(out, n)
	p.applyModule(out)
	p.shared[n.Name] = out
	return out
}

func (p *Program) addOps(m *modEnv, n *Native) {
	for _, b := range n.Ops {
		s := &symbol{kind: symBuiltin, name: b.Name, builtin: b, arity: b.Arity}
		m.export[b.Name] = s
		m.sc.m[b.Name] = s
	}
}
