package memory

import (
	"maps"
	"slices"

	"github.com/millrace-dev/millrace/core/store/step"
)

// table is a map in order of its keys. It is for states of simulated size: an insertion moves the keys behind it.
type table struct {
	keys   []string
	values map[string][]byte
}

func (t *table) get(key string) ([]byte, bool) {
	v, ok := t.values[key]
	return v, ok
}

func (t *table) set(key string, value []byte) {
	if t.values == nil {
		t.values = make(map[string][]byte)
	}
	if _, ok := t.values[key]; !ok {
		at, _ := slices.BinarySearch(t.keys, key)
		t.keys = slices.Insert(t.keys, at, key)
	}
	t.values[key] = value
}

func (t *table) delete(key string) {
	if _, ok := t.values[key]; !ok {
		return
	}
	at, _ := slices.BinarySearch(t.keys, key)
	t.keys = slices.Delete(t.keys, at, at+1)
	delete(t.values, key)
}

func (t *table) clone() table {
	return table{keys: slices.Clone(t.keys), values: maps.Clone(t.values)}
}

// view reads a table. The engine's lock is held for as long as it is used.
type view struct{ rows *table }

// Get implements step.View.
func (v view) Get(key []byte) ([]byte, bool, error) {
	value, ok := v.rows.get(string(key))
	return value, ok, nil
}

// Scan implements step.View.
func (v view) Scan(lower, upper []byte, f func(key, value []byte) (bool, error)) error {
	at, _ := slices.BinarySearch(v.rows.keys, string(lower))
	for ; at < len(v.rows.keys) && v.rows.keys[at] < string(upper); at++ {
		key := v.rows.keys[at]
		if more, err := f([]byte(key), v.rows.values[key]); err != nil || !more {
			return err
		}
	}
	return nil
}

type write struct {
	key    string
	value  []byte
	delete bool
}

// transaction stages writes over a view.
type transaction struct {
	view
	writes []write
	events []event
}

// event is an action of a specification that takes effect when its transaction commits.
type event struct {
	action string
	args   []any
}

// Emit implements step.Tracer.
func (x *transaction) Emit(action string, args ...any) {
	x.events = append(x.events, event{action, args})
}

var _ step.Tx = (*transaction)(nil)

// Set implements step.Tx.
func (x *transaction) Set(key, value []byte) {
	x.writes = append(x.writes, write{key: string(key), value: slices.Clone(value)})
}

// Hold implements step.Tx: the simulated store outlives those who use it, so it keeps what they hold.
func (x *transaction) Hold(key, value []byte) { x.Set(key, value) }

// Drop implements step.Tx.
func (x *transaction) Drop(key []byte) { x.Delete(key) }

// Delete implements step.Tx.
func (x *transaction) Delete(key []byte) {
	x.writes = append(x.writes, write{key: string(key), delete: true})
}
