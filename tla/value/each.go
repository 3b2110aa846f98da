package value

import "math"

// maxEnumerate bounds how far an infinite set is enumerated before it is an error.
const maxEnumerate = 10_000_000

// maxVisits bounds how many elements of a symbolic set are visited at once.
const maxVisits = 50_000_000

type visits int

func (n *visits) count() {
	if *n++; *n > maxVisits {
		Fail("more than %d elements of a set would have to be visited", maxVisits)
	}
}

// Each implements Set.
func (s *Interval) Each(f func(Value) bool) bool {
	var seen visits
	for i := s.Lo; i <= s.Hi; i++ {
		seen.count()
		if !f(MakeInt(i)) {
			return false
		}
		if i == math.MaxInt64 {
			break
		}
	}
	return true
}

// Each implements Set.
func (s *Infinite) Each(func(Value) bool) bool {
	Fail("cannot list the elements of the infinite set %s", s.Name)
	return false
}

// Each implements Set; subsets come by size, then in the order of their elements.
func (s *Powerset) Each(f func(Value) bool) bool {
	e := List(s.Of).E
	var seen visits
	for k := 0; k <= len(e); k++ {
		if !combinations(e, k, &seen, f) {
			return false
		}
	}
	return true
}

// EachOfSize calls f on the subsets with k elements until it returns false.
func (s *Powerset) EachOfSize(k int, f func(Value) bool) bool {
	e := List(s.Of).E
	if k < 0 || k > len(e) {
		return true
	}
	var seen visits
	return combinations(e, k, &seen, f)
}

func combinations(e []Value, k int, seen *visits, f func(Value) bool) bool {
	idx := make([]int, k)
	for i := range idx {
		idx[i] = i
	}
	for {
		seen.count()
		sub := make([]Value, k)
		for i, j := range idx {
			sub[i] = e[j]
		}
		if !f(NewSorted(sub)) {
			return false
		}
		i := k - 1
		for i >= 0 && idx[i] == len(e)-k+i {
			i--
		}
		if i < 0 {
			return true
		}
		idx[i]++
		for j := i + 1; j < k; j++ {
			idx[j] = idx[j-1] + 1
		}
	}
}

// odometer visits every choice of one element of each list, the last list varying fastest.
func odometer(lists [][]Value, f func([]Value) bool) bool {
	var seen visits
	cur := make([]int, len(lists))
	for _, l := range lists {
		if len(l) == 0 {
			return true
		}
	}
	for {
		seen.count()
		vals := make([]Value, len(lists))
		for i, j := range cur {
			vals[i] = lists[i][j]
		}
		if !f(vals) {
			return false
		}
		i := len(cur) - 1
		for i >= 0 {
			if cur[i]++; cur[i] < len(lists[i]) {
				break
			}
			cur[i] = 0
			i--
		}
		if i < 0 {
			return true
		}
	}
}

// Each implements Set.
func (s *Functions) Each(f func(Value) bool) bool {
	keys := List(s.Dom)
	if len(keys.E) == 0 {
		return f(Empty)
	}
	rng := List(s.Rng).E
	lists := make([][]Value, len(keys.E))
	for i := range lists {
		lists[i] = rng
	}
	dom := keys.domain()
	return odometer(lists, func(vals []Value) bool { return f(NewFcn(dom, vals)) })
}

func listAll(sets []Set) [][]Value {
	lists := make([][]Value, len(sets))
	for i, x := range sets {
		lists[i] = List(x).E
	}
	return lists
}

// Each implements Set.
func (s *Records) Each(f func(Value) bool) bool {
	return odometer(listAll(s.Sets), func(vals []Value) bool { return f(NewFcn(s.Dom, vals)) })
}

// Each implements Set.
func (s *Product) Each(f func(Value) bool) bool {
	return odometer(listAll(s.Sets), func(vals []Value) bool { return f(NewTuple(vals)) })
}

// Each implements Set.
func (s *Sequences) Each(f func(Value) bool) bool {
	if s.Of.Len() == 0 {
		return f(Empty)
	}
	Fail("cannot list the elements of the infinite set %s", Describe(s))
	return false
}

// Each implements Set.
func (s *Combined) Each(f func(Value) bool) bool {
	if s.Op == "\\cap" && s.X.Len() >= 0 {
		return s.X.Each(func(v Value) bool { return !s.Y.Contains(v) || f(v) })
	}
	Fail("cannot list the elements of the infinite set %s", Describe(s))
	return false
}

// Each implements Set.
func (s *Filter) Each(f func(Value) bool) bool {
	n := 0
	return s.Base.Each(func(v Value) bool {
		if n++; n > maxEnumerate {
			Fail("cannot list the elements of %s: more than %d candidates", Describe(s), maxEnumerate)
		}
		return !s.P(v) || f(v)
	})
}
