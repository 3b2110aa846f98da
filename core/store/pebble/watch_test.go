package pebble_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	library "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/core/store/pebble/crashfs"
	"github.com/millrace-dev/millrace/core/store/step"
)

// watchPrograms are programs of a child, as those of halts are: they park goroutines for good.
var watchPrograms = map[string]func() int{"every operation": watchEvery, "commit under way": haltUnderCommit, "open again": openAgain}

// watchedOps are what a store does to the files that durability rests on.
var watchedOps = []struct {
	name string
	kind errorfs.OpKind
	do   func(fs vfs.FS, f vfs.File, file string) error
}{
	{"create", errorfs.OpCreate, func(fs vfs.FS, _ vfs.File, file string) error {
		_, err := fs.Create(file, vfs.WriteCategoryUnspecified)
		return err
	}},
	{"reuse", errorfs.OpReuseForWrite, func(fs vfs.FS, _ vfs.File, file string) error {
		_, err := fs.ReuseForWrite("/d/old", file, vfs.WriteCategoryUnspecified)
		return err
	}},
	{"sync of a reused file", errorfs.OpFileSync, func(fs vfs.FS, _ vfs.File, file string) error {
		f, err := fs.ReuseForWrite("/d/old", file, vfs.WriteCategoryUnspecified)
		if err != nil {
			return err
		}
		return f.Sync()
	}},
	{"rename", errorfs.OpRename, func(fs vfs.FS, _ vfs.File, file string) error { return fs.Rename("/d/old", file) }},
	{"remove", errorfs.OpRemove, func(fs vfs.FS, _ vfs.File, file string) error { return fs.Remove(file) }},
	{"write", errorfs.OpFileWrite, func(_ vfs.FS, f vfs.File, _ string) error {
		_, err := f.Write([]byte("x"))
		return err
	}},
	{"sync", errorfs.OpFileSync, func(_ vfs.FS, f vfs.File, _ string) error { return f.Sync() }},
	{"sync data", errorfs.OpFileSyncData, func(_ vfs.FS, f vfs.File, _ string) error { return f.SyncData() }},
	{"sync to", errorfs.OpFileSyncTo, func(_ vfs.FS, f vfs.File, _ string) error {
		_, err := f.SyncTo(1)
		return err
	}},
	{"close", errorfs.OpFileClose, func(_ vfs.FS, f vfs.File, _ string) error { return f.Close() }},
}

// watchedFiles says of which files an error halts the engine.
var watchedFiles = map[string]bool{
	"/d/000001.log": true, "/d/MANIFEST-000001": true, "/d/marker.manifest.000001.MANIFEST-000001": true,
	"/d/000002.sst": false, "/d/OPTIONS-000003": false,
}

// Each failing operation on such a file halts and never returns, on another one it returns its error; the sync of a directory
// halts; a file that is gone already does not.
func TestEveryOperationThatDurabilityRestsOnIsWatched(t *testing.T) {
	var faults []string
	inChild(t, "every operation", &faults)
	for _, fault := range faults {
		t.Error(fault)
	}
}

func watchEvery() int {
	faults := []string{}
	for file, halts := range watchedFiles {
		for _, op := range watchedOps {
			do := func(fs vfs.FS, f vfs.File) error { return op.do(fs, f, file) }
			if got := watchOne(op.kind, errInjected, file, do); got != halts {
				faults = append(faults, fmt.Sprintf("%s of %s halts: %t", op.name, file, got))
			}
		}
	}
	for _, kind := range []errorfs.OpKind{errorfs.OpOpenDir, errorfs.OpFileSync} {
		halts := watchOne(kind, errInjected, "/d/000001.log", func(fs vfs.FS, _ vfs.File) error {
			d, err := fs.OpenDir("/d")
			if err != nil {
				return err
			}
			return d.Sync()
		})
		if !halts {
			faults = append(faults, fmt.Sprintf("operation %d on the directory does not halt", kind))
		}
	}
	if watchOne(errorfs.OpRemove, fs.ErrNotExist, "/d/000001.log", func(fs vfs.FS, _ vfs.File) error { return fs.Remove("/d/000001.log") }) {
		faults = append(faults, "removing a log that is gone already halts")
	}
	if err := json.NewEncoder(os.Stdout).Encode(faults); err != nil {
		return fail(err)
	}
	return 0
}

// watchOne reports whether a failing operation of the kind halts; if not, it must return an error.
func watchOne(kind errorfs.OpKind, cause error, file string, do func(vfs.FS, vfs.File) error) bool {
	disk := crashfs.New()
	var failing errorfs.Toggle
	failing.Injector = errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == kind {
			return cause
		}
		return nil
	})
	halted, returned := make(chan struct{}), make(chan error, 1)
	fs := pebble.Watch(brittle{errorfs.Wrap(disk, &failing), &failing}, func(error) { close(halted) })
	if err := disk.MkdirAll("/d", 0o755); err != nil {
		panic(err)
	}
	var f vfs.File
	for _, name := range []string{"/d/old", file} {
		var err error
		if f, err = fs.Create(name, vfs.WriteCategoryUnspecified); err != nil {
			panic(err)
		}
	}
	failing.On()
	go func() { returned <- do(fs, f) }()
	select {
	case <-halted:
		return true
	case err := <-returned:
		if err == nil {
			panic("the operation succeeded on " + file)
		}
		return false
	}
}

