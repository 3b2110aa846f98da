package eval

import (
	"errors"
	"strconv"

	"github.com/millrace-dev/millrace/tla/config"
	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

// build resolves a module. With sub it is an instance, whose constants and variables sub provides.
func (p *Program) build(m *syntax.Module, sub subst, cache map[string]*modEnv, from *modEnv) *modEnv {
	out := &modEnv{name: m.Name, export: map[string]*symbol{}, nested: map[string]*syntax.Module{}, outer: from}
	out.sc = &scope{m: map[string]*symbol{}, file: m.File, mod: out}
	if from != nil {
		if _, inner := from.nested[m.Name]; inner {
			out.sc.up = from.sc
		}
	}
	for _, x := range m.Extends {
		for k, s := range p.get(x, sub, cache, out, m.P).export {
			out.export[k] = s
			out.sc.m[k] = s
		}
	}
	for _, u := range m.Units {
		p.unit(out, u, sub, cache)
	}
	p.applyModule(out)
	return out
}

func (m *modEnv) add(s *symbol) {
	m.sc.m[s.name] = s
	if !s.local {
		m.export[s.name] = s
	}
}

func (p *Program) unit(out *modEnv, u syntax.Unit, sub subst, cache map[string]*modEnv) {
	file := out.sc.file
	at := &place{file, u.Pos()}
	switch u := u.(type) {
	case *syntax.Constants:
		for _, c := range u.Params {
			if sub != nil {
				p.addAs(out, c.Name, sub(c.Name, u.P, file))
				continue
			}
			out.add(&symbol{kind: symConst, name: c.Name, arity: c.Arity, at: at, sc: out.sc})
		}
	case *syntax.Variables:
		for _, name := range u.Names {
			if sub != nil {
				p.addAs(out, name, sub(name, u.P, file))
				continue
			}
			p.variable(out, name, at)
		}
	case *syntax.Recursive:
		for _, r := range u.Params {
			out.add(&symbol{kind: symDef, name: r.Name, recursive: true, at: at, sc: out.sc, arity: r.Arity})
		}
	case *syntax.Def:
		define(out.sc, u, u.Local, out)
	case *syntax.Nested:
		out.nested[u.M.Name] = u.M
	case *syntax.Text:
		if u.Name != "" && u.X != nil {
			define(out.sc, &syntax.Def{Decl: u.Decl, Name: u.Name, Body: u.X}, false, out)
		}
	case *syntax.Assume:
		if u.Name != "" {
			define(out.sc, &syntax.Def{Decl: u.Decl, Name: u.Name, Body: u.X}, false, out)
		}
		if sub == nil {
			p.assumes = append(p.assumes, assumption{u.X, out.sc})
		}
	case *syntax.Instance:
		if u.Name != "" {
			out.add(&symbol{kind: symInst, name: u.Name, inst: u, sc: out.sc, local: u.Local, arity: len(u.Params), at: at})
			return
		}
		for k, s := range p.instantiate(u, out.sc).export {
			if old, ok := out.sc.m[k]; ok && old.kind != symBuiltin {
				continue
			}
			out.sc.m[k] = s
			if !u.Local {
				out.export[k] = s
			}
		}
	}
}

func (p *Program) addAs(out *modEnv, name string, s *symbol) {
	out.sc.m[name] = s
	out.export[name] = s
}

func (p *Program) variable(out *modEnv, name string, at *place) {
	if len(p.Vars) >= 10_000 {
		loadFail(at.file, at.pos, "more than 10000 variables")
	}
	s := &symbol{kind: symVar, name: name, idx: len(p.Vars), at: at}
	p.Vars = append(p.Vars, name)
	out.add(s)
}

// define adds a definition to a scope; a preceding RECURSIVE declaration is completed in place.
func define(sc *scope, d *syntax.Def, local bool, m *modEnv) *symbol {
	s := sc.m[d.Name]
	if s == nil || !s.recursive || s.def != nil {
		s = &symbol{kind: symDef, name: d.Name}
	}
	s.def, s.sc, s.local, s.arity = d, sc, local, len(d.Params)
	s.at = &place{sc.file, d.P}
	sc.m[d.Name] = s
	if m != nil && !local {
		m.export[d.Name] = s
	}
	return s
}

// instantiate builds the module of an INSTANCE whose parameters, if any, are bound in sc.
func (p *Program) instantiate(in *syntax.Instance, sc *scope) *modEnv {
	with := map[string]syntax.Expr{}
	for _, s := range in.Substs {
		with[s.Name] = s.X
	}
	sub := func(name string, pos syntax.Pos, file string) *symbol {
		if x, ok := with[name]; ok {
			return &symbol{kind: symByName, name: name, expr: x, sc: sc, at: &place{sc.file, in.P}}
		}
		s := sc.lookup(name)
		if s == nil {
			loadFail(sc.file, in.P, "INSTANCE %s does not say what %s stands for, and no %s is declared here", in.Module, name, name)
		}
		return s
	}
	return p.get(in.Module, sub, map[string]*modEnv{}, sc.mod, in.P)
}

// moduleOverrides notes Name <- [Module] Def and Name = [Module] value before modules are built.
func (p *Program) moduleOverrides(cfg *config.Config) {
	for _, k := range cfg.Constants {
		switch {
		case k.Module == "":
		case k.Value != nil:
			if p.modVals[k.Module] == nil {
				p.modVals[k.Module] = map[string]*symbol{}
			}
			v := p.term(cfg, *k.Value)
			p.modVals[k.Module][k.Name] = &symbol{kind: symConst, name: k.Name, val: v}
		default:
			if p.modSubs[k.Module] == nil {
				p.modSubs[k.Module] = map[string]string{}
			}
			p.modSubs[k.Module][k.Name] = k.Def
		}
	}
}

// applyModule replaces definitions of a module as the configuration says. The replacement is looked
// up in the root module when it is used, because that one is still being built.
func (p *Program) applyModule(m *modEnv) {
	for name, s := range p.modVals[m.name] {
		m.sc.m[name], m.export[name] = s, s
	}
	for name, def := range p.modSubs[m.name] {
		s := &symbol{kind: symByName, name: name, expr: &syntax.Ref{Parts: []syntax.Part{{Name: def}}}, sc: &scope{m: map[string]*symbol{}, file: m.sc.file, mod: m}}
		p.late(s)
		m.sc.m[name], m.export[name] = s, s
	}
}

// late gives a replacement its scope, the root module, as soon as that is built.
func (p *Program) late(s *symbol) {
	if p.root != nil {
		s.sc.up = p.root.sc
		return
	}
	p.cp.late = append(p.cp.late, s)
}

func (p *Program) term(cfg *config.Config, t config.Term) value.Value {
	switch t.Kind {
	case config.Number:
		n, err := strconv.ParseInt(t.Text, 10, 64)
		if err != nil {
			loadFail(cfg.File, syntax.Pos{Line: t.Line, Col: t.Col}, "number %s is too large", t.Text)
		}
		return value.MakeInt(n)
	case config.String:
		return p.U.Str(t.Text)
	case config.Boolean:
		return value.Bool(t.Text == "TRUE")
	case config.Model:
		return p.U.Model(t.Text)
	default:
	}
	elems := make([]value.Value, len(t.Elems))
	for i, e := range t.Elems {
		elems[i] = p.term(cfg, e)
	}
	var v value.Value = value.NewTuple(elems)
	if t.Kind == config.Set {
		v = value.NewSet(elems)
	}
	v.Hash()
	return v
}

// applyConfig assigns constants and replaces definitions of the root module. The error joins what the configuration names and the
// module does not define.
func (p *Program) applyConfig(cfg *config.Config) error {
	var faults []error
	for _, s := range p.cp.late {
		s.sc.up = p.root.sc
	}
	for _, k := range cfg.Constants {
		if k.Module != "" {
			continue
		}
		pos := syntax.Pos{Line: k.Line, Col: k.Col}
		s := p.root.sc.m[k.Name]
		if s == nil {
			what := " is assigned but not declared"
			if k.Value == nil {
				what = " is to be replaced by " + k.Def + " but not defined"
			}
			p.Warnings = append(p.Warnings, cfg.File+":"+pos.String()+": "+k.Name+what)
			continue
		}
		if k.Value != nil {
			v := p.term(cfg, *k.Value)
			if s.kind == symConst && s.val == nil {
				s.val = v
			} else {
				s.resolve = &symbol{kind: symConst, name: k.Name, val: v}
			}
			continue
		}
		target := p.root.sc.m[k.Def]
		if target == nil {
			faults = append(faults, cfg.Fault(k.DefLine, k.DefCol, "%s is to be replaced by %s, which is not defined", k.Name, k.Def))
			continue
		}
		if target != s {
			s.resolve = target
		}
	}
	for _, n := range cfg.Names {
		if p.root.sc.lookup(n.Text) == nil {
			faults = append(faults, cfg.Fault(n.Line, n.Col, "'%s' is not defined in module %s", n.Text, p.Root.Name))
		}
	}
	return errors.Join(faults...)
}
