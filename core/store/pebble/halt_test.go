package pebble_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/core/store/pebble/crashfs"
)

func contains(err error, text string) bool { return strings.Contains(err.Error(), text) }

// haltVar names the program that a child process runs instead of the tests: after a halt goroutines of the library are
// parked for good, so a process that halted has to end.
const haltVar = "MILLRACE_TEST_HALT"

// haltReport is what the child writes to its output.
type haltReport struct {
	Halts        int32    // calls of OnHalt
	Unknown      bool     // the operation under way ended with an unknown outcome
	LaterHalted  bool     // a later commit, read and wait are all refused
	CloseRefused bool     // Close does not pretend
	Acknowledged []string // spawns that were acknowledged
	Survived     []string // of those, the ones that a crash of the machine left
}

// The file operations that are made to fail, one program each.
var haltPrograms = map[string]struct {
	kinds []errorfs.OpKind
	file  string // pattern of the base name
	// rotates: the failing operation is one of a rotation of the log, inside of a commit that never returns, or of the
	// background.
	rotates bool
}{
	"log sync":       {kinds: syncs, file: "*.log"},
	"log write":      {kinds: writes, file: "*.log"},
	"log creation":   {kinds: []errorfs.OpKind{errorfs.OpCreate, errorfs.OpReuseForWrite}, file: "*.log", rotates: true},
	"manifest write": {kinds: writes, file: "MANIFEST*", rotates: true},
	"manifest sync":  {kinds: syncs, file: "MANIFEST*", rotates: true},
	"directory sync": {kinds: syncs, file: "data", rotates: true},
}

var (
	syncs  = []errorfs.OpKind{errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo}
	writes = []errorfs.OpKind{errorfs.OpFileWrite}
)

func TestHaltOnFailedWrite(t *testing.T) {
	for name, program := range haltPrograms {
		t.Run(name, func(t *testing.T) {
			var r haltReport
			inChild(t, name, &r)
			if r.Halts != 1 || !r.LaterHalted || !r.CloseRefused {
				t.Errorf("%+v", r)
			}
			if !program.rotates && !r.Unknown {
				t.Error("the commit under way did not end with an unknown outcome")
			}
			if len(r.Acknowledged) == 0 || len(r.Survived) != len(r.Acknowledged) {
				t.Errorf("acknowledged %d commits, %d survived", len(r.Acknowledged), len(r.Survived))
			}
		})
	}
}

// inChild runs a program in a process of its own and decodes what it reports.
func inChild(t *testing.T, program string, report any) {
	t.Helper()
	limit, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	child := exec.CommandContext(limit, os.Args[0])
	child.Env = append(os.Environ(), haltVar+"="+program)
	var out, errs bytes.Buffer
	child.Stdout, child.Stderr = &out, &errs
	if err := child.Run(); err != nil {
		t.Fatalf("child: %v\n%s", err, errs.String())
	}
	if err := json.Unmarshal(out.Bytes(), report); err != nil {
		t.Fatalf("child said %q: %v", out.String(), err)
	}
}

// haltProgram opens a store, commits, makes the file operation fail, and reports.
func haltProgram(name string) int {
	if run := watchPrograms[name]; run != nil {
		return run()
	}
	program := haltPrograms[name]
	var halts atomic.Int32
	var failing errorfs.Toggle
	failing.Injector = errorfs.InjectorFunc(func(op errorfs.Op) error {
		if match, err := path.Match(program.file, path.Base(op.Path)); err != nil || !match || !slices.Contains(program.kinds, op.Kind) {
			return err
		}
		return syscall.ENOSPC
	})
	disk := crashfs.New()
	halted := make(chan struct{})
	st, e, err := pebble.Open(nil, pebble.Options{
		Dir: "/data", FS: errorfs.Wrap(disk, &failing), MemTableBytes: 256 << 10,
		OnHalt: func(error) { halts.Add(1); close(halted) },
	})
	if err != nil {
		return fail(err)
	}
	r := haltReport{}
	var mu sync.Mutex // guards r.Acknowledged
	commit := func(n int) error {
		id := fmt.Sprintf("i%03d", n)
		_, err := st.Commit(nil, spawning(id, 16<<10))
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			r.Acknowledged = append(r.Acknowledged, id)
		}
		return err
	}
	for n := range 5 {
		if err := commit(n); err != nil {
			return fail(err)
		}
	}
	failing.On()
	over := make(chan error, 1)
	go func() { // it may never return
		for n := 5; n < 200; n++ {
			if err := commit(n); err != nil {
				over <- err
				return
			}
		}
		over <- errors.New("200 commits succeeded")
	}()
	select {
	case <-halted:
	case err := <-over:
		over <- err // and the halt comes, or the child is killed
		if !contains(err, "halted") {
			return fail(err)
		}
		<-halted
	}
	if !program.rotates {
		err := <-over
		r.Unknown = errors.Is(err, store.ErrUnknown) && errors.Is(err, store.ErrHalted)
	}
	_, commitErr := st.Commit(nil, spawning("later", 0))
	_, _, readErr := st.Head(nil, "i000")
	waitErr := st.WaitDurable(nil, 1)
	r.LaterHalted = errors.Is(commitErr, store.ErrHalted) && store.Definite(commitErr) &&
		errors.Is(readErr, store.ErrHalted) && errors.Is(waitErr, store.ErrHalted)
	r.CloseRefused = errors.Is(e.Close(), store.ErrHalted) && e.Halted() != nil
	r.Halts = halts.Load()
	mu.Lock()
	defer mu.Unlock()
	return r.recover(disk)
}

// recover crashes the machine, opens what is left and reports.
func (r *haltReport) recover(disk *crashfs.FS) int {
	after, err := disk.Crash(nil)
	if err != nil {
		return fail(err)
	}
	st, _, err := pebble.Open(nil, pebble.Options{Dir: "/data", FS: after})
	if err != nil {
		return fail(err)
	}
	for _, id := range r.Acknowledged {
		if h, _, err := st.Head(nil, store.InstanceID(id)); err == nil && h.Status == store.Running {
			r.Survived = append(r.Survived, id)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		return fail(err)
	}
	return 0
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}
