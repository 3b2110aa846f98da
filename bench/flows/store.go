package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/group"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/core/store/postgres"
)

// slowCommit is how long a commit of the slow store takes.
const slowCommit = 5 * time.Millisecond

// slow is a store whose commits take a fixed time, side by side.
type slow struct{ store.Store }

// Commit implements store.Steps.
func (s slow) Commit(scope *sched.Scope, st *store.Step) (store.Ticket, error) {
	time.Sleep(slowCommit)
	return s.Store.Commit(scope, st)
}

// openStore opens the store that r names, and says how it syncs. end closes it.
func openStore(s sched.Scheduler, scope *sched.Scope, r *result, url, schema string) (st store.Store, end func() error, err error) {
	switch r.Store {
	case "pebble":
		r.Sync = "Pebble, every commit synced"
		st, end, err = openPebble(scope)
	case "postgres":
		r.Sync = "PostgreSQL, synchronous_commit=on"
		st, err = postgres.Open(scope, postgres.Options{URL: url, Schema: schema})
		end = func() error { return st.Close() }
	case "slow":
		r.Sync = fmt.Sprintf("memory, every commit takes %v", slowCommit)
		inner, _ := memory.Open(s, memory.Options{})
		st, end = slow{inner}, inner.Close
	default:
		err = fmt.Errorf("there is no store %q", r.Store)
	}
	if err != nil || !r.Group {
		return st, end, err
	}
	grouped, err := group.New(s, scope, group.Options{}, st)
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	below := end
	return grouped, func() error {
		grouped.Stop()
		return below()
	}, nil
}

func openPebble(scope *sched.Scope) (store.Store, func() error, error) {
	dir, err := os.MkdirTemp("", "millrace-flows-")
	if err != nil {
		return nil, nil, err
	}
	st, engine, err := pebble.Open(scope, pebble.Options{Dir: dir})
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return st, func() error { return errors.Join(engine.Close(), os.RemoveAll(dir)) }, nil
}
