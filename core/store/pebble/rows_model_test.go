package pebble_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/core/store/pebble/crashfs"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// shelf is an engine that remembers little, beside a map of what was written: each row is a generation and some bytes.
type shelf struct {
	outer  *testing.T
	engine *pebble.Engine
	want   map[string][]byte
	n      byte
}

func (s *shelf) key(t *rapid.T) string {
	return fmt.Sprintf("z%02d", rapid.IntRange(0, 11).Draw(t, "key"))
}

// update reads some rows, writes some, and reads one that it has written: transactions read the state before their writes.
func (s *shelf) update(t *rapid.T) {
	after := map[string][]byte{}
	fails := rapid.IntRange(0, 4).Draw(t, "fails") == 0
	_, err := s.engine.Update(nil, "update", false, func(tx step.Tx) error {
		for range rapid.IntRange(1, 4).Draw(t, "operations") {
			key := s.key(t)
			switch rapid.IntRange(0, 2).Draw(t, "operation") {
			case 0:
				s.judge(t, tx, key)
			case 1:
				tx.Delete([]byte(key))
				after[key] = nil
			default:
				s.n++
				after[key] = bytes.Repeat([]byte{s.n}, rapid.SampledFrom([]int{1, 20_000, 200_000}).Draw(t, "bytes"))
				tx.Set([]byte(key), after[key])
			}
		}
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
	}
}

var errOfTest = fmt.Errorf("refused by the test")

func (s *shelf) glance(t *rapid.T) {
	_, err := s.engine.Glance(nil, "glance", func(r step.Reader) error {
		for range 3 {
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
		inventory.Violated(s.outer, t, "S1.P5", "row %s: %d bytes of %v are remembered, %d of %v are there", key, len(value), first(value), len(want), first(want))
	}
}

func first(b []byte) []byte { return b[:min(1, len(b))] }

// all reads the rows of a snapshot.
func (s *shelf) all(t *rapid.T) {
	_, err := s.engine.View(nil, "all", func(v step.View) error {
		for i := range 12 {
			s.judge(t, v, fmt.Sprintf("z%02d", i))
		}
		return nil
	})
	ok(s.outer, err)
}

// What is remembered of a row is what the database has, also of one that was deleted, was never there, is too long to be
// remembered, or was forgotten for others.
func TestModelS1RememberedRows(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "S1/remembered-rows-are-the-rows", func(outer *testing.T) int {
		cases := 0
		rapid.Check(outer, func(t *rapid.T) {
			cases++
			_, e, err := pebble.Open(nil, pebble.Options{Dir: "/data", FS: crashfs.New(), RowBytes: 64 << 10})
			ok(outer, err)
			defer func() { ok(outer, e.Close()) }()
			s := &shelf{outer: outer, engine: e, want: map[string][]byte{}}
			t.Repeat(map[string]func(*rapid.T){"update": s.update, "glance": s.glance, "all": s.all})
		})
		return cases
	})
}
