package value

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Value is a TLA+ value.
type Value interface {
	// Hash returns a hash that equal values share whatever their representation.
	Hash() uint64
	// String renders the value in TLA+ syntax.
	String() string
}

// Same reports whether a and b are one object, without a look inside; equal numbers may be two objects.
func Same(a, b Value) bool {
	return *(*[2]uintptr)(unsafe.Pointer(&a)) == *(*[2]uintptr)(unsafe.Pointer(&b))
}

// Error is a fault in the use of values.
type Error struct{ Msg string }

// Error returns the message.
func (e *Error) Error() string { return e.Msg }

// Fail panics with an *Error.
func Fail(format string, args ...any) {
	panic(&Error{fmt.Sprintf(format, args...)})
}

// Bool is a boolean.
type Bool bool

// Int is an integer; arithmetic that leaves 64 bits is an error.
type Int int64

const smallMin, smallMax = -1024, 1 << 16

// smallInts are what the common integers point to, so that they need no allocation.
var smallInts [smallMax - smallMin]Int

func init() {
	for i := range smallInts {
		smallInts[i] = Int(i + smallMin)
	}
}

var anInt Value = Int(0)

// MakeInt returns n as a value.
func MakeInt(n int64) Value {
	if n >= smallMin && n < smallMax {
		// An interface is a type and, for what is no pointer, where the value is: it is there already.
		v := anInt
		(*[2]unsafe.Pointer)(unsafe.Pointer(&v))[1] = unsafe.Pointer(&smallInts[n-smallMin])
		return v
	}
	return Int(n)
}

// True and False are the booleans.
var (
	True  Value = Bool(true)
	False Value = Bool(false)
)

// Mix scrambles a 64-bit number (the finalizer of splitmix64).
func Mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// Hash implements Value.
func (b Bool) Hash() uint64 {
	if b {
		return 0x9d3c51aeb84f0217
	}
	return 0x3b1f7a96c5d2e84b
}

// String implements Value.
func (b Bool) String() string {
	if b {
		return "TRUE"
	}
	return "FALSE"
}

// Hash implements Value.
func (n Int) Hash() uint64 { return Mix(uint64(n) + 0x9e3779b97f4a7c15) }

// String implements Value.
func (n Int) String() string { return fmt.Sprintf("%d", int64(n)) }

// Atom is a string or, with Model, a model value. Atoms of one Universe are equal exactly when
// their pointers are.
type Atom struct {
	Name  string
	Model bool
	// Order is the position of the atom's first appearance; it orders strings as TLC does.
	Order int
	hash  uint64
	index uint32 // position in the universe's list of atoms
}

// Index returns the position of the atom in the list of its universe.
func (a *Atom) Index() int { return int(a.index) }

// Hash implements Value.
func (a *Atom) Hash() uint64 { return a.hash }

// String implements Value.
func (a *Atom) String() string {
	if a.Model {
		return a.Name
	}
	return quote(a.Name)
}

// Universe interns the strings and model values of one run.
type Universe struct {
	mu     sync.Mutex
	order  map[string]int
	strs   map[string]*Atom
	models map[string]*Atom
	atoms  atomic.Pointer[[]*Atom]
}

// keep gives a new atom its index; readers of the list see it without a lock.
func (u *Universe) keep(a *Atom) {
	var list []*Atom
	if old := u.atoms.Load(); old != nil {
		list = *old
	}
	a.index = uint32(len(list))
	list = append(list, a)
	u.atoms.Store(&list)
}

// NewUniverse returns an empty universe.
func NewUniverse() *Universe {
	return &Universe{order: map[string]int{}, strs: map[string]*Atom{}, models: map[string]*Atom{}}
}

// See records the first appearance of a spelling.
func (u *Universe) See(name string) {
	u.mu.Lock()
	u.see(name)
	u.mu.Unlock()
}

func (u *Universe) see(name string) int {
	n, ok := u.order[name]
	if !ok {
		n = len(u.order)
		u.order[name] = n
	}
	return n
}

// Str returns the string value s.
func (u *Universe) Str(s string) *Atom {
	u.mu.Lock()
	defer u.mu.Unlock()
	a, ok := u.strs[s]
	if !ok {
		a = &Atom{Name: s, Order: u.see(s), hash: hashString(s, 1)}
		u.strs[s] = a
		u.keep(a)
	}
	return a
}

