package crashfs_test

import (
	"errors"
	"slices"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/millrace-dev/millrace/core/store/pebble/crashfs"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/sim/inventory"
)

var (
	_ = inventory.Planted("fault/disk-write-fails", "a log that drops the error of a write")
	_ = inventory.Planted("fault/disk-full", "a log that takes a full disk for a broken one")
	_ = inventory.Planted("fault/disk-torn-write", "a log that writes on behind a torn record")
	_ = inventory.Planted("fault/disk-sync-fails", "a log that trusts a file after a failed sync")
	_ = inventory.Planted("fault/disk-torn-tail", "a log that counts on its unsynced tail as a whole")
)

// journal appends records of two letters to a file on a disk that fails by draw, and returns the disk and what failed.
func journal(w *sim.World, records ...string) (*crashfs.FS, []error) {
	disk := crashfs.New()
	f := crashfs.WithFaults(disk, w.Fault)
	file, err := f.Create("/log", vfs.WriteCategoryUnspecified)
	if err != nil {
		return disk, []error{err}
	}
	w.NoError(rootSync(disk))
	var failed []error
	for _, r := range records {
		_, err := file.Write([]byte(r))
		failed = append(failed, err, file.Sync())
	}
	return disk, failed
}

func rootSync(disk *crashfs.FS) error {
	d, err := disk.OpenDir("/")
	return errors.Join(err, d.Sync(), d.Close())
}

// contents is the file after a power loss.
func contents(w *sim.World, disk *crashfs.FS) string {
	after, err := disk.Crash(func(what string) bool { return w.Fault("tail "+what, "lost") == 0 })
	w.NoError(err)
	size := 0
	buffer := make([]byte, 64)
	if file, err := after.Open("/log"); err == nil {
		size, _ = file.ReadAt(buffer, 0) // io.EOF when there is less, and it says how much there was
		w.NoError(file.Close())
	}
	return string(buffer[:size])
}

func anyOf(failed []error, target error) bool { return errors.Is(errors.Join(failed...), target) }

// Each kind of fault breaks the program that forgets it, and the schedule that shows it replays.
func TestSimEveryDiskFaultIsFoundAndReplays(t *testing.T) {
	sim.Planted(t, "fault/disk-write-fails", "assertion kept", func(w *sim.World) {
		disk, failed := journal(w, "ab")
		w.Require(anyOf(failed, syscall.ENOSPC) || len(failed) < 2 || contents(w, disk) != "", "kept", "the log is empty: %v", failed)
	}, sim.Faults(1))
	sim.Planted(t, "fault/disk-full", "assertion device", func(w *sim.World) {
		_, failed := journal(w, "ab", "cd")
		w.Require(len(failed) < 2 || !anyOf(failed[1:], syscall.ENOSPC), "device", "%v", failed)
	}, sim.Faults(1), sim.Runs(400))
	sim.Planted(t, "fault/disk-torn-write", "assertion whole", func(w *sim.World) {
		disk, failed := journal(w, "ab", "cd")
		got := contents(w, disk)
		w.Require(len(got)%2 == 0, "whole", "the log is %q: %v", got, failed)
	}, sim.Faults(1))
	sim.Planted(t, "fault/disk-sync-fails", "assertion durable", func(w *sim.World) {
		disk, failed := journal(w, "ab")
		unsynced := len(failed) == 2 && failed[0] == nil && failed[1] != nil
		w.Require(!unsynced || contents(w, disk) == "ab", "durable", "lost after a failed sync")
	}, sim.Faults(2))
	sim.Planted(t, "fault/disk-torn-tail", "assertion tail", func(w *sim.World) {
		disk := crashfs.New()
		file, err := disk.Create("/log", vfs.WriteCategoryUnspecified)
		w.NoError(err)
		w.NoError(rootSync(disk))
		for range 2 {
			_, err := file.Write(make([]byte, 4096))
			w.NoError(err)
		}
		var lost []string
		_, err = disk.Crash(func(what string) bool {
			gone := w.Fault("tail "+what, "lost") == 1
			if gone {
				lost = append(lost, what)
			}
			return !gone
		})
		w.NoError(err)
		w.Require(!slices.Equal(lost, []string{"/log:1"}), "tail", "the first block survived, and the second did not")
	})
}

// neededFaults are those without which the planted programs do not fail.
var neededFaults = map[string][]string{
	"fault/disk-write-fails": {"write /log fails"},
	"fault/disk-full":        {"write /log disk full"},
	"fault/disk-torn-write":  {"write /log torn"},
	"fault/disk-sync-fails":  {"sync /log fails", "tail /log:0 lost"},
	"fault/disk-torn-tail":   {"tail /log:1 lost"},
}

// So it does in another process, whatever strategy found it, and shrunk to the faults that the program forgets.
func TestDiskFaultsReplayInAFreshProcess(t *testing.T) {
	sim.RoundTrip(t, "TestSimEveryDiskFaultIsFoundAndReplays", neededFaults)
}

func TestInjectedErrorsSayWhatTheyAre(t *testing.T) {
	for kind, want := range map[int]error{1: syscall.EIO, 2: syscall.ENOSPC} {
		f := crashfs.WithFaults(crashfs.New(), func(string, ...string) int { return kind })
		_, err := f.Create("/x", vfs.WriteCategoryUnspecified)
		if !errors.Is(err, crashfs.ErrInjected) || !errors.Is(err, want) {
			t.Errorf("kind %d: %v", kind, err)
		}
	}
	good := crashfs.WithFaults(crashfs.New(), func(string, ...string) int { return 0 })
	file, err := good.Create("/x", vfs.WriteCategoryUnspecified)
	ok(t, err)
	_, err = file.WriteAt([]byte("ab"), 0)
	ok(t, err)
	ok(t, errors.Join(file.Sync(), file.SyncData(), file.Close()))
}
