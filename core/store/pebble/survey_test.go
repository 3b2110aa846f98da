package pebble_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/core/store/pebble/crashfs"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim/inventory"
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

// heavy is how many rows of two kilobytes are more than the smallest cache holds.
const heavy = 2000

// A survey that cannot read all keys is not put to use: what it did not come to is there all the same.
func TestModelS1FailedSurveyIsNotUsed(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "S1/failed-survey-is-not-used", func(t *testing.T) int {
		disk := crashfs.New()
		_, e := open(t, pebble.Options{Dir: "/data", FS: disk})
		_, err := e.Update(nil, "heavy", false, func(tx step.Tx) error {
			for i := range heavy {
				tx.Set(waveKey(0, i), make([]byte, 2048))
			}
			return nil
		})
		ok(t, err)
		ok(t, e.Close())
		failed := 0
		for _, fails := range []int64{1, 2, 4, 8} {
			failed += failSurvey(t, disk, fails)
		}
		if failed == 0 {
			t.Error("no survey met a read that failed")
		}
		return failed
	})
}

// failSurvey opens the store, lets a read of another survey fail, and looks for every row. It returns 1 when the survey failed.
func failSurvey(t *testing.T, disk *crashfs.FS, fails int64) (failed int) {
	t.Helper()
	var reads atomic.Int64
	failing := failingRead(&reads, fails)
	_, e := open(t, pebble.Options{Dir: "/data", FS: errorfs.Wrap(disk, failing), CacheBytes: 1 << 20})
	e.Surveyed() // the one that the opening began has ended
	before, _ := e.BackgroundErrors()
	ok(t, e.Survey(failing.On))
	failing.Off()
	after, _ := e.BackgroundErrors()
	var lost []byte
	_, err := e.Glance(nil, "glance", func(r step.Reader) error {
		for i := range heavy {
			if _, there, err := r.Get(waveKey(0, i)); err != nil || !there {
				lost = waveKey(0, i)
				return err
			}
		}
		return nil
	})
	ok(t, errors.Join(err, e.Close()))
	if lost != nil {
		inventory.Violated(t, t, "S1.P7", "row %s is not found after read %d of a survey failed", lost, fails)
	}
	return int(min(1, after-before))
}
