package pebble

import (
	"cmp"
	"slices"
)

// holding keeps the rows that are held: those that nobody needs who comes after this process, claims and records of steps above
// all. They stand before what the database has, and the database never sees them.
//
// It belongs to the commit section, and is changed while the turn is held as well: a commit takes the turn from the first held row
// that it ends to the last that it begins, with the hand-over to the library in between, and a view takes it for its
// snapshot and its copy of the held rows. So a view sees of each commit what is written and what is held, or neither. A view does not enter
// the section for that: there it would wait for the reads of others.
//
// Invariants: a held row is there until it is dropped or its key is written. Owners bound how many there are: a lane holds the rows
// of one step.
type holding struct {
	turn chan struct{} // holds one token while nobody changes or copies rows
	rows map[string][]byte
}

// held is a row that the database does not have, or that is not held any more.
type held struct {
	key     string
	value   []byte
	dropped bool
}

func newHolding() *holding {
	h := &holding{turn: make(chan struct{}, 1), rows: map[string][]byte{}}
	h.turn <- struct{}{}
	return h
}

// follow takes and drops held rows, in the order in which a transaction did. The caller holds the section and the turn.
func (h *holding) follow(all []held) {
	for _, r := range all {
		if r.dropped {
			delete(h.rows, r.key)
		} else {
			h.rows[r.key] = r.value
		}
	}
}

// within lists the held rows with keys in [lower, upper), ascending. The caller holds the section or the turn.
func (h *holding) within(lower, upper []byte) []held {
	var all []held
	for key, value := range h.rows { //order:sorted below
		if key >= string(lower) && key < string(upper) {
			all = append(all, held{key: key, value: value})
		}
	}
	slices.SortFunc(all, func(a, b held) int { return cmp.Compare(a.key, b.key) })
	return all
}

// above is a key above all that the store writes: they begin with a letter.
var above = []byte{0xff}

// search returns the place of a key among rows in order of their keys, and whether it is there.
func search(rows []held, key []byte) (int, bool) {
	return slices.BinarySearchFunc(rows, key, func(h held, k []byte) int { return cmp.Compare(h.key, string(k)) })
}
