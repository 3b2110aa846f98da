package models

// DedupeKey is what a deduplicator knows of one key.
type DedupeKey struct {
	First int64
	By    int // the reservation that holds it; 0: committed
}

// Dedupe is the reference of E2: keys by name, times in any unit.
type Dedupe struct {
	Keep int64
	Keys map[string]DedupeKey
}

// NewDedupe returns an empty keyspace.
func NewDedupe(keep int64) Dedupe { return Dedupe{Keep: keep, Keys: map[string]DedupeKey{}} }

// Reserve returns whether the key is fresh, and otherwise the reservation that holds it, 0 for a committed key.
func (d *Dedupe) Reserve(now int64, key string, by int) (fresh bool, holder int) {
	k, seen := d.Keys[key]
	if seen && (k.By != 0 || k.First+d.Keep > now) {
		return false, k.By
	}
	d.Keys[key] = DedupeKey{First: now, By: by}
	return true, 0
}

// Resolve ends a reservation: its keys are committed or forgotten.
func (d *Dedupe) Resolve(by int, committed bool) {
	for key, k := range d.Keys {
		switch {
		case k.By != by:
		case committed:
			d.Keys[key] = DedupeKey{First: k.First}
		default:
			delete(d.Keys, key)
		}
	}
}

// Committed returns the keys that observers see.
func (d *Dedupe) Committed() []string {
	var keys []string
	for key, k := range d.Keys {
		if k.By == 0 {
			keys = append(keys, key)
		}
	}
	return keys
}
