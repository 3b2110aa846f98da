package pebble_test

import (
	"fmt"
	"testing"

	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/core/store/pebble/crashfs"
	"github.com/millrace-dev/millrace/core/store/step"
)

// wave is how many rows one transaction of TestSurveys writes: more than a survey reads before a store is open.
const wave = 12_000

func waveKey(n, i int) []byte { return fmt.Appendf(nil, "z%d/%05d", n, i) }

// writeWave writes the rows of a wave and deletes those of the one before.
func writeWave(e *pebble.Engine, n int) error {
	_, err := e.Update(nil, "wave", false, func(tx step.Tx) error {
		for i := range wave {
			tx.Set(waveKey(n, i), []byte{1})
			tx.Delete(waveKey(n-1, i))
		}
		return nil
	})
	return err
}

// shows fails unless exactly the rows of the last wave are there, by key.
func shows(t *testing.T, e *pebble.Engine, last int) {
	t.Helper()
	_, err := e.Glance(nil, "glance", func(r step.Reader) error {
		for n := range last + 2 {
			for i := range wave {
				if _, there, err := r.Get(waveKey(n, i)); err != nil || there != (n == last) {
					return fmt.Errorf("row %s after wave %d: %t, %w", waveKey(n, i), last, there, err)
				}
			}
		}
		return nil
	})
	ok(t, err)
}

// A set that has seen many keys come and go is made again from those that are there, also when the store is opened, and however far
// that is no row is lost.
func TestSurveys(t *testing.T) {
	const waves = 6
	o := pebble.Options{Dir: "/data", FS: crashfs.New(), FilterBytes: 64 << 10}
	_, e := open(t, o)
	for n := range waves {
		ok(t, writeWave(e, n))
	}
	shows(t, e, waves-1)
	if n := e.Surveyed(); n > 3*wave {
		t.Errorf("%d keys are taken for present, %d are", n, wave)
	}
	shows(t, e, waves-1)
	ok(t, e.Close())
	_, e = open(t, o)
	ok(t, writeWave(e, waves))
	shows(t, e, waves)
	if n := e.Surveyed(); n < wave || n > 3*wave {
		t.Errorf("after the restart %d keys are taken for present, %d are", n, wave)
	}
	shows(t, e, waves)
	ok(t, e.Close())
}

// A store may be closed while the survey of its keys is under way.
func TestCloseDuringSurvey(t *testing.T) {
	o := pebble.Options{Dir: "/data", FS: crashfs.New()}
	_, e := open(t, o)
	ok(t, writeWave(e, 1))
	ok(t, e.Close())
	for range 20 {
		_, e = open(t, o)
		ok(t, e.Close())
	}
}
