package sim

import "math/bits"

// strategy chooses who goes on and which data comes up. It sees candidates by index; their order depends
// on the schedule alone, so a strategy with the same seed makes the same choices.
type strategy interface {
	// begin starts an execution.
	begin(w *World, seed uint64)
	// pick returns the index of one of n candidates, or -1 to end the execution without a verdict.
	pick(w *World, n int) int
	// draw returns a value below n, or any value when n is 0.
	draw(w *World, n uint64) uint64
}

// rng is splitmix64: small, fast, and the same on every machine.
type rng struct{ s uint64 }

func (r *rng) next() uint64 {
	r.s += 0x9E3779B97F4A7C15
	z := r.s
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func (r *rng) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

func (r *rng) draw(n uint64) uint64 {
	if n == 0 {
		return r.next()
	}
	hi, _ := bits.Mul64(r.next(), n)
	return hi
}

// derive makes the seed of one execution from the seed of its check, the strategy's name and its index: results
// do not depend on which core ran it.
func derive(seed uint64, name string, index int) uint64 {
	h := seed
	for i := range len(name) {
		h = mix(h, uint64(name[i]), uint64(i))
	}
	return mix(h, uint64(index), 0x51ED270B)
}
