package pebble

import "hash/maphash"

// keySet is a set of keys that may also claim to have one that it does not: a Bloom filter whose bits of one key share a
// cache line. It answers most questions for rows that are not there, which a delivery asks a handful of: the library would look for
// each in every table in memory.
type keySet struct {
	seed  maphash.Seed
	lines [][8]uint64
	added int // keys since it was made, some more than once
}

const (
	keyBits    = 10 // bits of a set for each key that it is made for
	probes     = 6
	probeShift = 9 // a line has 512 bits
)

func newKeySet(bytes int64) *keySet {
	return &keySet{seed: maphash.MakeSeed(), lines: make([][8]uint64, max(1, bytes/64))}
}

// room is how many keys the set is made for. With more of them it claims to have more and more that it does not.
func (k *keySet) room() int { return len(k.lines) * 512 / keyBits }

// hash is all that the set keeps apart of a key.
func (k *keySet) hash(key []byte) uint64 { return maphash.Bytes(k.seed, key) }

// line returns the line of a key with that hash, and the places of its bits.
func (k *keySet) line(h uint64) (*[8]uint64, uint64) {
	return &k.lines[(h>>32)*uint64(len(k.lines))>>32], h * 0x9E3779B97F4A7C15
}

func (k *keySet) add(h uint64) {
	line, bits := k.line(h)
	for range probes {
		line[bits>>6&7] |= 1 << (bits & 63)
		bits >>= probeShift
	}
	k.added++
}

func (k *keySet) has(key []byte) bool {
	line, bits := k.line(k.hash(key))
	for range probes {
		if line[bits>>6&7]&(1<<(bits&63)) == 0 {
			return false
		}
		bits >>= probeShift
	}
	return true
}

// present knows which keys the database has. It belongs to the commit section, like rows.
//
// Invariant: every key of the database is in known, when there is one.
//
// Keys that are deleted stay in the set, so that another survey reads what there is when as many keys were added as the set is made
// for. Meanwhile the old set answers.
type present struct {
	bytes  int64
	known  *keySet // nil before the first survey
	coming *keySet // of the survey under way, or nil
	limit  int     // of the keys that were added to known, for the next survey
}

// lacks reports that the database surely has no such key.
func (p *present) lacks(key []byte) bool { return p.known != nil && !p.known.has(key) }

// add follows a commit.
func (p *present) add(key []byte) {
	if p.known != nil {
		p.known.add(p.known.hash(key))
	}
	if p.coming != nil {
		p.coming.add(p.coming.hash(key))
	}
}

// due reports that it is time for a survey.
func (p *present) due() bool { return p.known != nil && p.coming == nil && p.known.added >= p.limit }

// later puts the next survey off by as many keys as a set is made for.
func (p *present) later() {
	if p.known != nil {
		p.limit = p.known.added + p.known.room()
	}
}
