package main

import (
	"hash/fnv"
	"math"
	"math/bits"
)

const (
	distinctExact = 1 << 20 // names that are kept one by one
	distinctBits  = 16      // of a hash, that choose a register of the estimate: its error is about 0.4 %
)

// traceCount counts different names in bounded memory, for runs that last for days: one by one up to a bound, from there on by
// HyperLogLog (Flajolet, Fusy, Gandouet, Meunier 2007), whose registers remember the rarest hash that each of them saw.
type traceCount struct {
	bound     int
	exact     map[uint64]struct{}
	registers []uint8 // nil as long as the count is exact
}

func newTraceCount(bound int) *traceCount {
	return &traceCount{bound: bound, exact: map[uint64]struct{}{}}
}

// add counts a name within a space of names.
func (d *traceCount) add(space, name string) {
	f := fnv.New64a()
	_, _ = f.Write([]byte(space + " " + name)) // it never fails
	h := scatter(f.Sum64())
	if d.registers != nil {
		d.note(h)
		return
	}
	if d.exact[h] = struct{}{}; len(d.exact) <= d.bound {
		return
	}
	d.registers = make([]uint8, 1<<distinctBits)
	for h := range d.exact { //order:a maximum
		d.note(h)
	}
	d.exact = nil
}

// note lets the hash's register remember how many zeros the rest of it begins with.
func (d *traceCount) note(h uint64) {
	r := &d.registers[h>>(64-distinctBits)]
	*r = max(*r, uint8(bits.LeadingZeros64(h<<distinctBits|1<<(distinctBits-1)))+1)
}

// count returns how many different names there were.
func (d *traceCount) count() int {
	if d.registers == nil {
		return len(d.exact)
	}
	m, sum := float64(len(d.registers)), 0.0
	for _, r := range d.registers {
		sum += math.Ldexp(1, -int(r))
	}
	return int(0.7213 / (1 + 1.079/m) * m * m / sum)
}

// estimated reports whether the count is an estimate by now.
func (d *traceCount) estimated() bool { return d.registers != nil }

// scatter spreads what two names differ in over all bits, which the hash itself does not.
func scatter(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
