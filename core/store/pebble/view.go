package pebble

import (
	"cmp"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/millrace-dev/millrace/core/store/step"
)

// view reads a snapshot, and the rows that were held when it was taken.
type view struct {
	reader pebble.Reader
	held   []held // by key
}

var _ step.View = view{}

// Get implements step.View.
func (v view) Get(key []byte) ([]byte, bool, error) {
	if at, ok := search(v.held, key); ok {
		return v.held[at].value, true, nil
	}
	return get(v.reader, key)
}

// Scan implements step.View.
func (v view) Scan(lower, upper []byte, f func(key, value []byte) (bool, error)) error {
	from, _ := search(v.held, lower)
	to, _ := search(v.held, upper)
	return scan(v.reader, v.held[from:to], lower, upper, f)
}

// get copies the value: the library would keep its block until it is closed.
func get(from pebble.Reader, key []byte) ([]byte, bool, error) {
	value, closer, err := from.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	value = append([]byte(nil), value...)
	return value, true, closer.Close()
}

// scan merges the database with held rows of the same range, which stand before it.
func scan(from pebble.Reader, held []held, lower, upper []byte, f func(key, value []byte) (bool, error)) (err error) {
	it, err := from.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok || len(held) > 0; {
		var more bool
		order := order(it, ok, held)
		if order < 0 {
			more, err = give(it, f)
		} else {
			more, err = f([]byte(held[0].key), held[0].value)
			held = held[1:]
		}
		if err != nil || !more {
			return err
		}
		if order <= 0 {
			ok = it.Next()
		}
	}
	return it.Error()
}

// order says whether the row of the database comes first, the held one, or both have the same key. One of them is there.
func order(it *pebble.Iterator, ok bool, held []held) int {
	switch {
	case !ok:
		return 1
	case len(held) == 0:
		return -1
	default:
		return cmp.Compare(string(it.Key()), held[0].key)
	}
}

// give calls f with the row at an iterator.
func give(it *pebble.Iterator, f func(key, value []byte) (bool, error)) (more bool, err error) {
	value, err := it.ValueAndErr()
	if err != nil {
		return false, err
	}
	return f(it.Key(), value)
}

// transaction reads in the commit section, where nothing changes, and adds writes in a batch. The batch copies its arguments
// and grows in memory, so it has no errors to report before it is applied.
type transaction struct {
	rows  *rows
	batch *pebble.Batch
	held  []held
}

var _ step.Tx = (*transaction)(nil)

// Get implements step.Tx.
func (t *transaction) Get(key []byte) ([]byte, bool, error) { return t.rows.Get(key) }

// Scan implements step.Tx.
func (t *transaction) Scan(lower, upper []byte, f func(key, value []byte) (bool, error)) error {
	return scan(t.rows.db, t.rows.held.within(lower, upper), lower, upper, f)
}

// Set implements step.Tx.
func (t *transaction) Set(key, value []byte) { _ = t.batch.Set(key, value, nil) }

// Delete implements step.Tx.
func (t *transaction) Delete(key []byte) { _ = t.batch.Delete(key, nil) }

// Hold implements step.Tx.
func (t *transaction) Hold(key, value []byte) {
	t.held = append(t.held, held{key: string(key), value: slices.Clone(value)})
}

// Drop implements step.Tx.
func (t *transaction) Drop(key []byte) {
	t.held = append(t.held, held{key: string(key), dropped: true})
}
