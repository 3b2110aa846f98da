package value

import (
	"sort"
	"strings"
	"sync/atomic"
)

// MaxElements bounds the size of a set that is listed in memory.
const MaxElements = 5_000_000

// Set is a set, listed or symbolic.
type Set interface {
	Value
	// Contains reports membership.
	Contains(v Value) bool
	// Each calls f on the elements in order until it returns false; it reports whether all were visited.
	Each(f func(Value) bool) bool
	// Len returns the number of elements, or -1 when infinite; counts saturate at math.MaxInt.
	Len() int
}

// Elems is a set listed in order.
type Elems struct {
	E      []Value
	sum    uint64
	hashed bool
	word   uint32 // number in a dictionary, accessed atomically
	dom    atomic.Pointer[Domain]
}

// EmptySet is the empty set.
var EmptySet = func() *Elems { s := &Elems{}; s.Hash(); return s }()

// NewSorted returns the set of e, which is sorted, without duplicates, and kept.
func NewSorted(e []Value) *Elems {
	if len(e) == 0 {
		return EmptySet
	}
	return &Elems{E: e}
}

// NewSet returns the set of the elements of e in any order; e is kept and reordered.
func NewSet(e []Value) *Elems {
	if len(e) > MaxElements {
		Fail("set has more than %d elements", MaxElements)
	}
	if len(e) < 2 {
		return NewSorted(e)
	}
	sorted := true
	for i := 1; i < len(e); i++ {
		if Compare(e[i-1], e[i]) >= 0 {
			sorted = false
			break
		}
	}
	if sorted {
		return NewSorted(e)
	}
	sort.Slice(e, func(i, j int) bool { return Compare(e[i], e[j]) < 0 })
	out := e[:1]
	for _, v := range e[1:] {
		if Compare(out[len(out)-1], v) != 0 {
			out = append(out, v)
		}
	}
	return NewSorted(out)
}

func elemHash(v Value) uint64 { return Mix(v.Hash() + elemSeed) }

// Seeds keep the hashes of sets, their elements and functions apart.
const (
	elemSeed = 0xd6e8feb86659fd93
	setSeed  = 0x2545f4914f6cdd1d
	fcnSeed  = 0x5851f42d4c957f2d
)

func (s *Elems) rawSum() uint64 {
	if !s.hashed {
		var h uint64
		for _, v := range s.E {
			h += elemHash(v)
		}
		s.sum, s.hashed = h, true
	}
	return s.sum
}

// Hash implements Value.
func (s *Elems) Hash() uint64 { return Mix(s.rawSum() ^ setSeed) }

// Len implements Set.
func (s *Elems) Len() int { return len(s.E) }

// Each implements Set.
func (s *Elems) Each(f func(Value) bool) bool {
	for _, v := range s.E {
		if !f(v) {
			return false
		}
	}
	return true
}

func (s *Elems) find(v Value) (int, bool) {
	if len(s.E) > maxScan {
		return s.search(v)
	}
	i := unknown
	switch x := v.(type) {
	case *Atom:
		i = s.scanAtoms(x)
	case *Fcn:
		i = s.scan(x)
	default:
	}
	if i == unknown {
		return s.search(v)
	}
	return i, i >= 0
}

// maxScan is the size up to which an element is looked for by identity and hash, without comparing
// parts.
const maxScan = 16

// Results of scan besides a position.
const (
	absent  = -1
	unknown = -2
)

func (s *Elems) scanAtoms(a *Atom) int {
	for i, x := range s.E {
		b, ok := x.(*Atom)
		if !ok {
			return unknown
		}
		if a == b {
			return i
		}
	}
	return absent
}

// scan looks for f among functions by identity and hash.
func (s *Elems) scan(f *Fcn) int {
	if !f.hashed {
		f.Hash()
	}
	for i, x := range s.E {
		g, ok := x.(*Fcn)
		if !ok {
			return unknown
		}
		if g == f {
			return i
		}
		if !g.hashed {
			return unknown
		}
		if g.sum == f.sum {
			if equalFcn(g, f) {
				return i
			}
			return unknown
		}
	}
	return absent
}

// search returns the position of v, or where it belongs.
func (s *Elems) search(v Value) (int, bool) {
	lo, hi := 0, len(s.E)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := Compare(v, s.E[mid]); {
		case c == 0:
			return mid, true
		case c < 0:
			hi = mid
		default:
			lo = mid + 1
		}
	}
	return lo, false
}

// Contains implements Set.
func (s *Elems) Contains(v Value) bool {
	_, ok := s.find(v)
	return ok
}

// Add returns the set with v added; the hash is updated incrementally.
func (s *Elems) Add(v Value) *Elems {
	if s.Contains(v) {
		return s
	}
	return s.insert(v)
}

// insert is Add of what scan did not find.
func (s *Elems) insert(v Value) *Elems {
	i, ok := s.search(v)
	if ok {
		return s
	}
	e := make([]Value, len(s.E)+1)
	copy(e, s.E[:i])
	e[i] = v
	copy(e[i+1:], s.E[i:])
	t := &Elems{E: e}
	if s.hashed {
		t.sum, t.hashed = s.sum+elemHash(v), true
	}
	return t
}

// Remove returns the set without v.
func (s *Elems) Remove(v Value) *Elems {
	i, ok := s.find(v)
	if !ok {
		return s
	}
	if len(s.E) == 1 {
		return EmptySet
	}
	e := make([]Value, len(s.E)-1)
	copy(e, s.E[:i])
	copy(e[i:], s.E[i+1:])
	t := &Elems{E: e}
	if s.hashed {
		t.sum, t.hashed = s.sum-elemHash(v), true
	}
	return t
}

// String implements Value.
func (s *Elems) String() string {
	var b strings.Builder
	s.write(&b)
	return b.String()
}

