package value

import (
	"sync"
	"sync/atomic"
)

// Bounds of a dictionary: how many values it numbers and how many parts each may have. A model of
// millions of states repeats few values of its variables; those of a model that does not repeat them
// fill the dictionary once and cost no more.
const (
	maxWords     = 1 << 16
	maxWordParts = 32
)

// dictionary numbers small composite values, so that a waiting state is a few numbers and reading it
// back makes nothing. A value keeps its number; since values may outlive a run and enter another one,
// the number counts only if the dictionary holds that very value under it.
type dictionary struct {
	vals  atomic.Pointer[[maxWords + 1]Value]
	index atomic.Pointer[[2 * maxWords]atomic.Uint64] // the upper half of the hash, and the number
	mu    sync.Mutex
	n     atomic.Uint32 // numbers up to it are readable
	full  atomic.Bool
}

// get returns the value with a number, or nil.
func (d *dictionary) get(n uint64) Value {
	if n > uint64(d.n.Load()) {
		return nil
	}
	return d.vals.Load()[n]
}

// number returns the number of v, whose hash is h and whose number is kept in word; zero means that it
// has none.
func (d *dictionary) number(v Value, h uint64, word *uint32, parts []Value) uint32 {
	if len(parts) > maxWordParts || len(parts) == 0 {
		return 0
	}
	if n := atomic.LoadUint32(word); n > 0 && n <= d.n.Load() && d.vals.Load()[n] == v {
		return n
	}
	if n := d.lookup(v, h); n > 0 {
		atomic.StoreUint32(word, n)
		return n
	}
	if d.full.Load() {
		return 0
	}
	n := d.add(v, h, parts)
	if n > 0 {
		atomic.StoreUint32(word, n)
	}
	return n
}

func (d *dictionary) lookup(v Value, h uint64) uint32 {
	n, _ := d.search(h, func(w Value) bool { return w.Hash() == h && Identical(v, w) })
	return n
}

// pending returns the word that is the value that p would make, or nil.
func (d *dictionary) pending(p *Pending) Value {
	h := p.Hash()
	_, w := d.search(h, func(w Value) bool { return w.Hash() == h && p.is(w) })
	return w
}

// search looks among the words whose hash may be h for one that is what is looked for.
func (d *dictionary) search(h uint64, is func(Value) bool) (uint32, Value) {
	index := d.index.Load()
	if index == nil {
		return 0, nil
	}
	vals := d.vals.Load()
	for i := h % uint64(len(index)); ; i = (i + 1) % uint64(len(index)) {
		e := index[i].Load()
		if e == 0 {
			return 0, nil
		}
		if n := uint32(e); e>>32 == h>>32 && is(vals[n]) {
			return n, vals[n]
		}
	}
}

func (d *dictionary) add(v Value, h uint64, parts []Value) uint32 {
	for _, p := range parts {
		if deep(p, 1) {
			return 0
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.index.Load() == nil {
		d.vals.Store(new([maxWords + 1]Value))
		d.index.Store(new([2 * maxWords]atomic.Uint64))
	}
	if n := d.lookup(v, h); n > 0 {
		return n
	}
	if d.n.Load() == maxWords {
		d.full.Store(true)
		return 0
	}
	n := d.n.Load() + 1
	d.vals.Load()[n] = v
	d.n.Store(n)
	index := d.index.Load()
	i := h % uint64(len(index))
	for index[i].Load() != 0 {
		i = (i + 1) % uint64(len(index))
	}
	index[i].Store(h>>32<<32 | uint64(n))
	return n
}

// deep reports whether v has parts more than a few levels down or more than a dictionary keeps.
func deep(v Value, level int) bool {
	var parts []Value
	switch x := v.(type) {
	case *Fcn:
		parts = x.Vals
	case *Elems:
		parts = x.E
	default:
		return false
	}
	if level > 3 || len(parts) > maxWordParts {
		return true
	}
	for _, p := range parts {
		if deep(p, level+1) {
			return true
		}
	}
	return false
}