// brittle lets closing a file and using a reused one fail, too: the library's own wrapper does not.
type brittle struct {
	vfs.FS
	failing *errorfs.Toggle
}

// Create implements vfs.FS.
func (b brittle) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := b.FS.Create(name, c)
	return brittleFile{f, b.failing}, err
}

// ReuseForWrite implements vfs.FS.
func (b brittle) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := b.FS.ReuseForWrite(old, name, c)
	return brittleFile{f, b.failing}, err
}

type brittleFile struct {
	vfs.File
	failing *errorfs.Toggle
}

// Sync implements vfs.File.
func (f brittleFile) Sync() error {
	return errors.Join(f.failing.MaybeError(errorfs.Op{Kind: errorfs.OpFileSync}), f.File.Sync())
}

// Close implements vfs.File.
func (f brittleFile) Close() error {
	return errors.Join(f.failing.MaybeError(errorfs.Op{Kind: errorfs.OpFileClose}), f.File.Close())
}

var errInjected = errors.New("injected")

// lateReport is what the child of the next test says.
type lateReport struct {
	Commit string // how the commit under way ended
	Later  bool   // its sync came after the halt, and it was called durable
}

// The engine halts while a commit waits for its sync. The sync succeeds all the same; nobody is told so any more (P4).
func TestHaltUnderACommitAcknowledgesNothing(t *testing.T) {
	var r lateReport
	inChild(t, "commit under way", &r)
	if r.Later || r.Commit != "unknown, halted" {
		t.Errorf("%+v", r)
	}
}

func haltUnderCommit() int {
	var holding atomic.Bool
	held, release := make(chan struct{}), make(chan struct{})
	_, e, err := pebble.Open(nil, pebble.Options{Dir: "/data", FS: errorfs.Wrap(crashfs.New(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if slices.Contains(syncs, op.Kind) && path.Ext(op.Path) == ".log" && holding.CompareAndSwap(true, false) {
			close(held)
			<-release
		}
		return nil
	}))})
	if err != nil {
		return fail(err)
	}
	before := e.Visible()
	holding.Store(true)
	ended := make(chan error, 1)
	go func() {
		_, err := writeSerial(e, 1, true)
		ended <- err
	}()
	<-held
	for e.Visible() == before { // the commit is counted before its sync begins, so this ends at once
		runtime.Gosched()
	}
	e.Halt(errInjected)
	err = <-ended
	close(release)
	r := lateReport{Commit: fmt.Sprint(err), Later: e.EndSyncs() > before}
	if errors.Is(err, store.ErrUnknown) && errors.Is(err, store.ErrHalted) {
		r.Commit = "unknown, halted"
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		return fail(err)
	}
	return 0
}

// scribbler is a reader of the library that uses its memory again as soon as it may.
type scribbler struct {
	library.Reader
	memory []byte
}

// Get implements library.Reader.
func (s *scribbler) Get([]byte) ([]byte, io.Closer, error) { return s.memory, s, nil }

// Close implements io.Closer.
func (s *scribbler) Close() error {
	for i := range s.memory {
		s.memory[i] = '#'
	}
	return nil
}

// A value stays what it was until the view ends; the library's memory is its own again once the closer was called.
func TestValueIsNotTheLibrarysMemory(t *testing.T) {
	value, found, err := pebble.NewView(&scribbler{memory: []byte("value")}).Get([]byte("key"))
	if err != nil || !found || string(value) != "value" {
		t.Errorf("%q, found %t, %v", value, found, err)
	}
}

var _ step.View = pebble.NewView(nil)

// A start that failed holds no lock: the next one in the same process opens the store.
func TestFailedOpenGivesTheLockBack(t *testing.T) {
	var said string
	inChild(t, "open again", &said)
	if said != "" {
		t.Error(said)
	}
}

// openAgain is a program of a child: a failed start of the library leaves a goroutine of its own.
func openAgain() int {
	var failing errorfs.Toggle
	failing.Injector = errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpOpen && strings.HasPrefix(path.Base(op.Path), "MANIFEST") {
			return errInjected
		}
		return nil
	})
	o := pebble.Options{Dir: "/data", FS: errorfs.Wrap(crashfs.New(), &failing)}
	attempt := func() error {
		_, e, err := pebble.Open(nil, o)
		if err != nil {
			return err
		}
		return e.Close()
	}
	first := attempt()
	failing.On()
	second := attempt()
	failing.Off()
	third := attempt()
	said := ""
	if first != nil || !errors.Is(second, errInjected) || third != nil {
		said = fmt.Sprintf("first %v, with an unreadable manifest %v, then %v", first, second, third)
	}
	if err := json.NewEncoder(os.Stdout).Encode(said); err != nil {
		return fail(err)
	}
	return 0
}
