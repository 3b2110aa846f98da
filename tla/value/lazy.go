package value

// Lazy is a function whose values are computed when it is applied: a recursive function or one with
// an infinite domain.
type Lazy struct {
	Dom Set
	// At computes the value at an element of the domain; ctx is the evaluation in progress.
	At func(ctx any, arg Value) Value
	// Shared marks a function that several goroutines use; Listed keeps the listing of one that only
	// one goroutine uses.
	Shared bool
	Listed *Fcn
}

// Hash implements Value; a function that cannot be listed has no hash.
func (f *Lazy) Hash() uint64 {
	Fail("cannot list the function with the domain %s", Describe(f.Dom))
	return 0
}

// String implements Value.
func (f *Lazy) String() string { return "[x \\in " + Describe(f.Dom) + " |-> …]" }

// List returns the function with all its values computed.
func (f *Lazy) List(ctx any) *Fcn {
	keys := List(f.Dom)
	vals := make([]Value, len(keys.E))
	for i, k := range keys.E {
		vals[i] = f.At(ctx, k)
	}
	return Over(keys, vals)
}

// MakeFcn returns the function with sorted keys.
func MakeFcn(keys, vals []Value) *Fcn { return Over(NewSorted(keys), vals) }

// Over returns the function whose domain is s, with its values in the order of the elements.
func Over(s *Elems, vals []Value) *Fcn {
	if len(vals) == 0 {
		return Empty
	}
	if first, ok := s.E[0].(Int); ok && first == 1 {
		if last, ok := s.E[len(s.E)-1].(Int); ok && int(last) == len(s.E) {
			return &Fcn{Vals: vals}
		}
	}
	return &Fcn{Dom: s.domain(), Vals: vals}
}
