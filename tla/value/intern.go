package value

import "sync"

// maxInterned bounds how many values are interned.
const maxInterned = 1 << 16

// Interner keeps one copy of each constant, so that the same constant written in several places is one
// object and comparing it takes no look inside. It is safe for use by several goroutines.
type Interner struct {
	mu sync.Mutex
	m  map[uint64][]Value
	n  int
}

// Keep returns the kept copy of v, which is a hashed value; its parts are kept copies too.
func (in *Interner) Keep(v Value) Value {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.keep(v)
}

func (in *Interner) keep(v Value) Value {
	switch x := v.(type) {
	case *Fcn:
		if old := in.known(v); old != nil || len(x.Vals) > maxWordParts {
			return either(old, v)
		}
		if vals := in.parts(x.Vals); vals != nil {
			f := &Fcn{Dom: x.Dom, Vals: vals}
			f.Hash()
			v = f
		}
	case *Elems:
		if old := in.known(v); old != nil || len(x.E) > maxWordParts*maxWordParts {
			return either(old, v)
		}
		if e := in.parts(x.E); e != nil {
			s := &Elems{E: e}
			s.Hash()
			v = s
		}
	default:
		return v
	}
	if in.n >= maxInterned {
		return v
	}
	if in.m == nil {
		in.m = map[uint64][]Value{}
	}
	in.n++
	in.m[v.Hash()] = append(in.m[v.Hash()], v)
	return v
}

func either(old, v Value) Value {
	if old != nil {
		return old
	}
	return v
}

func (in *Interner) known(v Value) Value {
	for _, old := range in.m[v.Hash()] {
		if Identical(old, v) {
			return old
		}
	}
	return nil
}

// parts returns the parts with kept copies in place of others, or nil when nothing changes.
func (in *Interner) parts(vals []Value) []Value {
	var out []Value
	for i, p := range vals {
		k := in.keep(p)
		if k == p {
			continue
		}
		if out == nil {
			out = append(out, vals...)
		}
		out[i] = k
	}
	return out
}
