package crashfs

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ErrInjected is in every error that a Faulty file system makes up. A full disk is also syscall.ENOSPC, any other fault
// syscall.EIO.
var ErrInjected = errors.New("crashfs: injected")

// Draw decides what goes wrong at one operation: 0 for nothing, else 1 and the index in kinds. sim's World.Fault is one, so
// faults of the disk are choices.
type Draw func(place string, kinds ...string) int

// Faulty is a file system whose writes and syncs fail by draw. Pass what it wraps to Crash.
type Faulty struct {
	*FS
	draw Draw
}

// WithFaults returns f with faults.
func WithFaults(f *FS, draw Draw) *Faulty { return &Faulty{f, draw} }

// What can go wrong with a write, a sync and a new file. A torn write leaves its first half, and a failed sync leaves what was
// written as unsynced as it was; whoever goes on after either must not count on the file.
var (
	writeFaults  = []string{"fails", "disk full", "torn"}
	syncFaults   = []string{"fails"}
	createFaults = []string{"fails", "disk full"}
)

func injected(what, name string, cause error) error {
	return fmt.Errorf("%s %s: %w: %w", what, name, ErrInjected, cause)
}

// fault turns a draw into its error: the second kind is a full disk, the others are the device's.
func (f *Faulty) fault(what, name string, kinds []string) (kind int, err error) {
	switch kind = f.draw(what+" "+name, kinds...); kind {
	case 0:
		return 0, nil
	case 2:
		return kind, injected(what, name, syscall.ENOSPC)
	default:
		return kind, injected(what, name, syscall.EIO)
	}
}

// Create makes a file, or fails.
func (f *Faulty) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if _, err := f.fault("create", name, createFaults); err != nil {
		return nil, err
	}
	file, err := f.FS.Create(name, category)
	return f.wrap(file, name), err
}

// OpenReadWrite opens a file whose writes can fail.
func (f *Faulty) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	file, err := f.FS.OpenReadWrite(name, category, opts...)
	return f.wrap(file, name), err
}

// ReuseForWrite renames a file and opens it for writes that can fail.
func (f *Faulty) ReuseForWrite(old, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if _, err := f.fault("create", name, createFaults); err != nil {
		return nil, err
	}
	file, err := f.FS.ReuseForWrite(old, name, category)
	return f.wrap(file, name), err
}

// OpenDir opens a directory whose sync can fail.
func (f *Faulty) OpenDir(name string) (vfs.File, error) {
	file, err := f.FS.OpenDir(name)
	return f.wrap(file, name), err
}

func (f *Faulty) wrap(file vfs.File, name string) vfs.File {
	if file == nil {
		return nil
	}
	return &faultyFile{file, f, name}
}

type faultyFile struct {
	vfs.File
	fs   *Faulty
	name string
}

// Write writes all, half of it, or nothing.
func (f *faultyFile) Write(p []byte) (int, error) {
	return f.write(p, f.File.Write)
}

// WriteAt writes all, half of it, or nothing.
func (f *faultyFile) WriteAt(p []byte, at int64) (int, error) {
	return f.write(p, func(p []byte) (int, error) { return f.File.WriteAt(p, at) })
}

func (f *faultyFile) write(p []byte, write func([]byte) (int, error)) (int, error) {
	kind, err := f.fs.fault("write", f.name, writeFaults)
	if err == nil {
		return write(p)
	}
	if writeFaults[kind-1] != "torn" || len(p) < 2 {
		return 0, err
	}
	n, failed := write(p[:len(p)/2])
	return n, errors.Join(err, failed)
}

// Sync makes what was written durable, or fails and makes nothing durable.
func (f *faultyFile) Sync() error { return f.sync(f.File.Sync) }

// SyncData is Sync here.
func (f *faultyFile) SyncData() error { return f.sync(f.File.SyncData) }

// SyncTo is Sync, reported as a full one.
func (f *faultyFile) SyncTo(int64) (fullSync bool, err error) {
	return true, f.sync(f.File.Sync)
}

func (f *faultyFile) sync(sync func() error) error {
	if _, err := f.fs.fault("sync", f.name, syncFaults); err != nil {
		return err
	}
	return sync()
}
