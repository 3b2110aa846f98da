package pebble_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/core/store/pebble/crashfs"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// shelf is an engine that remembers little, beside maps of what is to be seen and of what was written: rows of one byte value. Keys
// with z are written, and sometimes held; those with y are only held.
type shelf struct {
	outer  *testing.T
	engine *pebble.Engine
	disk   *crashfs.FS
	want   map[string][]byte // seen, but for those that are nil
	kept   map[string][]byte // what a restart leaves of it
	n      byte
}

const shelfKeys = 12

func (s *shelf) open() {
	_, e, err := pebble.Open(nil, pebble.Options{Dir: "/data", FS: s.disk, RowBytes: 64 << 10, FilterBytes: 64 << 10})
	ok(s.outer, err)
	s.engine = e
}

// restart leaves what was written. It is rare: what is remembered must have time to grow old.
func (s *shelf) restart(t *rapid.T) {
	if rapid.IntRange(0, 9).Draw(t, "restarts") > 0 {
		s.glance(t)
		return
	}
	ok(s.outer, s.engine.Close())
	s.open()
	s.want = maps.Clone(s.kept)
}

// survey reads all keys again while rows are written.
func (s *shelf) survey(t *rapid.T) {
	if rapid.Bool().Draw(t, "surveys") {
		ok(s.outer, s.engine.Survey(func() { s.update(t) }))
	}
	s.glance(t)
}

func (s *shelf) key(t *rapid.T) string {
	return shelfKey(rapid.SampledFrom([]string{"z", "z", "z", "y"}).Draw(t, "kind"), rapid.IntRange(0, shelfKeys-1).Draw(t, "key"))
}

func shelfKey(kind string, n int) string { return fmt.Sprintf("%s%02d", kind, n) }

func (s *shelf) value(t *rapid.T) []byte {
	s.n++
	return bytes.Repeat([]byte{s.n}, rapid.SampledFrom([]int{1, 20_000, 200_000}).Draw(t, "bytes"))
}

// update reads some rows, writes some, and reads one that it has written: transactions read the state before their writes.
func (s *shelf) update(t *rapid.T) {
	after, holds := map[string][]byte{}, map[string]bool{}
	fails := rapid.IntRange(0, 4).Draw(t, "fails") == 0
	_, err := s.engine.Update(nil, "update", false, func(tx step.Tx) error {
		for range rapid.IntRange(1, 4).Draw(t, "operations") {
			key := s.key(t)
			if _, written := after[key]; written || rapid.IntRange(0, 2).Draw(t, "reads") == 0 {
				s.judge(t, tx, key)
				continue
			}
			after[key] = nil
			remove := rapid.Bool().Draw(t, "removes")
			if !remove {
				after[key] = s.value(t)
			}
			holds[key] = key[0] == 'y' || !remove && rapid.IntRange(0, 3).Draw(t, "holds") == 0
			write(tx, key, after[key], holds[key])
		}
		s.list(t, tx)
		if fails {
			return errOfTest
		}
		return nil
	})
	if fails != (err != nil) {
		t.Fatalf("update that fails %t: %v", fails, err)
	}
	for key, value := range after { //order:each has its own place
		if !fails {
			s.want[key] = value
		}
		if !fails && !holds[key] {
			s.kept[key] = value
		}
	}
}

func write(tx step.Tx, key string, value []byte, hold bool) {
	switch {
	case hold && value == nil:
		tx.Drop([]byte(key))
	case hold:
		tx.Hold([]byte(key), value)
	case value == nil:
		tx.Delete([]byte(key))
	default:
		tx.Set([]byte(key), value)
	}
}

var errOfTest = errors.New("refused by the test")

func (s *shelf) glance(t *rapid.T) {
	_, err := s.engine.Glance(nil, "glance", func(r step.Reader) error {
		for range 6 {
			s.judge(t, r, s.key(t))
		}
		return nil
	})
	ok(s.outer, err)
}

// judge compares a row with what was written.
func (s *shelf) judge(t *rapid.T, r step.Reader, key string) {
	value, there, err := r.Get([]byte(key))
	ok(s.outer, err)
	if want := s.want[key]; there != (want != nil) || !bytes.Equal(value, want) {
		inventory.Violated(s.outer, t, "S1.P5", "row %s: %d bytes of %v are found, %d of %v are there", key, len(value), first(value), len(want), first(want))
	}
}

func first(b []byte) []byte { return b[:min(1, len(b))] }

// all reads the rows of a view.
func (s *shelf) all(t *rapid.T) {
	_, err := s.engine.View(nil, "all", func(v step.View) error {
		for i := range shelfKeys {
			s.judge(t, v, shelfKey("y", i))
			s.judge(t, v, shelfKey("z", i))
		}
		s.list(t, v)
		return nil
	})
	ok(s.outer, err)
}

// list compares a range of rows with what was written.
func (s *shelf) list(t *rapid.T, v step.View) {
	lower, upper := s.key(t), s.key(t)
	var want, got []string
	for key, value := range s.want { //order:sorted below
		if value != nil && lower <= key && key < upper {
			want = append(want, fmt.Sprint(key, len(value), first(value)))
		}
	}
	slices.Sort(want)
	ok(s.outer, v.Scan([]byte(lower), []byte(max(lower, upper)), func(key, value []byte) (bool, error) {
		got = append(got, fmt.Sprint(string(key), len(value), first(value)))
		return true, nil
	}))
	if !slices.Equal(got, want) {
		inventory.Violated(s.outer, t, "S1.P5", "rows from %s to %s: %v are listed, %v are there", lower, upper, got, want)
	}
}

// What is remembered of a row is what the database has, also of one that was deleted, was never there, is too long to be
// remembered, or was forgotten for others; a row that no survey met is not there; and a held row stands before it until it is dropped, written, or the engine ends.
func TestModelS1RememberedRows(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "S1/remembered-rows-are-the-rows", func(outer *testing.T) int {
		cases := 0
		rapid.Check(outer, func(t *rapid.T) {
			cases++
			s := &shelf{outer: outer, disk: crashfs.New(), want: map[string][]byte{}, kept: map[string][]byte{}}
			s.open()
			defer func() { ok(outer, s.engine.Close()) }()
			t.Repeat(map[string]func(*rapid.T){"update": s.update, "more": s.update, "glance": s.glance, "all": s.all, "restart": s.restart, "survey": s.survey})
		})
		return cases
	})
}
