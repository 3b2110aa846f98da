package pebble_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	library "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/millrace-dev/millrace/core/store/pebble"
)

// scanned is how many keys lie in the tables: several blocks.
const scanned = 1000

// tables returns a disk on which the library has written its keys to tables.
func tables(t *testing.T) vfs.FS {
	t.Helper()
	disk := vfs.NewMem()
	db, err := library.Open("d", &library.Options{FS: disk})
	if err != nil {
		t.Fatal(err)
	}
	for i := range scanned {
		if err := db.Set(fmt.Appendf(nil, "%04d", i), fmt.Appendf(nil, "%064d", i), library.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(db.Flush(), db.Close()); err != nil {
		t.Fatal(err)
	}
	return disk
}

// failingRead fails one read of the disk, of those that it counts while it is on.
func failingRead(reads *atomic.Int64, fails int64) *errorfs.Toggle {
	failing := new(errorfs.Toggle)
	failing.Injector = errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileReadAt && reads.Add(1) == fails {
			return errInjected
		}
		return nil
	})
	return failing
}

// scan scans with the given read of the disk failing, and returns how many keys came and how many reads there were.
func scan(t *testing.T, disk vfs.FS, fails int64) (keys int, reads int64, err error) {
	t.Helper()
	var n atomic.Int64
	failing := failingRead(&n, fails)
	db, err := library.Open("d", &library.Options{FS: errorfs.Wrap(disk, failing), DisableAutomaticCompactions: true})
	if err != nil {
		t.Fatal(err)
	}
	failing.On()
	err = pebble.NewView(db).Scan([]byte("0"), []byte("9"), func([]byte, []byte) (bool, error) {
		keys++
		return true, nil
	})
	failing.Off()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return keys, n.Load(), err
}

// A scan whose disk cannot be read says so: it never ends early as if there were no more keys.
func TestScanToldOfEveryReadThatFails(t *testing.T) {
	disk := tables(t)
	keys, reads, err := scan(t, disk, 0)
	if keys != scanned || err != nil || reads < 4 {
		t.Fatalf("%d keys, %d reads, %v", keys, reads, err)
	}
	early := 0
	for fails := range reads {
		keys, _, err := scan(t, disk, fails+1)
		if err == nil && keys != scanned {
			t.Errorf("read %d of %d failed: the scan ended after %d keys without an error", fails+1, reads, keys)
		}
		if err != nil {
			early++
		}
	}
	if early == 0 {
		t.Errorf("none of %d reads mattered", reads)
	}
}
