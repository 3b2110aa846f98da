package pebble_test

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/core/store/pebble/crashfs"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// pairKeys are two rows that each commit changes together: one is written, the other one held.
var pairKeys = [2][]byte{[]byte("y"), []byte("z")}

func writePair(e *pebble.Engine, n uint64) error {
	_, err := e.Update(nil, "write", false, func(tx step.Tx) error {
		value := binary.BigEndian.AppendUint64(nil, n)
		tx.Set(pairKeys[0], value)
		tx.Hold(pairKeys[1], value)
		return nil
	})
	return err
}

// readPair returns the two rows as one view shows them, by key and by range.
func readPair(e *pebble.Engine) (got [2][2]uint64, err error) {
	_, err = e.View(nil, "read", func(v step.View) error {
		for i, key := range pairKeys {
			value, _, err := v.Get(key)
			if err != nil {
				return err
			}
			got[0][i] = binary.BigEndian.Uint64(value)
		}
		return v.Scan([]byte("y"), []byte("zz"), func(key, value []byte) (bool, error) {
			got[1][key[0]-'y'] = binary.BigEndian.Uint64(value)
			return true, nil
		})
	})
	return got, err
}

// A view is taken in the middle of every commit, when what it writes is in the database and what it holds is not held yet: it shows
// both or neither.
func TestLinearS1ViewIsOfWholeCommits(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "S1/a-view-is-of-whole-commits", func(t *testing.T) int {
		const commits, yields = 30, 1000
		_, e := open(t, pebble.Options{Dir: "/data", FS: crashfs.New()})
		ok(t, writePair(e, 0))
		var views sync.WaitGroup
		var seen atomic.Int64
		var torn atomic.Pointer[string]
		e.Torn(func() {
			before := seen.Load()
			views.Go(func() {
				got, err := readPair(e)
				if n := got[0][0]; err != nil || got != [2][2]uint64{{n, n}, {n, n}} {
					text := fmt.Sprintf("rows of the pair by key and by range: %v; %v", got, err)
					torn.Store(&text)
				}
				seen.Add(1)
			})
			for n := 0; n < yields && seen.Load() == before; n++ {
				runtime.Gosched()
			}
		})
		for n := uint64(1); n <= commits; n++ {
			ok(t, writePair(e, n))
			views.Wait()
		}
		ok(t, e.Close())
		if text := torn.Load(); text != nil {
			inventory.Violated(t, t, "S1.P6", "%s", *text)
		}
		return commits
	})
}
