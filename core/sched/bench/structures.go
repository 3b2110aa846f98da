package bench

// The operations of a structure are calls on both sides (go:noinline): whether the compiler unrolls a whole structure into a
// benchmark's loop says nothing about its users.

// Bars of structures.
const (
	structureRatio   = 1.05
	guardedRatio     = 1.15 // a mutex-guarded buffer that nobody contends for
	guardedContended = 1.05
)

func structures() []Pair {
	return []Pair{
		{Name: "treiber stack", Structure: true, MaxRatio: structureRatio, Bare: bareStackAlone, Ours: ourStackAlone},
		{Name: "treiber stack, two tasks", Tasks: true, Structure: true, MaxRatio: structureRatio, Bare: bareStackShared, Ours: ourStackShared},
		{Name: "spsc ring", Structure: true, MaxRatio: structureRatio, Bare: bareRingAlone, Ours: ourRingAlone},
		{Name: "spsc ring, two tasks", Tasks: true, Structure: true, MaxRatio: structureRatio, Bare: bareRingShared, Ours: ourRingShared},
		{Name: "guarded buffer", Structure: true, MaxRatio: guardedRatio, Bare: bareBufferAlone, Ours: ourBufferAlone},
		{Name: "guarded buffer, two tasks", Tasks: true, Structure: true, MaxRatio: guardedContended, Bare: bareBufferShared, Ours: ourBufferShared},
		{Name: "wait-group fan-in", Tasks: true, Structure: true, MaxRatio: structureRatio, Bare: bareFanIn, Ours: ourFanIn},
		{Name: "publish and observe", Structure: true, MaxRatio: structureRatio, Bare: barePublishAlone, Ours: ourPublishAlone},
		{Name: "publish and observe, two tasks", Tasks: true, Structure: true, MaxRatio: structureRatio, Bare: barePublishShared, Ours: ourPublishShared},
	}
}

const (
	ringSize    = 256 // a power of two
	ringBatch   = 16  // values that a producer has at hand, and that a consumer takes in one go
	bufferSize  = 64
	fanIn       = 8
	shareOfWork = 2048 // numbers that each task of a fan-in sums: about a microsecond
	observes    = 64   // of a published value, for each publication
)

func shares() *[fanIn][shareOfWork]uint64 {
	all := new([fanIn][shareOfWork]uint64)
	for i := range all {
		for j := range all[i] {
			all[i][j] = uint64(i * j)
		}
	}
	return all
}

func sum(v []uint64) (s uint64) {
	for _, x := range v {
		s += x
	}
	return s
}

// table is an immutable value that is published whole: where keys go.
type table struct {
	generation uint64
	routes     [64]uint64
}

// route looks a key of eight bytes up, by FNV-1a.
func (t *table) route(key uint64) uint64 {
	h := uint64(14695981039346656037)
	for range 8 {
		h = (h ^ key&255) * 1099511628211
		key >>= 8
	}
	return t.generation + t.routes[h>>58]
}
