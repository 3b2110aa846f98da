package pebble_test

import (
	"os"
	"testing"

	"github.com/millrace-dev/millrace/sim"
)

// TestMain runs the package's tests, or, in a child process that a test of halts has started, the program that halts.
func TestMain(m *testing.M) {
	if name := os.Getenv(haltVar); name != "" {
		os.Exit(haltProgram(name))
	}
	sim.Main(m)
}
