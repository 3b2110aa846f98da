package value

// Pending is a value that was asked for and not made yet: a function with one value replaced, or a set with one element
// more or less. Its hash is known; most successors of a state were seen before, and of those nothing else is needed. It
// lives in the next state alone: nothing else may hold on to it, for its memory is used again.
type Pending struct {
	f    *Fcn
	s    *Elems
	i    int
	v    Value
	less bool
	sum  uint64
}

// Replace is f.With, to be made later; it returns f when that changes nothing.
func (p *Pending) Replace(f *Fcn, i int, v Value) Value {
	old := f.Vals[i]
	if old == v {
		return f
	}
	k := f.keyHash(i)
	*p = Pending{f: f, i: i, v: v, sum: f.rawSum() - pairHash(k, old.Hash()) + pairHash(k, v.Hash())}
	return p
}

// Add is s.Add, to be made later; it returns s when that changes nothing.
func (p *Pending) Add(s *Elems, v Value) Value {
	if s.Contains(v) {
		return s
	}
	*p = Pending{s: s, v: v, sum: s.rawSum() + elemHash(v)}
	return p
}

// Remove is s.Remove, to be made later; it returns s when that changes nothing.
func (p *Pending) Remove(s *Elems, v Value) Value {
	if !s.Contains(v) {
		return s
	}
	*p = Pending{s: s, v: v, less: true, sum: s.rawSum() - elemHash(v)}
	return p
}

// Make returns the value.
func (p *Pending) Make() Value {
	switch {
	case p.f != nil:
		return p.f.With(p.i, p.v)
	case p.less:
		return p.s.Remove(p.v)
	}
	return p.s.insert(p.v)
}

// is reports whether v is the value that would be made; its hash is the same.
func (p *Pending) is(v Value) bool {
	if p.f != nil {
		g, ok := v.(*Fcn)
		return ok && len(g.Vals) == len(p.f.Vals) && sameDomain(p.f, g) && sameExcept(p.f.Vals, g.Vals, p.i) && Identical(p.v, g.Vals[p.i])
	}
	t, ok := v.(*Elems)
	if !ok {
		return false
	}
	more, fewer := t.E, p.s.E
	if p.less {
		more, fewer = fewer, more
	}
	if len(more) != len(fewer)+1 {
		return false
	}
	i := 0
	for i < len(fewer) && Identical(more[i], fewer[i]) {
		i++
	}
	return Identical(more[i], p.v) && sameExcept(more[i+1:], fewer[i:], -1)
}

// sameExcept reports whether two lists of one length agree except at i.
func sameExcept(x, y []Value, i int) bool {
	for j, v := range x {
		if j != i && !Identical(v, y[j]) {
			return false
		}
	}
	return true
}

// Identical reports whether a and b are equal, of whatever kinds they are.
func Identical(a, b Value) bool { return Same(a, b) || kindRank(a) == kindRank(b) && Equal(a, b) }

// Hash implements Value: the hash of the value that would be made.
func (p *Pending) Hash() uint64 {
	if p.f != nil {
		return Mix(p.sum ^ fcnSeed)
	}
	return Mix(p.sum ^ setSeed)
}

// String implements Value.
func (p *Pending) String() string { return p.Make().String() }
