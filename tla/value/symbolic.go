package value

import (
	"fmt"
	"math"
)

// Interval is lo..hi.
type Interval struct{ Lo, Hi int64 }

// NewInterval returns lo..hi.
func NewInterval(lo, hi int64) Set {
	if hi < lo {
		return EmptySet
	}
	return &Interval{lo, hi}
}

// Infinite is Nat, Int, Real or STRING.
type Infinite struct{ Name string }

// Powerset is SUBSET Of.
type Powerset struct{ Of Set }

// Functions is [Dom -> Rng].
type Functions struct{ Dom, Rng Set }

// Records is [name : set, …] with names in order.
type Records struct {
	Dom  *Domain
	Sets []Set
}

// Product is a cartesian product.
type Product struct{ Sets []Set }

// Sequences is Seq(Of).
type Sequences struct{ Of Set }

// Combined is a union, intersection or difference with an infinite operand.
type Combined struct {
	Op   string
	X, Y Set
}

// Filter is {x \in Base : P} whose elements are decided on demand.
type Filter struct {
	Base Set
	P    func(Value) bool
}

// listedHash is the hash of the listed set; an infinite set is hashed by its description, because it
// equals no finite one.
func listedHash(s Set) uint64 {
	if s.Len() < 0 {
		return hashString(Describe(s), 7)
	}
	return List(s).Hash()
}

// Hash implements Value: the hash of the listed set.
func (s *Interval) Hash() uint64 { return listedHash(s) }

// Hash implements Value: the set's name stands for its members.
func (s *Infinite) Hash() uint64 { return hashString(s.Name, 7) }

// Hash implements Value: the hash of the listed set.
func (s *Powerset) Hash() uint64 { return listedHash(s) }

// Hash implements Value: the hash of the listed set.
func (s *Functions) Hash() uint64 { return listedHash(s) }

// Hash implements Value: the hash of the listed set.
func (s *Records) Hash() uint64 { return listedHash(s) }

// Hash implements Value: the hash of the listed set.
func (s *Product) Hash() uint64 { return listedHash(s) }

// Hash implements Value: the hash of the listed set.
func (s *Sequences) Hash() uint64 { return listedHash(s) }

// Hash implements Value: the hash of the listed set.
func (s *Combined) Hash() uint64 { return listedHash(s) }

// Hash implements Value: the hash of the listed set.
func (s *Filter) Hash() uint64 { return listedHash(s) }

// String implements Value for every symbolic set.
func (s *Interval) String() string  { return List(s).String() }
func (s *Infinite) String() string  { return s.Name }
func (s *Powerset) String() string  { return show(s) }
func (s *Functions) String() string { return show(s) }
func (s *Records) String() string   { return show(s) }
func (s *Product) String() string   { return show(s) }
func (s *Sequences) String() string { return show(s) }
func (s *Combined) String() string  { return show(s) }
func (s *Filter) String() string    { return show(s) }

func show(s Set) string {
	if n := s.Len(); n < 0 || n > 1000 {
		return Describe(s)
	}
	return List(s).String()
}

// Describe renders a symbolic set without listing it.
func Describe(s Set) string {
	switch s := symbolic(s).(type) {
	case *Interval:
		return fmt.Sprintf("%d..%d", s.Lo, s.Hi)
	case *Infinite:
		return s.Name
	case *Powerset:
		return "SUBSET " + Describe(s.Of)
	case *Functions:
		return "[" + Describe(s.Dom) + " -> " + Describe(s.Rng) + "]"
	case *Sequences:
		return "Seq(" + Describe(s.Of) + ")"
	case *Combined:
		return "(" + Describe(s.X) + " " + s.Op + " " + Describe(s.Y) + ")"
	case *Filter:
		return "{x \\in " + Describe(s.Base) + " : …}"
	case *Records:
		return "a set of records"
	case *Product:
		return "a cartesian product"
	}
	return Short(s)
}

func satMul(a, b int) int {
	if a < 0 || b < 0 {
		if a == 0 || b == 0 {
			return 0
		}
		return -1
	}
	if a != 0 && b > math.MaxInt/a {
		return math.MaxInt
	}
	return a * b
}

// Len implements Set.
func (s *Interval) Len() int { return int(s.Hi - s.Lo + 1) }

// Len implements Set.
func (s *Infinite) Len() int { return -1 }

// Len implements Set.
func (s *Powerset) Len() int {
	n := s.Of.Len()
	switch {
	case n < 0:
		return -1
	case n > 61:
		return math.MaxInt
	}
	return 1 << n
}

