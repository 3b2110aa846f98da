package pebble_test

import (
	"testing"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/pebble"
	"github.com/millrace-dev/millrace/core/store/pebble/crashfs"
	"github.com/millrace-dev/millrace/core/store/storetest"
	"github.com/millrace-dev/millrace/sim"
)

func TestMain(m *testing.M) {
	if halted() {
		return
	}
	sim.Main(m)
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		st, _, err := pebble.Open(nil, pebble.Options{Dir: "/data", FS: crashfs.New()})
		if err != nil {
			t.Fatal(err)
		}
		return st
	})
}

func TestConformanceOnDisk(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		st, _, err := pebble.Open(nil, pebble.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		return st
	})
}
func halted() bool { return false }
