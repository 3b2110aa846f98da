package check

import (
	"sync"
	"sync/atomic"
)

const shardBits = 8

// table is the set of fingerprints seen, with a number and a predecessor for each. It is divided into
// shards by the upper bits of the fingerprint; each is an open-addressed table behind its own lock,
// which workers rarely contend for.
type table struct {
	shards [1 << shardBits]shard
	next   atomic.Uint32
	ids    idList
}

type entry struct {
	fp       uint64
	id, pred uint32
}

type shard struct {
	mu    sync.Mutex
	slots []entry
	n     int
	_     [24]byte // keeps neighbors off the same cache line
}

func newTable() *table { return &table{} }

// insert adds a fingerprint; it returns its number and whether it is new.
func (t *table) insert(fp uint64, pred uint32) (id uint32, fresh bool) {
	if fp == 0 {
		fp = 1
	}
	s := &t.shards[fp>>(64-shardBits)]
	s.mu.Lock()
	if (s.n+1)*4 > len(s.slots)*3 {
		s.grow()
	}
	mask := uint64(len(s.slots) - 1)
	for i := fp & mask; ; i = (i + 1) & mask {
		e := &s.slots[i]
		if e.fp == fp {
			id = e.id
			s.mu.Unlock()
			return id, false
		}
		if e.fp == 0 {
			id = t.next.Add(1) - 1
			*e = entry{fp, id, pred}
			s.n++
			s.mu.Unlock()
			t.ids.set(id, fp)
			return id, true
		}
	}
}

func (s *shard) grow() {
	size := max(64, len(s.slots)*2)
	old := s.slots
	s.slots = make([]entry, size)
	mask := uint64(size - 1)
	for _, e := range old {
		if e.fp == 0 {
			continue
		}
		i := e.fp & mask
		for s.slots[i].fp != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = e
	}
}

// find returns the entry of a fingerprint.
func (t *table) find(fp uint64) (entry, bool) {
	if fp == 0 {
		fp = 1
	}
	s := &t.shards[fp>>(64-shardBits)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.slots) == 0 {
		return entry{}, false
	}
	mask := uint64(len(s.slots) - 1)
	for i := fp & mask; ; i = (i + 1) & mask {
		switch e := s.slots[i]; e.fp {
		case fp:
			return e, true
		case 0:
			return entry{}, false
		}
	}
}

func (t *table) len() int { return int(t.next.Load()) }

const idChunk = 1 << 16

// idList maps the number of a state to its fingerprint.
type idList struct {
	mu     sync.RWMutex
	chunks []*[idChunk]uint64
}

func (l *idList) set(id uint32, fp uint64) {
	c := int(id / idChunk)
	l.mu.RLock()
	if c < len(l.chunks) {
		l.chunks[c][id%idChunk] = fp
		l.mu.RUnlock()
		return
	}
	l.mu.RUnlock()
	l.mu.Lock()
	for c >= len(l.chunks) {
		l.chunks = append(l.chunks, new([idChunk]uint64))
	}
	l.chunks[c][id%idChunk] = fp
	l.mu.Unlock()
}

func (l *idList) get(id uint32) uint64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.chunks[id/idChunk][id%idChunk]
}