// Len implements Set.
func (s *Functions) Len() int {
	n, m := s.Dom.Len(), s.Rng.Len()
	if n < 0 {
		return -1
	}
	r := 1
	for range n {
		r = satMul(r, m)
		if r == math.MaxInt || r <= 0 {
			break
		}
	}
	return r
}

func productLen(sets []Set) int {
	r := 1
	for _, x := range sets {
		r = satMul(r, x.Len())
	}
	return r
}

// Len implements Set.
func (s *Records) Len() int { return productLen(s.Sets) }

// Len implements Set.
func (s *Product) Len() int { return productLen(s.Sets) }

// Len implements Set.
func (s *Sequences) Len() int {
	if s.Of.Len() == 0 {
		return 1
	}
	return -1
}

// Len implements Set.
func (s *Combined) Len() int {
	if s.Op == "\\cap" && s.X.Len() >= 0 {
		return List(s).Len()
	}
	return -1
}

// Len implements Set; it counts, unless the base is infinite.
func (s *Filter) Len() int {
	if s.Base.Len() < 0 {
		return -1
	}
	n := 0
	s.Each(func(Value) bool { n++; return true })
	return n
}

// Contains implements Set.
func (s *Interval) Contains(v Value) bool {
	n, ok := v.(Int)
	if !ok {
		if isModel(v) {
			return false
		}
		Fail("cannot decide whether %s is in %s", Short(v), Describe(s))
	}
	return int64(n) >= s.Lo && int64(n) <= s.Hi
}

// Contains implements Set.
func (s *Infinite) Contains(v Value) bool {
	if s.Name == "STRING" {
		a, ok := v.(*Atom)
		return ok && !a.Model
	}
	n, ok := v.(Int)
	if !ok {
		if isModel(v) {
			return false
		}
		Fail("cannot decide whether %s is in %s", Short(v), s.Name)
	}
	return s.Name != "Nat" || n >= 0
}

// Contains implements Set.
func (s *Powerset) Contains(v Value) bool {
	if isModel(v) {
		return false
	}
	return Subset(AsSet(v), s.Of)
}

// Contains implements Set.
func (s *Functions) Contains(v Value) bool {
	f, ok := v.(*Fcn)
	if !ok {
		if isModel(v) {
			return false
		}
		Fail("cannot decide whether %s is in a set of functions", Short(v))
	}
	n := s.Dom.Len()
	if n < 0 || n != len(f.Vals) {
		return false
	}
	if e, ok := s.Dom.(*Elems); !ok || f.Dom == nil || f.Dom.set != e {
		i := 0
		same := s.Dom.Each(func(k Value) bool {
			x := f.Key(i)
			i++
			return Identical(k, x)
		})
		if !same {
			return false
		}
	}
	for _, x := range f.Vals {
		if !s.Rng.Contains(x) {
			return false
		}
	}
	return true
}

// Contains implements Set.
func (s *Records) Contains(v Value) bool {
	f, ok := v.(*Fcn)
	if !ok {
		if isModel(v) {
			return false
		}
		Fail("cannot decide whether %s is in a set of records", Short(v))
	}
	if f.Dom == nil || len(f.Vals) != len(s.Sets) {
		return false
	}
	for i, k := range s.Dom.Keys {
		if f.Dom.Keys[i] != k {
			return false
		}
	}
	for i, x := range f.Vals {
		if !s.Sets[i].Contains(x) {
			return false
		}
	}
	return true
}

// Contains implements Set.
func (s *Product) Contains(v Value) bool {
	f, ok := v.(*Fcn)
	if !ok {
		if isModel(v) {
			return false
		}
		Fail("cannot decide whether %s is in a cartesian product", Short(v))
	}
	if f.Dom != nil || len(f.Vals) != len(s.Sets) {
		return false
	}
	for i, x := range f.Vals {
		if !s.Sets[i].Contains(x) {
			return false
		}
	}
	return true
}

// Contains implements Set.
func (s *Sequences) Contains(v Value) bool {
	f, ok := v.(*Fcn)
	if !ok {
		if isModel(v) {
			return false
		}
		Fail("cannot decide whether %s is a sequence", Short(v))
	}
	if f.Dom != nil {
		return false
	}
	for _, x := range f.Vals {
		if !s.Of.Contains(x) {
			return false
		}
	}
	return true
}

// Contains implements Set.
func (s *Combined) Contains(v Value) bool {
	switch s.Op {
	case "\\cup":
		return s.X.Contains(v) || s.Y.Contains(v)
	case "\\cap":
		return s.X.Contains(v) && s.Y.Contains(v)
	}
	return s.X.Contains(v) && !s.Y.Contains(v)
}

// Contains implements Set.
func (s *Filter) Contains(v Value) bool { return s.Base.Contains(v) && s.P(v) }
