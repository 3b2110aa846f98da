package value

import "sync"

// Both is a symbolic set that many evaluations share: membership is decided symbolically, and the list
// of its elements is made at most once. It is safe for use by several goroutines.
type Both struct {
	Set
	once sync.Once
	list *Elems
}

// Share returns s fit to be kept: sets whose membership is decided without listing them stay symbolic,
// others are listed. s is finite.
func Share(s Set) Set {
	switch s.(type) {
	case *Interval, *Powerset, *Functions, *Records, *Product:
		hashParts(s)
		return &Both{Set: s}
	case *Both:
		return s
	}
	e := List(s)
	e.Hash()
	return e
}

// hashParts computes the hashes of the listed sets that s is made of.
func hashParts(s Set) {
	switch s := s.(type) {
	case *Elems:
		s.Hash()
	case *Powerset:
		hashParts(s.Of)
	case *Functions:
		hashParts(s.Dom)
		hashParts(s.Rng)
	case *Records:
		for _, x := range s.Sets {
			hashParts(x)
		}
	case *Product:
		for _, x := range s.Sets {
			hashParts(x)
		}
	default:
		// Intervals and infinite sets have no parts; what is decided by a predicate is not listed here.
	}
}

// Elems returns the listed set.
func (s *Both) Elems() *Elems {
	s.once.Do(func() {
		s.list = List(s.Set)
		s.list.Hash()
	})
	return s.list
}

// Hash implements Value.
func (s *Both) Hash() uint64 { return s.Elems().Hash() }

// Each implements Set.
func (s *Both) Each(f func(Value) bool) bool { return s.Elems().Each(f) }

// symbolic returns the set that s shares, or s.
func symbolic(s Set) Set {
	if b, ok := s.(*Both); ok {
		return b.Set
	}
	return s
}
