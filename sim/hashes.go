package sim

// hashes is a set of trace hashes. They are mixed already, and a short execution is hardly longer than an insertion into a map.
type hashes struct {
	slots []uint64 // a power of two, or none; 0 is an empty one
	n     int
	zero  bool // 0 is in the set
}

func (h *hashes) add(x uint64) {
	if x == 0 {
		h.zero = true
		return
	}
	if 2*h.n >= len(h.slots) {
		h.grow()
	}
	mask := uint64(len(h.slots) - 1)
	i := x & mask
	for h.slots[i] != 0 && h.slots[i] != x {
		i = (i + 1) & mask
	}
	if h.slots[i] == 0 {
		h.slots[i] = x
		h.n++
	}
}

func (h *hashes) grow() {
	old := h.slots
	h.slots, h.n = make([]uint64, max(64, 2*len(old))), 0
	for _, x := range old {
		if x != 0 {
			h.add(x)
		}
	}
}

func (h *hashes) clear() {
	clear(h.slots)
	h.n, h.zero = 0, false
}

// all lists the set, in no order.
func (h *hashes) all() []uint64 {
	list := make([]uint64, 0, h.n+1)
	for _, x := range h.slots {
		if x != 0 {
			list = append(list, x)
		}
	}
	if h.zero {
		list = append(list, 0)
	}
	return list
}
