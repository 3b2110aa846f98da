package pebble_test

import (
	"flag"
	"os"
	"testing"

	"github.com/millrace-dev/millrace/sim"
)

// TestMain runs the package's tests, or, in a child process that a test of halts has started, the program that halts.
func TestMain(m *testing.M) {
	if name := os.Getenv(haltVar); name != "" {
		os.Exit(haltProgram(name))
	}
	// A crash takes long to shrink: each attempt opens stores. The limit is for failing runs only.
	if err := flag.Set("rapid.shrinktime", "2s"); err != nil {
		panic(err)
	}
	sim.Main(m)
}
