package sim

import (
	"maps"
	"slices"
	"testing"
)

// TestHashesAreASet compares it with a map, with keys that collide, keys twice, and zero.
func TestHashesAreASet(t *testing.T) {
	var h hashes
	for round := range 3 {
		seen := map[uint64]struct{}{}
		for i := range uint64(1000) {
			x := i * i % 700 << (i % 3 * 20)
			seen[x] = struct{}{}
			h.add(x)
		}
		want, got := slices.Sorted(maps.Keys(seen)), h.all()
		if slices.Sort(got); !slices.Equal(want, got) {
			t.Fatalf("round %d: %d hashes, want %d", round, len(got), len(want))
		}
		if h.clear(); len(h.all()) != 0 {
			t.Fatal("not empty when cleared")
		}
	}
}
