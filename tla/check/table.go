package check

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

const shardBits = 8

// table is the set of fingerprints seen, with a number and a predecessor for each. It is divided into
// shards by the upper bits of the fingerprint, each an open-addressed list. Most fingerprints that
// arrive are known; they are found without a lock. A new one is added behind the lock of its shard.
//
// An entry is written once: its number and predecessor first, then, atomically, the fingerprint that
// makes it visible. A list that grows is replaced by a copy, so a reader of the old one misses at most
// what was added since, and looks again behind the lock.
type table struct {
	shards [1 << shardBits]shard
	next   atomic.Uint32
	// live lists the rows by number while the search runs; it is kept only for a specification that
	// reads its own trace.
	live *rows
}

type entry struct {
	fp       atomic.Uint64
	id, pred uint32
}

type shard struct {
	slots atomic.Pointer[[]entry]
	mu    sync.Mutex
	n     int
	_     [32]byte // keeps neighbors off the same cache line
}

// minSlots is the size of the first list of a shard.
const minSlots = 16

func newTable(live bool) *table {
	t := &table{}
	if live {
		t.live = &rows{}
	}
	for i := range t.shards {
		slots := make([]entry, minSlots)
		t.shards[i].slots.Store(&slots)
	}
	return t
}

// key keeps zero for an empty entry.
func key(fp uint64) uint64 { return max(fp, 1) }

func (t *table) shard(fp uint64) *shard { return &t.shards[fp>>(64-shardBits)] }

// probe returns the entry that holds fp, or the empty one where it belongs.
func probe(slots []entry, fp uint64) (e *entry, found bool) {
	// The bits below those that choose the shard choose the position; the list has any length.
	hi, _ := bits.Mul64(fp<<shardBits, uint64(len(slots)))
	for i := hi; ; {
		e = &slots[i]
		switch e.fp.Load() {
		case fp:
			return e, true
		case 0:
			return e, false
		}
		if i++; i == uint64(len(slots)) {
			i = 0
		}
	}
}

// touch reads the entry where fp would be, so that it is at hand a moment later.
func (t *table) touch(fp uint64) {
	fp = key(fp)
	slots := *t.shard(fp).slots.Load()
	hi, _ := bits.Mul64(fp<<shardBits, uint64(len(slots)))
	slots[hi].fp.Load()
}

// insert adds a fingerprint; it returns its number and whether it is new.
func (t *table) insert(fp uint64, pred uint32) (id uint32, fresh bool) {
	fp = key(fp)
	s := t.shard(fp)
	if e, ok := probe(*s.slots.Load(), fp); ok {
		return e.id, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	slots := *s.slots.Load()
	e, ok := probe(slots, fp)
	if ok {
		return e.id, false
	}
	if (s.n+1)*4 > len(slots)*3 {
		slots = s.grow(slots)
		e, _ = probe(slots, fp)
	}
	s.n++
	e.id, e.pred = t.next.Add(1)-1, pred
	if t.live != nil {
		t.live.set(e.id, row{fp, pred})
	}
	e.fp.Store(fp)
	return e.id, true
}

// grow replaces the list by one half as long again; the lock is held.
func (s *shard) grow(old []entry) []entry {
	slots := make([]entry, len(old)+len(old)/2)
	for i := range old {
		if fp := old[i].fp.Load(); fp != 0 {
			e, _ := probe(slots, fp)
			e.id, e.pred = old[i].id, old[i].pred
			e.fp.Store(fp)
		}
	}
	s.slots.Store(&slots)
	return slots
}

// find returns the entry of a fingerprint.
func (t *table) find(fp uint64) (*entry, bool) {
	fp = key(fp)
	return probe(*t.shard(fp).slots.Load(), fp)
}

func (t *table) len() int { return int(t.next.Load()) }

// row is one state of the table.
type row struct {
	fp   uint64
	pred uint32
}

// rows lists states by number.
type rows struct {
	mu   sync.Mutex
	list []row
}

func (r *rows) set(id uint32, x row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for int(id) >= len(r.list) {
		r.list = append(r.list, row{})
	}
	r.list[id] = x
}

func (r *rows) get(id uint32) row {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list[id]
}

// byNumber returns the rows; unless they were kept they are collected, which no worker may disturb by
// inserting.
func (t *table) byNumber() *rows {
	if t.live != nil {
		return t.live
	}
	out := &rows{list: make([]row, t.len())}
	for i := range t.shards {
		slots := *t.shards[i].slots.Load()
		for j := range slots {
			if fp := slots[j].fp.Load(); fp != 0 {
				out.list[slots[j].id] = row{fp, slots[j].pred}
			}
		}
	}
	return out
}
