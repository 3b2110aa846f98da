package check

import (
	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

// smallCache is the number of states whose smallest hash a worker remembers.
const smallCache = 1 << 14

// orbits finds, for one worker, the smallest hash among the permutations of a state. Most successors
// were seen before, often by the same worker shortly before; of a new one only the variables that
// differ from the state being expanded are renamed and hashed.
type orbits struct {
	perms []*permuter
	cache []orbit
	base  [][]uint64 // by permutation and variable: mixed hashes of the state being expanded
	ready bool
}

// orbit remembers the smallest hash of the state whose own hash is raw.
type orbit struct{ raw, least uint64 }

func newOrbits(perms []*permuter) *orbits { return &orbits{perms: perms} }

// forget is called when another state is expanded.
func (o *orbits) forget() { o.ready = false }

// least returns the smallest hash of the next state of c, whose own hash is raw.
func (o *orbits) least(c *eval.Ctx, raw uint64) uint64 {
	if len(o.perms) == 0 {
		return raw
	}
	if o.cache == nil {
		o.cache = make([]orbit, smallCache)
		o.base = make([][]uint64, len(o.perms))
		for i := range o.base {
			o.base[i] = make([]uint64, len(c.Cur))
		}
	}
	e := &o.cache[raw%smallCache]
	if e.raw != raw || e.least == 0 {
		*e = orbit{raw, o.search(c, raw)}
	}
	return e.least
}

func (o *orbits) search(c *eval.Ctx, raw uint64) uint64 {
	if !o.ready {
		o.ready = true
		for i, p := range o.perms {
			for j, v := range c.Cur {
				o.base[i][j] = mixVar(j, value.HashRenamed(v, p.images))
			}
		}
	}
	least := raw
	for i, p := range o.perms {
		var h uint64
		for j, v := range c.Next {
			if v == c.Cur[j] {
				h += o.base[i][j]
			} else {
				h += mixVar(j, value.HashRenamed(v, p.images))
			}
		}
		least = min(least, h)
	}
	return least
}
