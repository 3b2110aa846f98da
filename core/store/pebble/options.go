package pebble

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options configure an engine.
type Options struct {
	// Dir is the directory of the store. It is created; nothing else may be in it. Required.
	Dir string

	// FS is the file system. Nil is the operating system's.
	FS vfs.FS

	// CacheBytes is the size of the block cache. 0 is 32 MiB. Range 1 MiB to 64 GiB.
	CacheBytes int64

	// RowBytes is about how much is remembered of rows that were read by key; twice as much at most. 0 is 4 MiB. Range
	// 64 KiB to 1 GiB.
	RowBytes int64

	// FilterBytes is the size of the set that tells which keys the store may have; twice as much while it is made
	// again. It is made for 800,000 keys a MiB. 0 is 8 MiB. Range 64 KiB to 1 GiB.
	FilterBytes int64

	// MemTableBytes is the size of a memtable; the log is rotated when one is full. 0 is 32 MiB. Range 64 KiB to
	// 1 GiB.
	MemTableBytes int64

	// Failpoint is called with the names store.PointBeforeApply, PointAfterApply and PointAfterSync at these
	// points of every durable commit. Nil does nothing. A test of crashes ends the process there.
	Failpoint func(name string)

	// OnHalt is called once, when the engine halts, from the goroutine that met the error. It must return soon. The
	// node exits then: what is in memory and not in the log cannot be taken back.
	OnHalt func(error)
}

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30

	defaultBytes    = 32 * mib
	defaultRowBytes = 4 * mib
	defaultFilter   = 8 * mib
)

// Validate joins every fault of the options.
func (o Options) Validate() error {
	var faults []error
	if o.Dir == "" {
		faults = append(faults, errors.New("dir: empty"))
	}
	check := func(name string, value, least, most int64) {
		if value != 0 && (value < least || value > most) {
			faults = append(faults, fmt.Errorf("%s: %d is not in %d..%d", name, value, least, most))
		}
	}
	check("cache bytes", o.CacheBytes, mib, 64*gib)
	check("memtable bytes", o.MemTableBytes, 64*kib, gib)
	check("filter bytes", o.FilterBytes, 64*kib, gib)
	check("row bytes", o.RowBytes, 64*kib, gib)
	return errors.Join(faults...)
}

func (o Options) withDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = defaultBytes
	}
	if o.RowBytes == 0 {
		o.RowBytes = defaultRowBytes
	}
	if o.FilterBytes == 0 {
		o.FilterBytes = defaultFilter
	}
	if o.MemTableBytes == 0 {
		o.MemTableBytes = defaultBytes
	}
	if o.Failpoint == nil {
		o.Failpoint = func(string) {}
	}
	if o.OnHalt == nil {
		o.OnHalt = func(error) {}
	}
	return o
}