func (s *Elems) write(b *strings.Builder) {
	b.WriteString("{")
	for i, v := range s.E {
		if i > 0 {
			b.WriteString(", ")
		}
		write(b, v)
	}
	b.WriteString("}")
}

// List returns s with its elements listed.
func List(s Set) *Elems {
	switch e := s.(type) {
	case *Elems:
		return e
	case *Both:
		return e.Elems()
	}
	n := s.Len()
	if n < 0 {
		Fail("cannot list the elements of the infinite set %s", Describe(s))
	}
	if n > MaxElements {
		Fail("cannot list the elements of %s: more than %d", Describe(s), MaxElements)
	}
	e := make([]Value, 0, n)
	s.Each(func(v Value) bool {
		if len(e) >= MaxElements {
			Fail("cannot list the elements of %s: more than %d", Describe(s), MaxElements)
		}
		e = append(e, v)
		return true
	})
	return NewSet(e)
}

// AsSet returns v as a set or fails.
func AsSet(v Value) Set {
	s, ok := v.(Set)
	if !ok {
		Fail("expected a set, found %s: %s", KindName(v), Short(v))
	}
	return s
}

func equalSet(x, y Set) bool {
	if x == y {
		return true
	}
	a, ok1 := x.(*Elems)
	b, ok2 := y.(*Elems)
	if !ok1 || !ok2 {
		nx, ny := x.Len(), y.Len()
		if nx < 0 || ny < 0 {
			if (nx < 0) != (ny < 0) {
				return false
			}
			if p, ok := x.(*Infinite); ok {
				if q, ok := y.(*Infinite); ok {
					return p.Name == q.Name
				}
			}
			Fail("cannot compare the infinite sets %s and %s", Describe(x), Describe(y))
		}
		if p, ok := symbolic(x).(*Interval); ok {
			if q, ok := symbolic(y).(*Interval); ok {
				return p.Lo == q.Lo && p.Hi == q.Hi
			}
		}
		if nx != ny {
			return false
		}
		a, b = List(x), List(y)
	}
	if len(a.E) != len(b.E) || a.hashed && b.hashed && a.sum != b.sum {
		return false
	}
	for i, v := range a.E {
		if !Equal(v, b.E[i]) {
			return false
		}
	}
	return true
}

func compareSet(x, y Set) int {
	if x == y {
		return 0
	}
	a, b := List(x), List(y)
	if d := len(a.E) - len(b.E); d != 0 {
		return d
	}
	for i, v := range a.E {
		if c := Compare(v, b.E[i]); c != 0 {
			return c
		}
	}
	return 0
}

// Union returns x ∪ y.
func Union(x, y Set) Set {
	if x.Len() < 0 || y.Len() < 0 {
		return &Combined{"\\cup", x, y}
	}
	a, b := List(x), List(y)
	switch {
	case len(b.E) == 0:
		return a
	case len(a.E) == 0:
		return b
	case len(b.E) == 1:
		return a.Add(b.E[0])
	case len(a.E) == 1:
		return b.Add(a.E[0])
	}
	out := make([]Value, 0, len(a.E)+len(b.E))
	i, j := 0, 0
	for i < len(a.E) && j < len(b.E) {
		switch c := Compare(a.E[i], b.E[j]); {
		case c < 0:
			out = append(out, a.E[i])
			i++
		case c > 0:
			out = append(out, b.E[j])
			j++
		default:
			out = append(out, a.E[i])
			i, j = i+1, j+1
		}
	}
	out = append(out, a.E[i:]...)
	return NewSorted(append(out, b.E[j:]...))
}

// Intersect returns x ∩ y.
func Intersect(x, y Set) Set {
	if x.Len() < 0 {
		x, y = y, x
		if x.Len() < 0 {
			return &Combined{"\\cap", x, y}
		}
	}
	return keep(x, func(v Value) bool { return y.Contains(v) })
}

// Minus returns x \ y.
func Minus(x, y Set) Set {
	if x.Len() < 0 {
		return &Combined{"\\", x, y}
	}
	if e, ok := y.(*Elems); ok && len(e.E) == 1 {
		return List(x).Remove(e.E[0])
	}
	return keep(x, func(v Value) bool { return !y.Contains(v) })
}

func keep(x Set, f func(Value) bool) *Elems {
	a := List(x)
	var out []Value
	for i, v := range a.E {
		if f(v) {
			if out == nil {
				out = make([]Value, 0, len(a.E)-i)
			}
			out = append(out, v)
		}
	}
	if len(out) == len(a.E) {
		return a
	}
	return NewSorted(out)
}

// Subset reports x ⊆ y.
func Subset(x, y Set) bool {
	if p, ok := symbolic(y).(*Powerset); ok {
		return x.Each(p.Contains)
	}
	if a, ok := x.(*Elems); ok {
		if b, ok := y.(*Elems); ok {
			return a.within(b)
		}
	}
	if x.Len() < 0 {
		if p, ok := x.(*Infinite); ok {
			if q, ok := y.(*Infinite); ok {
				return p.Name == q.Name || p.Name == "Nat" && (q.Name == "Int" || q.Name == "Real") || p.Name == "Int" && q.Name == "Real"
			}
		}
		Fail("cannot list the elements of the infinite set %s", Describe(x))
	}
	return x.Each(y.Contains)
}

// within reports s ⊆ t. Mostly the elements are the same objects, in the same order.
func (s *Elems) within(t *Elems) bool {
	rest := t.E
	for _, v := range s.E {
		i := 0
		for i < len(rest) && !Same(rest[i], v) {
			i++
		}
		if i < len(rest) {
			rest = rest[i+1:]
		} else if !t.Contains(v) {
			return false
		}
	}
	return true
}
