package eval

import (
	"fmt"
	"strings"

	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

// MaxCallDepth bounds the depth of recursive operators and functions.
const MaxCallDepth = 20_000

// Frame holds the slots of one evaluation; up leads to the frame of the enclosing definition.
type Frame struct {
	s  []value.Value
	up *Frame
}

// place is a position in a module.
type place struct {
	file string
	pos  syntax.Pos
}

// Ctx is one evaluation in progress: the states it reads and its frame. A Ctx belongs to one
// goroutine.
type Ctx struct {
	// Cur and Next are the states; an element is nil while its variable has no value.
	Cur, Next []value.Value
	// Level is the depth of Cur in the search, one for initial states.
	Level int
	// Action is the index of the action being taken, -1 for none.
	Action int
	// Run is what the run shares with the modules TLC and TLCExt.
	Run *Run
	// Worker is the number of the worker, whose TLCSet registers are Regs.
	Worker int
	Regs   map[int64]value.Value
	// Counts, when not nil, counts how often each conjunct was evaluated.
	Counts []int64

	emit   func(c *Ctx) bool
	rest   *rest
	f      *Frame
	at     *place
	depth  int
	ticks  uint32
	locals map[*Frame]*Frame
	memos  map[*recFcn]map[uint64][]memoEntry
	// frames holds a frame for each compiled root that this goroutine evaluated; it is nil while in use.
	frames []*Frame
	fixed  stamps
	clock  uint64
	cells  []cell
	// pending holds, for each variable, its next value while that is not made; nil means that all are made.
	pending []value.Pending
}

// Run is the state of a run that specifications can read through TLCGet.
type Run struct {
	Prog *Program
	// Get answers TLCGet of a string; it is nil outside a run.
	Get func(c *Ctx, name string) (value.Value, bool)
	// Set handles TLCSet of a string.
	Set func(c *Ctx, name string, v value.Value) bool
	// Trace returns the states that lead to the current one; nil outside a run.
	Trace func(c *Ctx) []value.Value
	// Print receives the output of Print and PrintT.
	Print func(string)
	// Env reads an environment variable.
	Env func(name string) string
	// Random draws a number below n.
	Random func(n int) int
	// Expired reports whether the time of the run is over; nil means that it has no bound. It is asked
	// now and then inside long evaluations.
	Expired func() bool
}

// Error is a fault of evaluation with its place.
type Error struct {
	File string
	Pos  syntax.Pos
	Msg  string
	// Expired says that the time of the run ended during the evaluation.
	Expired bool
	// unassigned says that a primed variable was read before it had a value.
	unassigned bool
}

// Error renders file:line:column: message.
func (e *Error) Error() string {
	if e.File == "" {
		return e.Msg
	}
	return fmt.Sprintf("%s:%s: %s", e.File, e.Pos, e.Msg)
}

// NewCtx returns a context for nvars variables.
func NewCtx(run *Run, nvars int) *Ctx {
	return &Ctx{
		Cur: make([]value.Value, nvars), Next: make([]value.Value, nvars), Run: run, Action: -1,
		Regs: map[int64]value.Value{}, locals: map[*Frame]*Frame{},
	}
}

// Postpone lets next values stand in Next that are not made yet. Whoever is given Next may ask for their hash, and makes
// those that it keeps. They are used for a variable only if nothing in the relation reads its next value.
func (c *Ctx) Postpone() { c.pending = make([]value.Pending, len(c.Next)) }

// made returns an element of a state, made if it was pending.
func made(s []value.Value, i int) value.Value {
	if p, ok := s[i].(*value.Pending); ok {
		s[i] = p.Make()
	}
	return s[i]
}

func (c *Ctx) fail(at *place, format string, args ...any) {
	panic(&Error{File: at.file, Pos: at.pos, Msg: fmt.Sprintf(format, args...)})
}

// Guard calls f and returns a fault of evaluation as an error.
func (c *Ctx) Guard(f func()) (err error) {
	defer c.guard(c.f, c.rest, &err)
	f()
	return nil
}

// guard is deferred: it turns a fault of evaluation into an error and goes back to what was before.
func (c *Ctx) guard(saved *Frame, r0 *rest, err *error) {
	switch r := recover().(type) {
	case nil:
		return
	case *Error:
		*err = r
	case *value.Error:
		e := &Error{Msg: r.Msg}
		if c.at != nil {
			e.File, e.Pos = c.at.file, c.at.pos
		}
		*err = e
	default:
		panic(r)
	}
	c.f, c.rest, c.depth = saved, r0, 0
}

// Expr is a compiled expression with the number of slots its frame needs.
type Expr struct {
	fn   Fn
	pred Pred
	fc   *fctx
	// Level is 0 for constants, 1 for state functions, 2 for actions, 3 for temporal formulas.
	Level int
	// Reads are the variables whose values in the current state decide what it evaluates to: all of them where that is not known, and
	// where it reads none, so that whoever looks only at what has changed looks at it once.
	Reads Vars
	cp    *compiler
}

// open makes a cleared frame of fc the current one and returns the one before; close takes it back.
func (c *Ctx) open(fc *fctx) *Frame {
	before := c.f
	for fc.root >= len(c.frames) {
		c.frames = append(c.frames, nil)
	}
	if f := c.frames[fc.root]; f != nil && len(f.s) == fc.n {
		c.frames[fc.root] = nil
		clear(f.s)
		c.f = f
	} else {
		c.f = &Frame{s: make([]value.Value, fc.n)}
	}
	return before
}

func (c *Ctx) close(fc *fctx, before *Frame) {
	c.frames[fc.root], c.f = c.f, before
}

// Eval evaluates the expression.
func (e *Expr) Eval(c *Ctx) (v value.Value, err error) {
	saved := c.f
	defer c.guard(saved, c.rest, &err)
	c.open(e.fc)
	// What is returned may hold on to the frame: it is not used again.
	v = c.settle(e.fn(c))
	c.f = saved
	return v, nil
}

// Holds evaluates a predicate.
func (e *Expr) Holds(c *Ctx) (ok bool, err error) {
	saved := c.f
	defer c.guard(saved, c.rest, &err)
	c.open(e.fc)
	ok = e.pred(c)
	c.close(e.fc, saved)
	return ok, nil
}

// settle makes v fit to be kept: symbolic sets and lazy functions are listed and hashed.
func (c *Ctx) settle(v value.Value) value.Value {
	switch x := v.(type) {
	case *value.Elems:
		x.Hash()
	case *value.Fcn:
		x.Hash()
	case *value.Lazy:
		f := x.List(c)
		f.Hash()
		return f
	case value.Set:
		if n := x.Len(); n >= 0 && n <= value.MaxElements {
			e := value.List(x)
			e.Hash()
			return e
		}
	}
	return v
}

// keep settles the value of a variable; a set that cannot be listed is no such value.
func (c *Ctx) keep(v value.Value, at *place) value.Value {
	c.at = at
	v = c.settle(v)
	if s, ok := v.(value.Set); ok {
		if _, listed := v.(*value.Elems); !listed {
			c.fail(at, "the value of a variable cannot be the infinite or too large set %s", value.Short(s))
		}
	}
	return v
}

// capture copies the current frame for a closure that outlives the evaluation of its parent.
func (c *Ctx) capture() *Frame { return copyFrame(c.f) }

func copyFrame(f *Frame) *Frame {
	if f == nil {
		return nil
	}
	return &Frame{append([]value.Value(nil), f.s...), copyFrame(f.up)}
}

// private returns this goroutine's copy of a frame captured by a constant that all goroutines share.
func (c *Ctx) private(f *Frame) *Frame {
	p, ok := c.locals[f]
	if !ok {
		p = copyFrame(f)
		c.locals[f] = p
	}
	return p
}

// tick is called on each turn of a loop and each call: an evaluation that never ends by itself ends
// with the time of the run.
func (c *Ctx) tick(at *place) {
	if c.ticks++; c.ticks&0x3fff == 0 && c.Run.Expired != nil && c.Run.Expired() {
		panic(&Error{File: at.file, Pos: at.pos, Msg: "the time of the run ended while this was evaluated", Expired: true})
	}
}

func (c *Ctx) enter(at *place) {
	c.tick(at)
	c.depth++
	if c.depth > MaxCallDepth {
		c.fail(at, "recursion is deeper than %d calls", MaxCallDepth)
	}
}

// StateString renders a state as a conjunction.
func StateString(names []string, s []value.Value) string {
	var b strings.Builder
	for i, n := range names {
		v := "?"
		if s[i] != nil {
			v = s[i].String()
		}
		fmt.Fprintf(&b, "/\\ %s = %s\n", n, v)
	}
	return b.String()
}
