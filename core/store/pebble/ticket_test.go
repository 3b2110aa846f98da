package pebble_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/core/store/pebble/crashfs"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// serial is the one row of these tests: the number of the commit that wrote it, counted from the first.
var serial = []byte("z")

// readSerial returns the number of the newest commit that a view shows, and the view's ticket.
func readSerial(e *pebble.Engine) (n uint64, t store.Ticket, err error) {
	t, err = e.View(nil, "read", func(v step.View) error {
		value, found, err := v.Get(serial)
		if found {
			n = binary.BigEndian.Uint64(value)
		}
		return err
	})
	return n, t, err
}

func writeSerial(e *pebble.Engine, n uint64, durable bool) (store.Ticket, error) {
	return e.Update(nil, "write", durable, func(tx step.Tx) error {
		tx.Set(serial, binary.BigEndian.AppendUint64(nil, n))
		return nil
	})
}

// Readers race one writer: whatever a view shows, its ticket covers (P3). A view is taken also at the failpoint between a commit's
// becoming visible and its return, and a commit is made inside a view, between its snapshot and its ticket, so that neither
// needs luck.
func TestLinearS1TicketCoversWhatWasRead(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "S1/a-ticket-covers-what-was-read", func(t *testing.T) int {
		const writes = 3000
		var e *pebble.Engine
		var base store.Ticket
		var short atomic.Pointer[string]
		look := func() {
			n, ticket, err := readSerial(e)
			if err != nil || ticket < base+store.Ticket(n) {
				text := fmt.Sprintf("commit %d is visible under ticket %d, first commit at %d; %v", n, ticket, base+1, err)
				short.Store(&text)
			}
		}
		_, e = open(t, pebble.Options{Dir: "/data", FS: crashfs.New(), Failpoint: func(name string) {
			if name == store.PointAfterApply && base > 0 {
				look()
			}
		}})
		base = e.Visible()
		e.Amid(func() {
			_, err := writeSerial(e, 1, false)
			ok(t, err)
		})
		look()
		e.Amid(nil)
		var over atomic.Bool
		var tasks sync.WaitGroup
		for range 2 {
			tasks.Go(func() {
				for !over.Load() {
					look()
				}
			})
		}
		for n := uint64(2); n <= writes && short.Load() == nil; n++ {
			_, err := writeSerial(e, n, n%100 == 0)
			ok(t, err)
		}
		over.Store(true)
		tasks.Wait()
		ok(t, e.Close())
		if text := short.Load(); text != nil {
			inventory.Violated(t, t, "S1.P3", "%s", *text)
		}
		return writes
	})
}

// While the sync of a commit is on its way nobody is told that the commit is durable: neither who made it nor who waits for
// what is visible.
func TestLinearS1NothingIsDurableBeforeItsSync(t *testing.T) {
	inventory.Run(t, inventory.LaneLinear, "S1/nothing-is-durable-before-its-sync", func(t *testing.T) int {
		const histories = 20
		for n := range histories {
			if told := tellEarly(t); told != "" {
				inventory.Violated(t, t, "S1.durable", "history %d: %s was told so before the sync", n, told)
			}
		}
		return histories
	})
}

// tellEarly holds the sync of a commit and returns who was told meanwhile that it is durable.
func tellEarly(t *testing.T) (told string) {
	var early atomic.Pointer[string]
	begun, held := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var holding atomic.Bool
	hold := func() {
		close(held)
		<-begun
		for range 1000 {
			if early.Load() != nil {
				return
			}
			runtime.Gosched()
		}
	}
	_, e := open(t, pebble.Options{Dir: "/data", FS: errorfs.Wrap(crashfs.New(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if holding.Load() && slices.Contains(syncs, op.Kind) && path.Ext(op.Path) == ".log" {
			once.Do(hold)
			holding.Store(false)
		}
		return nil
	}))})
	holding.Store(true)
	tell := func(who string, err error) {
		if err == nil && holding.Load() {
			early.Store(&who)
		}
	}
	var tasks sync.WaitGroup
	tasks.Go(func() {
		_, err := writeSerial(e, 1, true)
		tell("its writer", err)
	})
	<-held
	visible := e.Visible()
	tasks.Go(func() {
		close(begun)
		linger()
		tell("a reader", e.WaitDurable(nil, visible))
	})
	tasks.Wait()
	ok(t, e.Close())
	if who := early.Load(); who != nil {
		return *who
	}
	return ""
}

// Whoever waits for the commit section stops when its scope ends, though the section stays taken.
func TestWaitForTheSectionEndsWithItsScope(t *testing.T) {
	_, e := open(t, pebble.Options{Dir: "/data", FS: crashfs.New()})
	scope := sched.Scheduler{}.NewScope("caller")
	taken, release := make(chan struct{}), make(chan struct{})
	var ended atomic.Pointer[error]
	var tasks sync.WaitGroup
	tasks.Go(func() {
		_, err := e.Update(nil, "long", false, func(step.Tx) error {
			close(taken)
			<-release
			return nil
		})
		ended.CompareAndSwap(nil, &err)
	})
	<-taken
	tasks.Go(func() {
		_, err := e.Update(scope, "short", false, func(step.Tx) error { return nil })
		ended.CompareAndSwap(nil, &err)
	})
	linger()
	scope.Cancel(errInjected)
	for n := 0; n < 1_000_000 && ended.Load() == nil; n++ {
		runtime.Gosched()
	}
	early := ended.Load()
	close(release)
	tasks.Wait()
	scope.Close()
	ok(t, e.Close())
	if early == nil || !errors.Is(*early, errInjected) {
		t.Errorf("while the section was taken the other commit ended with %v", early)
	}
}
