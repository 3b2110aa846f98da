package value

// Images gives the hash of the image of each atom under a renaming, by the atom's order; zero stands
// for an atom that keeps its name.
type Images []uint64

// NewImages prepares a renaming of model values.
func NewImages(m map[*Atom]*Atom) Images {
	n := 0
	for a := range m {
		n = max(n, a.Order+1)
	}
	im := make(Images, n)
	for a, b := range m {
		im[a.Order] = b.hash
	}
	return im
}

// HashRenamed returns the hash that v would have if its model values were renamed. Because hashes of
// sets and functions are sums over their elements, nothing needs to be built or sorted.
func HashRenamed(v Value, im Images) uint64 {
	switch x := v.(type) {
	case *Atom:
		if x.Model && x.Order < len(im) && im[x.Order] != 0 {
			return im[x.Order]
		}
		return x.hash
	case *Elems:
		var sum uint64
		for _, e := range x.E {
			sum += Mix(HashRenamed(e, im) + elemSeed)
		}
		return Mix(sum ^ setSeed)
	case *Fcn:
		var sum uint64
		for i, e := range x.Vals {
			if x.Dom == nil {
				sum += pairHash(Int(i+1).Hash(), HashRenamed(e, im))
				continue
			}
			sum += pairHash(HashRenamed(x.Dom.Keys[i], im), HashRenamed(e, im))
		}
		return Mix(sum ^ fcnSeed)
	}
	return v.Hash()
}
