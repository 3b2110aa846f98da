// Package vfs is the file system as a commit point sees it: files that are written at an offset, synced and truncated.
//
// OS is the real one. Crashable is a simulated one, in which a crash loses what was not synced; which parts are lost
// is drawn. Nothing here is an owner: a file belongs to the one task that opened it.
package vfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrIrregular refuses a name that leads to a folder, a pipe, a device or a socket.
var ErrIrregular = errors.New("vfs: it is no regular file")

// FS opens files.
type FS interface {
	// Open opens the named file for writing and creates it if need be. A name that it created is durable when it
	// returns: a synced file must not vanish with its directory entry.
	Open(name string) (File, error)
}

// File is an open file.
type File interface {
	// WriteAt writes all of data at offset, or returns an error after it may have written a part.
	WriteAt(data []byte, offset int64) (int, error)
	// Sync makes everything durable that was written and truncated. After an error nobody knows what is, and until the file
	// is opened anew a later success says nothing: the system may have dropped what it could not write.
	Sync() error
	// Truncate sets the size.
	Truncate(size int64) error
	// Size returns the size.
	Size() (int64, error)
	// Present reports whether the name still leads to this file: somebody may have removed it, or put another one in its place.
	Present() (bool, error)
	Close() error
}

// OS is the file system of the operating system below a folder.
type OS struct{ Dir string }

// Open implements FS. A name is a path below Dir, whose folders are created; one that leads out of it is refused, and so is one that
// leads to anything but a regular file.
func (o OS) Open(name string) (File, error) {
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("open file %q: the name leads out of its folder", name)
	}
	path := filepath.Join(o.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // results are for others to read
		return nil, fmt.Errorf("open file %s: %w", name, err)
	}
	if err := regular(path); err != nil {
		return nil, fmt.Errorf("open file %s: %w", name, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644) //nolint:gosec // results are for others to read
	if err != nil {
		return nil, fmt.Errorf("open file %s: %w", name, err)
	}
	if err := o.syncDirs(name); err != nil {
		return nil, fmt.Errorf("open file %s: %w", name, joinClose(err, f))
	}
	return osFile{f}, nil
}

// regular refuses what is there and has no bytes at offsets: a pipe or a device would open, and only the first row would tell. What is
// not there yet will be a regular file. It looks at the name: to open a pipe already tells its reader that somebody writes.
func regular(path string) error {
	switch info, err := os.Stat(path); {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return ErrIrregular
	}
	return nil
}

// syncDirs makes the name durable in its folder, and each folder in the one above it, up to Dir.
func (o OS) syncDirs(name string) error {
	for dir := filepath.Dir(name); ; dir = filepath.Dir(dir) {
		if err := syncDir(filepath.Join(o.Dir, dir)); err != nil {
			return err
		}
		if dir == "." {
			return nil
		}
	}
}

// syncDir makes a directory entry durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync folder: %w", joinClose(err, d))
	}
	return d.Close()
}

func joinClose(err error, f *os.File) error {
	if closeErr := f.Close(); closeErr != nil {
		return fmt.Errorf("%w; %w", err, closeErr)
	}
	return err
}

type osFile struct{ *os.File }

// Present implements File.
func (f osFile) Present() (bool, error) {
	named, err := os.Stat(f.Name())
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	opened, openedErr := f.Stat()
	if err := errors.Join(err, openedErr); err != nil {
		return false, fmt.Errorf("look for file: %w", err)
	}
	return os.SameFile(named, opened), nil
}

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, fmt.Errorf("read size: %w", err)
	}
	return info.Size(), nil
}
