package pebble

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
	"github.com/millrace-dev/millrace/core/store/step"
)

// rows remembers rows that were read by key, also that there is none, so that a step finds in memory what the requests before it
// have read or written: the library looks for a key in every level, and a step asks for the same few again and again.
//
// It belongs to the commit section: whoever reads or changes it holds that. So a row that is remembered is the newest one, and
// reading it needs no snapshot.
//
// Invariants: a remembered row is what the database has. No more than twice the limit is remembered. A row that is held stands before
// both; see holding.
//
// A key enters when it is read. A commit changes the keys that are known and adds none: most of what a step writes (records,
// expiries, the outbox) is never asked for by key.
//
// Why two maps and not a list by use: to forget is to drop the older map, and to keep what is used is to find it in the older and
// put it into the younger one. A list would be changed by every read.
type rows struct {
	db         *pebble.DB
	limit      int64
	young, old map[string]row
	size       int64 // of young, in bytes
	held       *holding
	present    present
}

// row is what is remembered of a key.
type row struct {
	value []byte
	there bool
}

const (
	rowOverhead = 128       // bytes that an entry takes beside its key and value
	maxRow      = 128 * kib // a longer value is read again
)

func newRows(db *pebble.DB, limit, filter int64) *rows {
	return &rows{db: db, limit: limit, young: map[string]row{}, held: newHolding(), present: present{bytes: filter}}
}

var _ step.Reader = (*rows)(nil)

// Get implements step.Reader. The caller holds the commit section, and must not change the value.
func (r *rows) Get(key []byte) ([]byte, bool, error) {
	if value, ok := r.held.rows[string(key)]; ok {
		return value, true, nil
	}
	if known, ok := r.find(key); ok {
		return known.value, known.there, nil
	}
	if r.present.lacks(key) {
		r.put(key, row{})
		return nil, false, nil
	}
	value, there, err := get(r.db, key)
	if err == nil {
		r.put(key, row{value, there})
	}
	return value, there, err
}

// find looks in both maps, and keeps what it finds in the younger one.
func (r *rows) find(key []byte) (row, bool) {
	if known, ok := r.young[string(key)]; ok {
		return known, true
	}
	known, ok := r.old[string(key)]
	if ok {
		r.put(key, known)
	}
	return known, ok
}

func (r *rows) put(key []byte, known row) {
	if len(known.value) > maxRow {
		delete(r.young, string(key))
		delete(r.old, string(key))
		return
	}
	if r.size >= r.limit {
		r.young, r.old, r.size = make(map[string]row, len(r.young)), r.young, 0
	}
	r.young[string(key)] = known
	r.size += int64(len(key)+len(known.value)) + rowOverhead
}

// follow brings the rows that are known up to date with a batch; what is written is held no more. It is called before the batch is
// handed over, within the section and the turn: when that fails the engine halts, and nothing is read any more.
func (r *rows) follow(batch *pebble.Batch) error {
	for reader := batch.Reader(); ; {
		kind, key, value, more, err := reader.Next()
		if err != nil || !more {
			return err
		}
		delete(r.held.rows, string(key))
		if kind == pebble.InternalKeyKindSet {
			r.present.add(key)
		}
		if _, ok := r.find(key); !ok {
			continue
		}
		switch kind {
		case pebble.InternalKeyKindSet:
			r.put(key, row{append([]byte(nil), value...), true})
		case pebble.InternalKeyKindDelete:
			r.put(key, row{})
		default:
			return errors.New("a batch has an operation that the engine does not write")
		}
	}
}
