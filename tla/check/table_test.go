package check

import (
	"sync"
	"testing"

	"github.com/millrace-dev/millrace/tla/value"
)

// TestTableNumbersEachFingerprintOnce inserts the same fingerprints from several goroutines.
func TestTableNumbersEachFingerprintOnce(t *testing.T) {
	const n, workers = 20_000, 4
	tab := newTable(false)
	var mu sync.Mutex
	fresh := 0
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			mine := 0
			for i := range uint64(n) {
				if _, isNew := tab.insert(value.Mix(i), uint32(i)); isNew {
					mine++
				}
			}
			mu.Lock()
			fresh += mine
			mu.Unlock()
		})
	}
	wg.Wait()
	if fresh != n || tab.len() != n {
		t.Fatalf("%d fresh, %d numbered, expected %d", fresh, tab.len(), n)
	}
	all := tab.byNumber()
	for i := range uint64(n) {
		fp := key(value.Mix(i))
		e, ok := tab.find(fp)
		if !ok || all.get(e.id) != (row{fp, uint32(i)}) || e.pred != uint32(i) {
			t.Fatalf("fingerprint %x: row %+v, found %v", fp, all.get(e.id), ok)
		}
	}
}

// TestSymmetryGroupIsClosed: two transpositions of three values generate all six permutations.
func TestSymmetryGroupIsClosed(t *testing.T) {
	u := value.NewUniverse()
	a, b, c := u.Model("a"), u.Model("b"), u.Model("c")
	swap := func(x, y *value.Atom) map[*value.Atom]*value.Atom {
		return map[*value.Atom]*value.Atom{x: y, y: x}
	}
	group, err := closure([]map[*value.Atom]*value.Atom{swap(a, b), swap(b, c)})
	if err != nil || len(group) != 5 {
		t.Errorf("%d permutations besides the identity, %v", len(group), err)
	}
}
