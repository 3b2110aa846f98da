package postgres_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/group"
	"github.com/millrace-dev/millrace/core/store/postgres"
	"github.com/millrace-dev/millrace/core/store/postgres/pgtest"
	"github.com/millrace-dev/millrace/core/store/storetest"
)

// server is one for the whole package: each test has a schema of its own.
var (
	server  *pgtest.Server
	schemas atomic.Int64
)

func TestMain(m *testing.M) {
	if text := os.Getenv(replicaVar); text != "" {
		os.Exit(replicaProgram(text))
	}
	// A sequence takes long to shrink: each attempt asks a server. The limit is for failing runs only.
	err := flag.Set("rapid.shrinktime", "2s")
	if err != nil {
		panic(err)
	}
	if server, err = pgtest.Start(pgtest.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent(), goleak.Cleanup(func(code int) {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	}))
}

// fresh returns options of an empty schema.
func fresh() postgres.Options {
	return postgres.Options{URL: server.URL(), Schema: fmt.Sprintf("t%d", schemas.Add(1)), Connections: 4}
}

func open(t testing.TB, o postgres.Options) *postgres.Store {
	t.Helper()
	st, err := postgres.Open(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, fresh()) })
}

// Steps that are grouped obey the same contract: by way of the group's queue, and as one of two in every transaction.
func TestConformanceOfGroups(t *testing.T) {
	o := fresh() // one schema, emptied for each example: making one takes longer than the example
	storetest.Run(t, func(t *testing.T) store.Store {
		st := open(t, o)
		_, err := connect(t, o.Schema).Exec(t.Context(), "truncate instances, waits, inbox, records, outbox, rows")
		ok(t, err)
		s := sched.Scheduler{}
		scope := s.NewScope("group")
		g, err := group.New(s, scope, group.Options{}, &accompanied{Store: st})
		ok(t, err)
		t.Cleanup(func() {
			g.Stop()
			scope.Close()
		})
		return g
	})
}

// accompanied commits each step in one transaction with the spawn of an instance that nobody asked for. What is refused is
// committed again by itself, as every member of a refused group may be.
type accompanied struct {
	*postgres.Store
	n int
}

const companion = "\xff companion "

func (a *accompanied) Commit(scope *sched.Scope, st *store.Step) (store.Ticket, error) {
	a.n++
	other := spawning(fmt.Sprint(companion, a.n))
	ticket, err := a.CommitAll(scope, []*store.Step{st, other})
	if err != nil && store.Definite(err) {
		return a.Store.Commit(scope, st)
	}
	return ticket, err
}

// Heads leaves out the companions, which sort behind all others.
func (a *accompanied) Heads(scope *sched.Scope, after store.InstanceID, limit int) ([]store.Head, store.Ticket, error) {
	heads, ticket, err := a.Store.Heads(scope, after, limit)
	heads = slices.DeleteFunc(heads, func(h store.Head) bool { return strings.HasPrefix(string(h.Instance), companion) })
	return heads, ticket, err
}

// Pins leaves the companions out, too.
func (a *accompanied) Pins(scope *sched.Scope, after store.InstanceID, limit int) ([]store.Pin, store.Ticket, error) {
	pins, ticket, err := a.Store.Pins(scope, after, limit)
	pins = slices.DeleteFunc(pins, func(p store.Pin) bool { return strings.HasPrefix(string(p.Instance), companion) })
	return pins, ticket, err
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
