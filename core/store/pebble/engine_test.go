package pebble_test

import (
	"errors"
	"slices"
	"testing"

	library "github.com/cockroachdb/pebble/v2"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/core/store/pebble/crashfs"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/core/store/storetest"
)

func open(t testing.TB, o pebble.Options) (*step.Store, *pebble.Engine) {
	t.Helper()
	st, e, err := pebble.Open(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return st, e
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		st, _ := open(t, pebble.Options{Dir: "/data", FS: crashfs.New()})
		return st
	})
}

func TestConformanceOnDisk(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		st, _ := open(t, pebble.Options{Dir: t.TempDir()})
		return st
	})
}

var me = store.Owner{Replica: "a", Lane: 1, Incarnation: 1}

// spawning returns a step that creates an instance.
func spawning(id string, size int) *store.Step {
	return &store.Step{
		Cause: "spawn " + id, Spawn: true, Status: store.Running, Snapshot: make([]byte, size),
		Claim: store.Claim{Instance: store.InstanceID(id), Owner: me},
		Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "c", ID: id}},
	}
}

// Whoever opens the directory is alone: claims found there belong to nobody, and no step is undecided.
func TestOpenVoidsEarlierClaims(t *testing.T) {
	o := pebble.Options{Dir: t.TempDir()}
	st, _ := open(t, o)
	first, err := st.Incarnate(nil)
	ok(t, err)
	_, err = st.Commit(nil, spawning("i", 0))
	ok(t, err)
	held, _, err := st.Take(nil, "i", 1, me)
	ok(t, err)
	ok(t, st.Close())

	st, _ = open(t, o)
	head, _, err := st.Head(nil, "i")
	ok(t, err)
	if want := (store.Claim{Instance: "i", Epoch: held.Epoch - 1}); head.Claim != want { // a claim is held in memory
		t.Errorf("after the restart the claim is %v, want %v", head.Claim, want)
	}
	if _, err = st.Commit(nil, &store.Step{Cause: "late", Claim: held, Status: store.Running}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("commit under a claim of before the restart: %v", err)
	}
	if found, _, err := st.Recorded(nil, spawning("i", 0).Record()); found || err != nil {
		t.Errorf("record of before the restart: %v, %v", found, err)
	}
	if again, err := st.Incarnate(nil); err != nil || again <= first {
		t.Errorf("incarnation %d after %d, %v", again, first, err)
	}
	ok(t, st.Close())
}

func TestDirectoryIsLocked(t *testing.T) {
	o := pebble.Options{Dir: t.TempDir()}
	st, _ := open(t, o)
	if _, _, err := pebble.Open(nil, o); !errors.Is(err, pebble.ErrLocked) {
		t.Errorf("second open: %v", err)
	}
	ok(t, st.Close())
	st, _ = open(t, o)
	ok(t, st.Close())
}

func TestForeignFormatIsRefused(t *testing.T) {
	fs := crashfs.New()
	st, _ := open(t, pebble.Options{Dir: "/data", FS: fs})
	ok(t, st.Close())
	db, err := library.Open("/data", &library.Options{FS: fs, FormatMajorVersion: library.FormatNewest})
	ok(t, err)
	ok(t, db.Set([]byte("f"), []byte{99}, library.Sync))
	ok(t, db.Close())
	_, _, err = pebble.Open(nil, pebble.Options{Dir: "/data", FS: fs})
	if !errors.Is(err, step.ErrFormat) {
		t.Errorf("open of format 99: %v", err)
	}
}

func TestOptionsNameEveryFault(t *testing.T) {
	_, _, err := pebble.Open(nil, pebble.Options{CacheBytes: 1, MemTableBytes: -1})
	for _, field := range []string{"dir", "cache bytes", "memtable bytes"} {
		if err == nil || !contains(err, field) {
			t.Errorf("error %v does not name %q", err, field)
		}
	}
}

func TestFailpointsInTheOrderOfACommit(t *testing.T) {
	var reached []string
	st, _ := open(t, pebble.Options{Dir: "/data", FS: crashfs.New(), Failpoint: func(name string) { reached = append(reached, name) }})
	reached = nil
	_, err := st.Commit(nil, spawning("i", 0))
	ok(t, err)
	want := []string{store.PointBeforeApply, store.PointAfterApply, store.PointAfterSync}
	if !slices.Equal(reached, want) {
		t.Errorf("reached %q, want %q", reached, want)
	}
	ok(t, st.Close())
}

func TestLowWaterHasTwoMarks(t *testing.T) {
	w := pebble.LowWater{Refuse: 100, Resume: 200}
	for _, c := range []struct {
		free     uint64
		refusing bool
		want     bool
	}{{99, false, true}, {100, false, false}, {150, true, true}, {199, true, true}, {200, true, false}, {0, false, true}} {
		if got := w.Refuses(c.free, c.refusing); got != c.want {
			t.Errorf("%d bytes free, refusing %t: %t", c.free, c.refusing, got)
		}
	}
	if (pebble.LowWater{}).Refuses(0, false) {
		t.Error("no marks refuse")
	}
	if (pebble.LowWater{Refuse: 2, Resume: 1}).Validate() == nil {
		t.Error("marks in the wrong order are valid")
	}
	_, e := open(t, pebble.Options{Dir: t.TempDir()})
	if free, err := e.DiskFree(); err != nil || free == 0 {
		t.Errorf("free bytes %d, %v", free, err)
	}
	ok(t, e.Close())
}
