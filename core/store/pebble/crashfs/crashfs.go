// Package crashfs is a file system in memory that can lose power: what was not synced is lost, in part, by draw.
//
// Under it is pebble's crashable file system, which knows what was synced. That library's own partial clones walk maps,
// so the same seed gives different disks; here the entries and blocks that may be lost are drawn one by one in sorted
// order, so a draw is a choice that replays. A process that is killed loses nothing of this; only a crash of the
// machine does, and so only this package can show a missing sync.
//
// Two states that a disk may be in are not drawn, because the library's clones do not show them: a removal that was not
// synced is always undone, and a new file whose name was not synced comes back whole or not at all.
package crashfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is a file system that can crash. It is a vfs.FS.
type FS struct{ *vfs.MemFS }

// New returns an empty file system.
func New() *FS { return &FS{vfs.NewCrashableMem()} }

// blockBytes is the unit in which unsynced data of a file is lost.
const blockBytes = 4096

// Crash returns the disk after a crash at this moment; the receiver stays as it is. keep decides for each unsynced
// thing, in sorted order, whether it survives; what names it is a path, with a block number for data. A nil keep
// loses everything that was not synced.
func (f *FS) Crash(keep func(what string) bool) (*FS, error) {
	if keep == nil {
		keep = func(string) bool { return false }
	}
	synced := f.CrashClone(vfs.CrashCloneCfg{})
	all := f.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(0, 0))})
	next := New()
	if err := merge(next, synced, all, "/", keep); err != nil {
		return nil, fmt.Errorf("crash file system: %w", err)
	}
	return next, nil
}

// merge writes the drawn state of one directory.
func merge(next *FS, synced, all *vfs.MemFS, dir string, keep func(string) bool) error {
	old, err := list(synced, dir)
	if err != nil {
		return err
	}
	current, err := list(all, dir)
	if err != nil {
		return err
	}
	for _, name := range union(old, current) {
		path, durable := next.PathJoin(dir, name), slices.Contains(old, name)
		if !durable && !keep(path) {
			continue // a creation that is lost
		}
		within := keep
		if !durable {
			within = func(string) bool { return true }
		}
		if err := mergeEntry(next, synced, all, path, within); err != nil {
			return err
		}
	}
	return syncDir(next, dir)
}

func mergeEntry(next *FS, synced, all *vfs.MemFS, path string, keep func(string) bool) error {
	isDir, err := isDirectory(synced, all, path)
	if err != nil {
		return err
	}
	if isDir {
		if err := next.MkdirAll(path, 0o755); err != nil {
			return err
		}
		return merge(next, synced, all, path, keep)
	}
	old, err := read(synced, path)
	if err != nil {
		return err
	}
	current, err := read(all, path)
	if err != nil {
		return err
	}
	return write(next, path, mergeBlocks(old, current, path, keep))
}

// mergeBlocks draws for each block that differs. A lost block behind the synced end leaves zeros when a later one
// survives, as a file system does that has the length and not the data.
func mergeBlocks(old, current []byte, path string, keep func(string) bool) []byte {
	out := slices.Clone(old)
	for at := 0; at < len(current); at += blockBytes {
		block := current[at:min(at+blockBytes, len(current))]
		if at+len(block) <= len(old) && string(old[at:at+len(block)]) == string(block) {
			continue
		}
		if !keep(fmt.Sprintf("%s:%d", path, at/blockBytes)) {
			continue
		}
		if grow := at + len(block) - len(out); grow > 0 {
			out = append(out, make([]byte, grow)...)
		}
		copy(out[at:], block)
	}
	return out
}

func list(fs *vfs.MemFS, dir string) ([]string, error) {
	names, err := fs.List(dir)
	if missing(err) {
		return nil, nil
	}
	slices.Sort(names)
	return names, err
}

func union(a, b []string) []string {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

func isDirectory(synced, all *vfs.MemFS, path string) (bool, error) {
	info, err := all.Stat(path)
	if missing(err) {
		info, err = synced.Stat(path)
	}
	if err != nil {
		return false, err
	}
	return info.IsDir(), nil
}

// read returns nothing for a file that is not there.
func read(fs *vfs.MemFS, path string) ([]byte, error) {
	f, err := fs.Open(path)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return data, errors.Join(err, f.Close())
}

func write(fs *FS, path string, data []byte) error {
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(slices.Clone(data)) // the file may scribble on what it is given
	return errors.Join(err, f.Sync(), f.Close())
}

func syncDir(fs *FS, dir string) error {
	d, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
