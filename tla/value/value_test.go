package value_test

import (
	"testing"

	"github.com/millrace-dev/millrace/tla/value"
	"pgregory.net/rapid"
)

// draw makes a value of bounded depth from two strings, two model values and small numbers.
func draw(t *rapid.T, u *value.Universe, depth int) value.Value {
	kind := rapid.IntRange(0, 2).Draw(t, "kind")
	if depth == 0 {
		return []value.Value{u.Str("a"), u.Str("b"), u.Model("m"), u.Model("n")}[rapid.IntRange(0, 3).Draw(t, "atom")]
	}
	n := rapid.IntRange(0, 3).Draw(t, "size")
	elems := make([]value.Value, n)
	for i := range elems {
		elems[i] = draw(t, u, depth-1)
	}
	switch kind {
	case 0:
		return value.NewTuple(elems)
	case 1:
		return value.NewSet(elems)
	}
	keys := value.NewSet([]value.Value{u.Str("k"), u.Str("l"), u.Model("m")}).E[:min(n, 3)]
	return value.MakeFcn(keys, elems[:len(keys)])
}

// TestModelHashFollowsEquality: equal values have equal hashes, the order is total and agrees with
// equality, and renaming without effect changes no hash.
func TestHashFollowsEquality(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := value.NewUniverse()
		a, b := draw2(t, u)
		c := value.Compare(a, b)
		if (c == 0) != value.Equal(a, b) {
			t.Fatalf("%s and %s: compare %d, equal %v", a, b, c, value.Equal(a, b))
		}
		if (a.Hash() == b.Hash()) != value.Equal(a, b) {
			t.Fatalf("%s and %s: hashes %x and %x", a, b, a.Hash(), b.Hash())
		}
		if d := value.Compare(b, a); (c < 0) != (d > 0) {
			t.Fatalf("%s and %s: order is not antisymmetric", a, b)
		}
		if value.HashRenamed(a, value.NewImages(nil)) != a.Hash() {
			t.Fatalf("%s: renaming nothing changes the hash", a)
		}
	})
}

// draw2 draws two values of the same kind, so that they are comparable.
func draw2(t *rapid.T, u *value.Universe) (a, b value.Value) {
	var x, y []value.Value
	for range rapid.IntRange(0, 3).Draw(t, "n") {
		x = append(x, value.NewSet([]value.Value{draw(t, u, 0), draw(t, u, 0)}))
	}
	for range rapid.IntRange(0, 3).Draw(t, "m") {
		y = append(y, value.NewSet([]value.Value{draw(t, u, 0), draw(t, u, 0)}))
	}
	if rapid.Bool().Draw(t, "tuple") {
		return value.NewTuple(x), value.NewTuple(y)
	}
	return value.NewSet(x), value.NewSet(y)
}

// TestModelIncrementalHash: updates of sets and functions keep the hash that building anew gives.
func TestIncrementalHashIsTheWholeHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := value.NewUniverse()
		set, seq := value.EmptySet, value.Empty
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			v := draw(t, u, 0)
			switch rapid.IntRange(0, 3).Draw(t, "op") {
			case 0:
				set = set.Add(v)
			case 1:
				set = set.Remove(v)
			case 2:
				seq = seq.Append(v)
			case 3:
				if len(seq.Vals) > 0 {
					seq = seq.With(rapid.IntRange(0, len(seq.Vals)-1).Draw(t, "at"), v)
				}
			}
			set.Hash()
			seq.Hash()
		}
		if fresh := value.NewSet(append([]value.Value(nil), set.E...)); fresh.Hash() != set.Hash() {
			t.Fatalf("set %s: hash %x, anew %x", set, set.Hash(), fresh.Hash())
		}
		if fresh := value.NewTuple(append([]value.Value(nil), seq.Vals...)); fresh.Hash() != seq.Hash() {
			t.Fatalf("sequence %s: hash %x, anew %x", seq, seq.Hash(), fresh.Hash())
		}
	})
}

// TestSymbolicSetsEqualTheirListing: a symbolic set contains, counts and hashes like its elements.
func TestSymbolicSetsEqualTheirListing(t *testing.T) {
	u := value.NewUniverse()
	ab := value.NewSet([]value.Value{u.Str("a"), u.Str("b")})
	for _, s := range []value.Set{
		value.NewInterval(1, 3), &value.Powerset{Of: ab}, &value.Functions{Dom: ab, Rng: value.NewInterval(0, 1)},
		&value.Product{Sets: []value.Set{ab, ab}}, &value.Records{Dom: value.NewDomain(ab.E), Sets: []value.Set{ab, ab}},
	} {
		list := value.List(s)
		if list.Len() != s.Len() || list.Hash() != s.Hash() || !value.Equal(list, s) {
			t.Errorf("%s: %d elements listed of %d", value.Describe(s), list.Len(), s.Len())
		}
		for _, v := range list.E {
			if !s.Contains(v) {
				t.Errorf("%s does not contain %s", value.Describe(s), v)
			}
		}
	}
}

// TestPendingIsWhatWouldBeMade: a value that waits to be made has the hash of the one that it becomes, and that is the one made
// at once.
func TestPendingIsWhatWouldBeMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := value.NewUniverse()
		var elems []value.Value
		for range rapid.IntRange(1, 4).Draw(t, "n") {
			elems = append(elems, draw(t, u, 0))
		}
		v := draw(t, u, 0)
		s := value.NewSet(append([]value.Value(nil), elems...))
		f := value.MakeFcn(s.E, append([]value.Value(nil), s.E...))
		i := rapid.IntRange(0, len(s.E)-1).Draw(t, "i")
		var p value.Pending
		for _, c := range []struct{ late, now value.Value }{
			{p.Add(s, v), s.Add(v)}, {(&value.Pending{}).Remove(s, v), s.Remove(v)}, {(&value.Pending{}).Replace(f, i, v), f.With(i, v)},
		} {
			if c.late.Hash() != c.now.Hash() {
				t.Fatalf("%s: hash %x before it is made and %x after", c.now, c.late.Hash(), c.now.Hash())
			}
			made := c.late
			if w, ok := made.(*value.Pending); ok {
				made = w.Make()
			}
			if !value.Equal(made, c.now) {
				t.Fatalf("made late %s, at once %s", made, c.now)
			}
		}
	})
}
