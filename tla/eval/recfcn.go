package eval

import (
	"github.com/millrace-dev/millrace/tla/syntax"
	"github.com/millrace-dev/millrace/tla/value"
)

// recFcn computes the values of a function definition when they are needed and keeps them.
type recFcn struct {
	bs    []binder
	dom   value.Set
	body  Fn
	size  int
	up    *Frame
	share bool
	at    *place
	memo  map[uint64][]memoEntry
}

type memoEntry struct{ arg, val value.Value }

// fcnValue compiles a function definition f[x \in S] == e.
func (cp *compiler) fcnValue(s *symbol, e env) node {
	mark := cp.mark()
	self := cp.newSlot(e, s.name)
	fc := &fctx{up: e.fc, trial: e.fc.trial}
	n := node{free: noFree}
	var domNode node
	sets := cp.domainOf(s.def.Bounds, e, &domNode)
	n.under(domNode)
	e2 := env{sc: e.sc, fc: fc, primed: e.primed, world: e.world, mode: e.mode, depth: e.depth}
	before := s.self
	s.self = self
	bs, e3 := cp.paramBinders(s.def.Bounds, e2)
	body := cp.compile(s.def.Body, e3)
	s.self = before
	body.slot = nil // it reads from the frame of the function
	n.under(body)
	bound(&n, mark)
	share := n.lvl == 0 && n.closed()
	at := e.place(s.def.P)
	slot, fn := self.slot, body.fn
	n.fn = func(c *Ctx) value.Value {
		r := &recFcn{bs: bs, body: fn, share: share, at: at}
		r.size = fc.n
		r.dom = sets(c)
		lazy := &value.Lazy{Dom: r.dom, At: r.at1, Shared: share}
		c.f.s[slot] = lazy
		r.up = c.capture()
		return lazy
	}
	return n
}

// domainOf compiles the domain of a function: the set itself, or a product of several.
func (cp *compiler) domainOf(bounds []syntax.Bound, e env, whole *node) func(*Ctx) value.Set {
	whole.free = noFree
	var fns []Fn
	at := e.place(bounds[0].P)
	for _, b := range bounds {
		x := cp.compile(b.Set, e)
		whole.under(x)
		k := len(b.Names)
		if b.Tuple {
			k = 1
		}
		for range k {
			fns = append(fns, x.fn)
		}
	}
	if len(fns) == 1 {
		return func(c *Ctx) value.Set { return c.set(fns[0](c), at) }
	}
	return func(c *Ctx) value.Set {
		sets := make([]value.Set, len(fns))
		for i, f := range fns {
			sets[i] = c.set(f(c), at)
		}
		return &value.Product{Sets: sets}
	}
}

// paramBinders binds the parameters of a function in a frame of its own.
func (cp *compiler) paramBinders(bounds []syntax.Bound, e env) ([]binder, env) {
	var out []binder
	sc := e.sc.child()
	for _, b := range bounds {
		bd := binder{tuple: b.Tuple, at: e.place(b.P)}
		for _, n := range b.Names {
			p := cp.newSlot(e, n)
			sc.m[n] = p
			if b.Tuple {
				bd.slots = append(bd.slots, p.slot)
				continue
			}
			out = append(out, binder{slots: []int{p.slot}, at: e.place(b.P)})
		}
		if b.Tuple {
			out = append(out, bd)
		}
	}
	return out, e.with(sc)
}

func (r *recFcn) at1(ctx any, v value.Value) value.Value {
	c := ctx.(*Ctx)
	memo := r.memo
	if r.share {
		memo = c.memoOf(r)
	} else if memo == nil {
		memo = map[uint64][]memoEntry{}
		r.memo = memo
	}
	h := v.Hash()
	for _, m := range memo[h] {
		if value.Equal(m.arg, v) {
			return m.val
		}
	}
	if !r.dom.Contains(v) {
		c.fail(r.at, "function is applied to %s, which is not in its domain", value.Short(v))
	}
	up := r.up
	if r.share {
		up = c.private(up)
	}
	c.enter(r.at)
	saved := c.f
	c.f = &Frame{s: make([]value.Value, r.size), up: up}
	if len(r.bs) == 1 {
		r.bs[0].assign(c, v)
	} else {
		t := v.(*value.Fcn)
		for i := range r.bs {
			r.bs[i].assign(c, t.Vals[i])
		}
	}
	out := r.body(c)
	c.f = saved
	c.depth--
	memo[h] = append(memo[h], memoEntry{v, out})
	return out
}

func (c *Ctx) memoOf(r *recFcn) map[uint64][]memoEntry {
	if c.memos == nil {
		c.memos = map[*recFcn]map[uint64][]memoEntry{}
	}
	m, ok := c.memos[r]
	if !ok {
		m = map[uint64][]memoEntry{}
		c.memos[r] = m
	}
	return m
}
