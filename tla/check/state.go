package check

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

// fingerprint hashes a state; with symmetry the smallest hash among its permutations, with a view
// the hash of the view.
func (s *search) fingerprint(c *eval.Ctx, vals []value.Value) (uint64, error) {
	if s.m.view != nil {
		cur := c.Cur
		c.Cur = vals
		v, err := s.m.view.Eval(c)
		c.Cur = cur
		if err != nil {
			return 0, err
		}
		return value.Mix(v.Hash()), nil
	}
	return s.smallest(hashState(vals), vals), nil
}

// smallest returns the least of the hash of a state and those of its permutations.
func (s *search) smallest(h uint64, vals []value.Value) uint64 {
	for _, p := range s.m.perms {
		h = min(h, p.hashState(vals))
	}
	return h
}

func hashState(vals []value.Value) uint64 {
	var h uint64
	for i, v := range vals {
		h += mixVar(i, v.Hash())
	}
	return h
}

func mixVar(i int, h uint64) uint64 {
	return value.Mix(bits.RotateLeft64(h, i&63) + uint64(i)*0x9e3779b97f4a7c15)
}

// permuter applies one permutation of model values.
type permuter struct{ images value.Images }

// maxSymmetry bounds the number of permutations.
const maxSymmetry = 50_000

// permuters turns a set of permutations into the group they generate, without the identity.
func permuters(v value.Value) ([]*permuter, error) {
	set, ok := v.(value.Set)
	if !ok {
		return nil, errors.New("expected a set of permutations")
	}
	var gens []map[*value.Atom]*value.Atom
	for _, f := range value.List(set).E {
		fcn, ok := f.(*value.Fcn)
		if !ok {
			return nil, fmt.Errorf("expected a permutation, found %s", value.Short(f))
		}
		m := map[*value.Atom]*value.Atom{}
		for i, x := range fcn.Vals {
			a, ok1 := fcn.Key(i).(*value.Atom)
			b, ok2 := x.(*value.Atom)
			if !ok1 || !ok2 {
				return nil, fmt.Errorf("expected a permutation of model values, found %s", value.Short(f))
			}
			if a != b {
				m[a] = b
			}
		}
		gens = append(gens, m)
	}
	return closure(gens)
}

func permKey(m map[*value.Atom]*value.Atom) uint64 {
	var h uint64
	for a, b := range m {
		h += value.Mix(a.Hash()*3 + bits.RotateLeft64(b.Hash(), 7))
	}
	return h
}

// closure returns the group that gens generate, without the identity. A generator that the group of those
// before it contains adds nothing, so few are used: each doubles the group at least.
func closure(gens []map[*value.Atom]*value.Atom) ([]*permuter, error) {
	var used []map[*value.Atom]*value.Atom
	group := []map[*value.Atom]*value.Atom{{}}
	seen := map[uint64]bool{permKey(group[0]): true}
	for _, g := range gens {
		if seen[permKey(g)] {
			continue
		}
		used = append(used, g)
		// Every element is multiplied by every generator again: old ones by the new one, new ones by all.
		for i := 0; i < len(group); i++ {
			for _, u := range used {
				n := compose(group[i], u)
				if k := permKey(n); !seen[k] {
					seen[k] = true
					group = append(group, n)
				}
			}
			if len(group) > maxSymmetry {
				return nil, fmt.Errorf("more than %d permutations", maxSymmetry)
			}
		}
	}
	var out []*permuter
	for _, m := range group[1:] {
		out = append(out, &permuter{value.NewImages(m)})
	}
	return out, nil
}

func compose(m, g map[*value.Atom]*value.Atom) map[*value.Atom]*value.Atom {
	n := map[*value.Atom]*value.Atom{}
	image := func(p map[*value.Atom]*value.Atom, a *value.Atom) *value.Atom {
		if b, ok := p[a]; ok {
			return b
		}
		return a
	}
	for _, p := range []map[*value.Atom]*value.Atom{m, g} {
		for a := range p {
			if b := image(g, image(m, a)); b != a {
				n[a] = b
			}
		}
	}
	return n
}

func (p *permuter) hashState(vals []value.Value) uint64 {
	var h uint64
	for i, v := range vals {
		h += mixVar(i, value.HashRenamed(v, p.images))
	}
	return h
}

// rng is a small generator whose sequence depends on its seed alone.
type rng struct{ x uint64 }

func (r *rng) next() uint64 {
	r.x += 0x9e3779b97f4a7c15
	return value.Mix(r.x)
}

func (r *rng) intn(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}
