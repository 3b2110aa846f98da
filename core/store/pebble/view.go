package pebble

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
	"github.com/millrace-dev/millrace/core/store/step"
)

// view reads a snapshot, or, in the commit section, the database: nothing changes it meanwhile.
type view struct{ reader pebble.Reader }

// Get implements step.View.
func (v view) Get(key []byte) ([]byte, bool, error) { return get(v.reader, key) }

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

// Scan implements step.View.
func (v view) Scan(lower, upper []byte, f func(key, value []byte) (bool, error)) (err error) {
	it, err := v.reader.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for ok := it.First(); ok; ok = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if more, err := f(it.Key(), value); err != nil || !more {
			return err
		}
	}
	return it.Error()
}

// transaction adds writes in a batch. The batch copies its arguments and grows in memory, so it has no errors to
// report before it is applied.
type transaction struct {
	view
	rows  *rows
	batch *pebble.Batch
}

// Get implements step.Tx.
func (t transaction) Get(key []byte) ([]byte, bool, error) { return t.rows.Get(key) }

var _ step.Tx = transaction{}

// Set implements step.Tx.
func (t transaction) Set(key, value []byte) { _ = t.batch.Set(key, value, nil) }

// Delete implements step.Tx.
func (t transaction) Delete(key []byte) { _ = t.batch.Delete(key, nil) }
