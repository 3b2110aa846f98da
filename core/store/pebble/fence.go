package pebble

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// fence watches the files that durability rests on: the write-ahead log, the manifest, the markers and the directory.
// After the first error on one of them it never lets the library go on: not to a retry, which could succeed on a page
// the kernel has thrown away, not to deleting a log that is still needed, and not to the paths on which it ends the
// process. The goroutine parks until the process exits; others find the engine halted.
//
//	opening ──Open succeeded──▶ armed ──error──▶ halted
//	   └─error: returned, Open fails
type fence struct {
	armed  atomic.Bool
	once   sync.Once
	halted chan struct{} // closed by the first error
	why    error         // set before halted is closed
	onHalt func(error)

	// background counts errors of flushes and compactions, which the library retries: the log still has their data.
	background atomic.Int64
	mu         sync.Mutex
	lastError  error // guarded by mu
}

func newFence(onHalt func(error)) *fence {
	return &fence{halted: make(chan struct{}), onHalt: onHalt}
}

// halt refuses everything from now on.
func (f *fence) halt(err error) {
	f.once.Do(func() {
		f.why = err
		close(f.halted)
		f.onHalt(err)
	})
}

// isHalted reports whether the engine has halted, and why.
func (f *fence) isHalted() (bool, error) {
	select {
	case <-f.halted:
		return true, f.why
	default:
		return false, nil
	}
}

// check passes err on while the store is being opened. Afterwards an error is the end.
func (f *fence) check(what string, err error) error {
	if err == nil || !f.armed.Load() {
		return err
	}
	f.halt(fmt.Errorf("%s: %w", what, err))
	park()
	return err // not reached
}

// park is where goroutines of the library end up after a halt. It is not an exit: that would run deferred functions
// over state that is no longer true.
func park() { select {} }

// Infof is part of the library's logger.
func (f *fence) Infof(string, ...any) {}

// Errorf is part of the library's logger. What it reports has a better channel: results, or the events below.
func (f *fence) Errorf(format string, args ...any) { f.note(fmt.Errorf(format, args...)) }

// Fatalf is part of the library's logger, which expects not to return from it. While opening, its callers return an
// error as well.
func (f *fence) Fatalf(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	f.note(err)
	if f.armed.Load() {
		f.halt(err)
		park()
	}
}

func (f *fence) note(err error) {
	f.background.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastError = err
}

// watched wraps a file system with a fence.
type watched struct {
	vfs.FS
	f *fence
}

// critical reports whether durability rests on the file.
func critical(name string) bool {
	base := filepath.Base(name)
	return strings.HasSuffix(base, ".log") || strings.HasPrefix(base, "MANIFEST") || strings.HasPrefix(base, "marker.")
}

func (w watched) wrap(name string, file vfs.File, err error) (vfs.File, error) {
	if !critical(name) {
		return file, err
	}
	if err = w.f.check("open "+filepath.Base(name), err); err != nil {
		return nil, err
	}
	return watchedFile{File: file, f: w.f, name: filepath.Base(name)}, nil
}

// Create implements vfs.FS.
func (w watched) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := w.FS.Create(name, c)
	return w.wrap(name, file, err)
}

// ReuseForWrite implements vfs.FS.
func (w watched) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := w.FS.ReuseForWrite(old, name, c)
	return w.wrap(name, file, err)
}

// OpenDir implements vfs.FS. Every directory is critical: its sync makes a new log findable.
func (w watched) OpenDir(name string) (vfs.File, error) {
	file, err := w.FS.OpenDir(name)
	if err = w.f.check("open directory", err); err != nil {
		return nil, err
	}
	return watchedFile{File: file, f: w.f, name: "directory"}, nil
}

// Rename implements vfs.FS.
func (w watched) Rename(old, name string) error {
	err := w.FS.Rename(old, name)
	if critical(name) {
		return w.f.check("rename "+filepath.Base(old), err)
	}
	return err
}

// Remove implements vfs.FS. A file that is gone already is no error of the disk.
func (w watched) Remove(name string) error {
	err := w.FS.Remove(name)
	if critical(name) && !errors.Is(err, fs.ErrNotExist) {
		return w.f.check("remove "+filepath.Base(name), err)
	}
	return err
}

// Unwrap implements vfs.FS.
func (w watched) Unwrap() vfs.FS { return w.FS }

type watchedFile struct {
	vfs.File
	f    *fence
	name string
}

// Write implements vfs.File.
func (w watchedFile) Write(p []byte) (int, error) {
	n, err := w.File.Write(p)
	return n, w.f.check("write "+w.name, err)
}

// Sync implements vfs.File.
func (w watchedFile) Sync() error { return w.f.check("sync "+w.name, w.File.Sync()) }

// SyncData implements vfs.File.
func (w watchedFile) SyncData() error { return w.f.check("sync "+w.name, w.File.SyncData()) }

// SyncTo implements vfs.File.
func (w watchedFile) SyncTo(length int64) (bool, error) {
	full, err := w.File.SyncTo(length)
	return full, w.f.check("sync "+w.name, err)
}

// Close implements vfs.File.
func (w watchedFile) Close() error { return w.f.check("close "+w.name, w.File.Close()) }
