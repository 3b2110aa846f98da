package eval

import (
	"math"

	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

type symKind int

const (
	symVar     symKind = iota // a state variable
	symConst                  // a declared constant; val is nil until the configuration assigns it
	symDef                    // an operator or function definition
	symByName                 // an expression or operator to be substituted
	symSlot                   // a slot of a frame, with init when it is evaluated on demand
	symNode                   // an already compiled argument
	symInst                   // a named instance
	symBuiltin                // an operator implemented in Go
	symOpSlot                 // a slot that holds an operator passed at run time
)

type symbol struct {
	kind  symKind
	name  string
	local bool
	at    *place

	idx   int // variable
	arity int
	val   value.Value

	def       *syntax.Def
	recursive bool
	sc        *scope // scope of def, expr or instance
	lambda    *syntax.Lambda
	expr      syntax.Expr

	fc      *fctx
	slot    int
	id      int
	init    *node
	primed  bool
	world   int
	busy    bool
	busyAct int     // how often its body is being expanded as an action
	self    *symbol // slot of a recursive function while its body is compiled
	resolve *symbol // replacement from the configuration

	inst    *syntax.Instance
	mod     *modEnv
	builtin *Builtin

	lvlHint   int  // level of the body of a recursive operator
	tried     bool // whether the definition was compiled as a constant
	pseudoOff bool // its slot inside ENABLED is being computed
	cell      *node
}

const noFree = math.MaxInt

type scope struct {
	up   *scope
	m    map[string]*symbol
	file string
	mod  *modEnv
}

func (s *scope) child() *scope {
	return &scope{up: s, m: map[string]*symbol{}, file: s.file, mod: s.mod}
}

func (s *scope) lookup(name string) *symbol {
	for ; s != nil; s = s.up {
		if sym, ok := s.m[name]; ok {
			for i := 0; sym.resolve != nil && i < 10; i++ {
				sym = sym.resolve
			}
			return sym
		}
	}
	return nil
}

// fctx is the compile-time side of a Frame.
type fctx struct {
	root  int // of a frame without parent: which compiled root it belongs to
	up    *fctx
	n     int
	def   *symbol
	key   callKey
	trial bool
	mark  int // id that marks what depends on a body still being compiled
	calls map[callKey]*callee

	actKey    actKey // of the body of a recursive action
	actCallee *actCallee
}

type callKey struct {
	sym    *symbol
	primed bool
	world  int
}

type callee struct {
	fc   *fctx
	node node
}

// mode says which variables an action assigns.
type mode int

const (
	assignNext mode = iota
	assignCur
)

type env struct {
	sc     *scope
	fc     *fctx
	primed bool
	world  int
	mode   mode
	depth  int
	enab   bool // inside ENABLED
	inner  bool // inside a quantifier of an action
	top    bool // still on the way from the root of an action: name the action
}

func (e env) with(sc *scope) env {
	e.sc = sc
	return e
}

func (e env) place(pos syntax.Pos) *place { return &place{e.sc.file, pos} }

type (
	// Fn is a compiled expression.
	Fn func(c *Ctx) value.Value
	// Pred is a compiled predicate.
	Pred func(c *Ctx) bool
	// lateFn evaluates an expression whose value need not be made at once; it may return p, filled.
	lateFn func(c *Ctx, p *value.Pending) value.Value
	// Act runs the rest of an action; it returns true to stop the enumeration.
	Act func(c *Ctx) bool
)

// node is a compiled expression with what is known about it.
type node struct {
	fn      Fn
	pred    Pred
	lvl     int
	free    int  // smallest id of a slot it reads, or noFree
	last    int  // largest id of a slot it reads
	slot    Fn   // reads the only slot it reads; meaningful when free == last
	impure  bool // must not be evaluated only once
	trivial bool // cheap enough to evaluate at each use
	konst   value.Value
	vars    Vars // the variables of the state whose values it reads
	late    lateFn
}

// Vars is a set of variables; the last element stands for all variables from there on.
type Vars uint64

// AllVars is the set of all variables.
const AllVars = ^Vars(0)

// VarSet returns the set of the variable with the index i.
func VarSet(i int) Vars { return 1 << min(i, 63) }

// Has reports whether the variable with the index i is in the set.
func (v Vars) Has(i int) bool { return v&VarSet(i) != 0 }

func (n node) closed() bool { return n.free == noFree }

// under merges what is known of a part into the whole.
func (n *node) under(parts ...node) {
	for _, p := range parts {
		n.lvl = max(n.lvl, p.lvl)
		n.free = min(n.free, p.free)
		n.last = max(n.last, p.last)
		if p.slot != nil {
			n.slot = p.slot
		}
		n.impure = n.impure || p.impure
		n.vars |= p.vars
	}
}

// reads adds a slot that the code of n reads in ways that only n knows.
func (n *node) reads(id int) {
	n.free, n.last = min(n.free, id), max(n.last, id)
}

func (n node) holds(at *place) Pred {
	if n.pred != nil {
		return n.pred
	}
	fn := n.fn
	return func(c *Ctx) bool {
		v := fn(c)
		b, ok := v.(value.Bool)
		if !ok {
			c.fail(at, "expected a boolean, found %s: %s", value.KindName(v), value.Short(v))
		}
		return bool(b)
	}
}

func predNode(p Pred, parts ...node) node {
	n := node{pred: p, free: noFree, fn: func(c *Ctx) value.Value {
		if p(c) {
			return value.True
		}
		return value.False
	}}
	n.under(parts...)
	return n
}

func fnNode(f Fn, parts ...node) node {
	n := node{fn: f, free: noFree}
	n.under(parts...)
	return n
}

func constNode(v value.Value) node {
	n := node{fn: func(*Ctx) value.Value { return v }, free: noFree, trivial: true, konst: v}
	if b, ok := v.(value.Bool); ok {
		n.pred = func(*Ctx) bool { return bool(b) }
	}
	return n
}

func failNode(at *place, lvl int, msg string) node {
	return node{lvl: lvl, free: noFree, fn: func(c *Ctx) value.Value {
		c.fail(at, "%s", msg)
		return nil
	}}
}
