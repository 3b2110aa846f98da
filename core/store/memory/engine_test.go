package memory_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
)

func TestOptionsNameEveryFault(t *testing.T) {
	err := memory.Options{Refuse: -1, Lose: 1001, Halt: -1, Budget: -1, Latency: -time.Second}.Validate()
	for _, field := range []string{"refuse", "lose", "halt", "budget", "latency"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("error %v does not name %q", err, field)
		}
	}
	if err := (memory.Options{}).Validate(); err != nil {
		t.Errorf("zero options: %v", err)
	}
}

// put commits one key.
func put(e *memory.Engine, key string, durable bool) (store.Ticket, error) {
	return e.Update(nil, "put", durable, func(tx step.Tx) error {
		tx.Set([]byte(key), nil)
		return nil
	})
}

// keys lists what is visible.
func keys(e *memory.Engine) (out []string, err error) {
	err = e.Peek(func(v step.View) error {
		return v.Scan(nil, []byte{0xff}, func(key, _ []byte) (bool, error) {
			out = append(out, string(key))
			return true, nil
		})
	})
	return out, err
}

// A crash takes a suffix of what is not durable, every length of it, and a ticket that covered some of it is never durable
// again.
func TestCrashTakesSuffix(t *testing.T) {
	seen := map[int]bool{}
	r, err := sim.Explore("memory/crash-takes-a-suffix", "dfs", func(w *sim.World) {
		e := memory.New(w.Scheduler(), memory.Options{})
		var last store.Ticket
		for i := range 4 {
			t, err := put(e, fmt.Sprint(i), i == 1) // the second one makes the first durable, too
			w.NoError(err)
			last = t
		}
		taken := e.Crash()
		left, err := keys(e)
		w.NoError(err)
		w.Require(len(left) == 4-taken && len(left) >= 2, "memory.M3", "crash took %d, %q is left", taken, left)
		for i, key := range left {
			w.Require(key == fmt.Sprint(i), "memory.M3", "%q is no prefix", left)
		}
		err = e.WaitDurable(nil, last)
		w.Require((err == nil) == (taken == 0), "memory.M3", "crash took %d; wait for the last one: %v", taken, err)
		w.NoError(e.WaitDurable(nil, e.Visible()))
		seen[taken] = true
	}, sim.Cores(1))
	if err != nil || r.Failure != nil || !r.Complete {
		t.Fatalf("complete %t, failure %+v, %v", r.Complete, r.Failure, err)
	}
	if len(seen) != 3 {
		t.Errorf("crashes took %v", seen)
	}
}

// A failed sync halts the engine: nothing is acknowledged until it was restarted.
func TestHaltEndsWithCrash(t *testing.T) {
	e := memory.New(sched.Scheduler{}, memory.Options{Halt: 1, Budget: 1})
	if _, err := put(e, "a", true); !errors.Is(err, store.ErrUnknown) || !errors.Is(err, store.ErrHalted) {
		t.Fatalf("commit whose sync failed: %v", err)
	}
	if _, err := put(e, "b", false); !errors.Is(err, store.ErrHalted) || !store.Definite(err) {
		t.Errorf("commit after the halt: %v", err)
	}
	if err := e.WaitDurable(nil, 0); !errors.Is(err, store.ErrHalted) {
		t.Errorf("wait after the halt: %v", err)
	}
	e.Crash()
	if _, err := put(e, "c", true); err != nil {
		t.Errorf("commit after the restart: %v", err)
	}
}

// A refusal is definite: nothing happened.
func TestRefusalHasNoEffect(t *testing.T) {
	e := memory.New(sched.Scheduler{}, memory.Options{Refuse: 1, Budget: 1})
	if _, err := put(e, "a", true); !errors.Is(err, store.ErrUnavailable) || !store.Definite(err) {
		t.Fatal(err)
	}
	if left, err := keys(e); len(left) != 0 || err != nil {
		t.Errorf("%q is there, %v", left, err)
	}
}
