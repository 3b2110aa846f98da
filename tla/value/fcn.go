package value

import (
	"math"
	"sort"
	"strings"
)

// Domain is a sorted domain shared by functions made from each other.
type Domain struct {
	Keys  []Value
	atoms bool // every key is an *Atom
	run   bool // the keys are the integers from lo on without a gap
	lo    Int
	at    []int16 // positions of atoms, by their numbers from first on; -1 for others
	first uint32
	set   *Elems
}

// NewDomain returns the domain with the given sorted keys.
func NewDomain(keys []Value) *Domain { return NewSorted(keys).domain() }

// domain returns s as a domain. A set keeps its domain, so functions that are made over the same set
// share one and are compared without a look at it.
func (s *Elems) domain() *Domain {
	if d := s.dom.Load(); d != nil {
		return d
	}
	d := &Domain{Keys: s.E, atoms: len(s.E) > 0, run: len(s.E) > 0, set: s}
	for i, k := range s.E {
		if _, ok := k.(*Atom); !ok {
			d.atoms = false
		}
		n, ok := k.(Int)
		if i == 0 {
			d.lo = n
		}
		d.run = d.run && ok && n == d.lo+Int(i)
	}
	if d.atoms {
		d.number()
	}
	s.Hash()
	s.dom.Store(d)
	return d
}

// number lists the positions of the keys, which are atoms, if their numbers are not far apart.
func (d *Domain) number() {
	lo, hi := d.Keys[0].(*Atom).index, uint32(0)
	for _, k := range d.Keys {
		lo, hi = min(lo, k.(*Atom).index), max(hi, k.(*Atom).index)
	}
	if n := int(hi-lo) + 1; n <= maxSpread+4*len(d.Keys) && len(d.Keys) <= math.MaxInt16 {
		d.first, d.at = lo, make([]int16, n)
		for i := range d.at {
			d.at[i] = -1
		}
		for i, k := range d.Keys {
			d.at[k.(*Atom).index-lo] = int16(i)
		}
	}
}

// maxSpread is how many numbers the atoms of a small domain may be apart to be listed by number.
const maxSpread = 64

// Index returns the position of k, or -1.
func (d *Domain) Index(k Value) int {
	if d.atoms {
		a, ok := k.(*Atom)
		if !ok {
			return -1
		}
		if d.at != nil {
			if i := a.index - d.first; uint64(i) < uint64(len(d.at)) {
				return int(d.at[i])
			}
			return -1
		}
	}
	if n, ok := k.(Int); ok && d.run {
		if n < d.lo || n-d.lo >= Int(len(d.Keys)) {
			return -1
		}
		return int(n - d.lo)
	}
	i, found := sort.Find(len(d.Keys), func(i int) int { return Compare(k, d.Keys[i]) })
	if !found {
		return -1
	}
	return i
}

// Fcn is a function. A nil Dom means the domain 1..len(Vals): a tuple or sequence.
type Fcn struct {
	Dom    *Domain
	Vals   []Value
	sum    uint64
	hashed bool
	word   uint32 // number in a dictionary, accessed atomically
}

// Empty is the empty sequence, which is also the empty function.
var Empty = func() *Fcn { f := &Fcn{}; f.Hash(); return f }()

// NewTuple returns the tuple of vals, which it keeps.
func NewTuple(vals []Value) *Fcn {
	if len(vals) == 0 {
		return Empty
	}
	return &Fcn{Vals: vals}
}

// NewFcn returns the function with the sorted domain dom; a domain 1..n becomes a tuple.
func NewFcn(dom *Domain, vals []Value) *Fcn {
	if len(vals) == 0 {
		return Empty
	}
	if dom.isSeq() {
		dom = nil
	}
	return &Fcn{Dom: dom, Vals: vals}
}

func (d *Domain) isSeq() bool {
	first, ok := d.Keys[0].(Int)
	if !ok || first != 1 {
		return false
	}
	last, ok := d.Keys[len(d.Keys)-1].(Int)
	return ok && int(last) == len(d.Keys)
}

// NewRecord returns the record with the given fields in any order.
func NewRecord(names []*Atom, vals []Value) *Fcn {
	idx := make([]int, len(names))
	for i := range idx {
		idx[i] = i
	}
	sort.Slice(idx, func(i, j int) bool { return names[idx[i]].Order < names[idx[j]].Order })
	keys, sorted := make([]Value, len(names)), make([]Value, len(names))
	for i, j := range idx {
		keys[i], sorted[i] = names[j], vals[j]
	}
	return NewFcn(NewDomain(keys), sorted)
}

// Key returns the i-th element of the domain in order.
func (f *Fcn) Key(i int) Value {
	if f.Dom == nil {
		return MakeInt(int64(i + 1))
	}
	return f.Dom.Keys[i]
}

// Index returns the position of k in the domain, or -1.
func (f *Fcn) Index(k Value) int {
	if f.Dom == nil {
		n, ok := k.(Int)
		if !ok || n < 1 || int(n) > len(f.Vals) {
			return -1
		}
		return int(n) - 1
	}
	return f.Dom.Index(k)
}

// keyHash returns the hash of the i-th element of the domain.
func (f *Fcn) keyHash(i int) uint64 {
	if f.Dom == nil {
		return Int(i + 1).Hash()
	}
	return f.Dom.Keys[i].Hash()
}

// DomainSet returns the domain as a set.
func (f *Fcn) DomainSet() Set {
	if f.Dom == nil {
		return NewInterval(1, int64(len(f.Vals)))
	}
	return f.Dom.set
}

