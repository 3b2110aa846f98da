package postgres_test

import (
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/millrace-dev/millrace/core/store"
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

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