// Model returns the model value s.
func (u *Universe) Model(s string) *Atom {
	u.mu.Lock()
	defer u.mu.Unlock()
	a, ok := u.models[s]
	if !ok {
		a = &Atom{Name: s, Model: true, Order: u.see(s), hash: hashString(s, 2)}
		u.models[s] = a
		u.keep(a)
	}
	return a
}

func hashString(s string, seed uint64) uint64 {
	h := seed*0x9e3779b97f4a7c15 + 0xcbf29ce484222325
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 0x100000001b3
	}
	return Mix(h)
}

func pairHash(k, v uint64) uint64 {
	return Mix(k*0xff51afd7ed558ccd + bits.RotateLeft64(v, 23))
}

func kindRank(v Value) int {
	switch v := v.(type) {
	case Bool:
		return 0
	case Int:
		return 1
	case *Atom:
		if v.Model {
			return 5
		}
		return 2
	case *Fcn, *Lazy:
		return 4
	case *Closure:
		return 7
	default:
		return 3
	}
}

var kindNames = []string{"a boolean", "an integer", "a string", "a set", "a function", "a model value", "", "an operator"}

// KindName describes the kind of v for messages.
func KindName(v Value) string { return kindNames[kindRank(v)] }

// Short renders v, cut to a length that fits a message.
func Short(v Value) string {
	if s, ok := v.(Set); ok && !isMaterial(s) {
		return Describe(s)
	}
	s := v.String()
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	return s
}

func isMaterial(s Set) bool {
	switch symbolic(s).(type) {
	case *Elems, *Interval:
		return true
	}
	return false
}

// Equal compares two values; values of different kinds are an error, except model values, which
// equal nothing else.
func Equal(a, b Value) bool {
	switch x := a.(type) {
	case Bool:
		if y, ok := b.(Bool); ok {
			return x == y
		}
	case Int:
		if y, ok := b.(Int); ok {
			return x == y
		}
	case *Atom:
		if y, ok := b.(*Atom); ok {
			return x == y
		}
		if x.Model {
			return false
		}
	case *Fcn:
		if y, ok := b.(*Fcn); ok {
			return equalFcn(x, y)
		}
	case Set:
		if y, ok := b.(Set); ok {
			return equalSet(x, y)
		}
	}
	if y, ok := b.(*Atom); ok && y.Model {
		return false
	}
	Fail("cannot compare %s with %s: %s = %s", KindName(a), KindName(b), Short(a), Short(b))
	return false
}

// Compare orders values the way TLC normalizes sets: numbers by size, strings and model values by
// first appearance, sets and functions by size and then element by element.
func Compare(a, b Value) int {
	switch x := a.(type) {
	case Int:
		if y, ok := b.(Int); ok {
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		}
	case *Atom:
		if y, ok := b.(*Atom); ok {
			if x == y {
				return 0
			}
			if x.Order != y.Order {
				return x.Order - y.Order
			}
			return kindRank(x) - kindRank(y)
		}
	case Bool:
		if y, ok := b.(Bool); ok {
			if x == y {
				return 0
			}
			if !x {
				return -1
			}
			return 1
		}
	case *Fcn:
		if y, ok := b.(*Fcn); ok {
			return compareFcn(x, y)
		}
	case Set:
		if y, ok := b.(Set); ok {
			return compareSet(x, y)
		}
	}
	if isModel(a) || isModel(b) {
		return kindRank(a) - kindRank(b)
	}
	Fail("cannot compare %s with %s: %s and %s", KindName(a), KindName(b), Short(a), Short(b))
	return 0
}

func isModel(v Value) bool {
	a, ok := v.(*Atom)
	return ok && a.Model
}

// Closure is an operator passed as an argument at run time.
type Closure struct {
	Arity int
	Call  func(ctx any, args []Value) Value
}

// Hash implements Value; operators have no identity that a state could hold.
func (*Closure) Hash() uint64 { Fail("an operator is not a value"); return 0 }

// String implements Value.
func (*Closure) String() string { return "<operator>" }