// IsSeq reports whether the domain is 1..n.
func (f *Fcn) IsSeq() bool { return f.Dom == nil }

// IsRecord reports whether the domain is a set of strings.
func (f *Fcn) IsRecord() bool {
	if f.Dom == nil || !f.Dom.atoms {
		return false
	}
	for _, k := range f.Dom.Keys {
		if k.(*Atom).Model {
			return false
		}
	}
	return true
}

func (f *Fcn) rawSum() uint64 {
	if !f.hashed {
		var s uint64
		if f.Dom == nil {
			for i, v := range f.Vals {
				s += pairHash(Int(i+1).Hash(), v.Hash())
			}
		} else {
			for i, v := range f.Vals {
				s += pairHash(f.Dom.Keys[i].Hash(), v.Hash())
			}
		}
		f.sum, f.hashed = s, true
	}
	return f.sum
}

// Hash implements Value.
func (f *Fcn) Hash() uint64 { return Mix(f.rawSum() ^ fcnSeed) }

// block is a function and its values in one piece of memory.
type block[A any] struct {
	f    Fcn
	vals A
}

// newFcn returns a function with room for n values; a short one takes one allocation, not two.
func newFcn(n int) *Fcn {
	switch n {
	case 1:
		b := &block[[1]Value]{}
		b.f.Vals = b.vals[:]
		return &b.f
	case 2:
		b := &block[[2]Value]{}
		b.f.Vals = b.vals[:]
		return &b.f
	case 3:
		b := &block[[3]Value]{}
		b.f.Vals = b.vals[:]
		return &b.f
	case 4:
		b := &block[[4]Value]{}
		b.f.Vals = b.vals[:]
		return &b.f
	case 5, 6:
		b := &block[[6]Value]{}
		b.f.Vals = b.vals[:n:n]
		return &b.f
	case 7, 8:
		b := &block[[8]Value]{}
		b.f.Vals = b.vals[:n:n]
		return &b.f
	}
	return &Fcn{Vals: make([]Value, n)}
}

// With returns f with the value at position i replaced; the hash is updated incrementally.
func (f *Fcn) With(i int, v Value) *Fcn {
	g := newFcn(len(f.Vals))
	g.Dom = f.Dom
	copy(g.Vals, f.Vals)
	g.Vals[i] = v
	if f.hashed {
		k := f.keyHash(i)
		g.sum = f.sum - pairHash(k, f.Vals[i].Hash()) + pairHash(k, v.Hash())
		g.hashed = true
	}
	return g
}

// Append returns the sequence f with v at its end.
func (f *Fcn) Append(v Value) *Fcn {
	vals := make([]Value, len(f.Vals)+1)
	copy(vals, f.Vals)
	vals[len(f.Vals)] = v
	g := &Fcn{Vals: vals}
	if f.hashed {
		g.sum = f.sum + pairHash(Int(len(vals)).Hash(), v.Hash())
		g.hashed = true
	}
	return g
}

func equalFcn(x, y *Fcn) bool {
	if x == y {
		return true
	}
	if len(x.Vals) != len(y.Vals) || x.hashed && y.hashed && x.sum != y.sum {
		return false
	}
	if !sameDomain(x, y) {
		return false
	}
	for i, v := range x.Vals {
		if !Same(v, y.Vals[i]) && !Equal(v, y.Vals[i]) {
			return false
		}
	}
	return true
}

// sameDomain compares the domains of functions with as many values.
func sameDomain(x, y *Fcn) bool {
	if x.Dom == y.Dom {
		return true
	}
	if x.Dom == nil || y.Dom == nil {
		return false
	}
	for i, k := range x.Dom.Keys {
		if !Identical(k, y.Dom.Keys[i]) {
			return false
		}
	}
	return true
}

func compareFcn(x, y *Fcn) int {
	if x == y {
		return 0
	}
	if d := len(x.Vals) - len(y.Vals); d != 0 {
		return d
	}
	for i, v := range x.Vals {
		if x.Dom != y.Dom {
			if c := Compare(x.Key(i), y.Key(i)); c != 0 {
				return c
			}
		}
		if c := Compare(v, y.Vals[i]); c != 0 {
			return c
		}
	}
	return 0
}

// String implements Value.
func (f *Fcn) String() string {
	var b strings.Builder
	f.write(&b)
	return b.String()
}

func (f *Fcn) write(b *strings.Builder) {
	switch {
	case f.Dom == nil:
		b.WriteString("<<")
		for i, v := range f.Vals {
			if i > 0 {
				b.WriteString(", ")
			}
			write(b, v)
		}
		b.WriteString(">>")
	case f.IsRecord():
		b.WriteString("[")
		for i, v := range f.Vals {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(f.Dom.Keys[i].(*Atom).Name + " |-> ")
			write(b, v)
		}
		b.WriteString("]")
	default:
		b.WriteString("(")
		for i, v := range f.Vals {
			if i > 0 {
				b.WriteString(" @@ ")
			}
			write(b, f.Dom.Keys[i])
			b.WriteString(" :> ")
			write(b, v)
		}
		b.WriteString(")")
	}
}

func write(b *strings.Builder, v Value) {
	switch v := v.(type) {
	case *Fcn:
		v.write(b)
	case *Elems:
		v.write(b)
	default:
		b.WriteString(v.String())
	}
}

func quote(s string) string {
	r := strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "\n", "\\n", "\t", "\\t", "\r", "\\r", "\f", "\\f")
	return "\"" + r.Replace(s) + "\""
}
