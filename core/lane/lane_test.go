package lane_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/lane"
)

func isStopped(err error) bool { return errors.Is(err, lane.ErrStopped) }

// The hash is part of no format, but a change of it would move every instance at an upgrade, so it is fixed.
func TestHashIsStable(t *testing.T) {
	for id, want := range map[string]uint64{
		"":       0xcbf29ce484222325,
		"a":      0xaf63dc4c8601ec8c,
		"foobar": 0x85944171f73967e8,
	} {
		if got := lane.Hash(id); got != want {
			t.Errorf("hash of %q is %x, want %x", id, got, want)
		}
	}
}

func TestOptionsOutOfRange(t *testing.T) {
	err := lane.Options{Lanes: -1, Queue: lane.MaxQueue + 1}.Validate()
	for _, want := range []string{"option lanes: -1 is not in 1…1024", "option queue: 1048577 is not in 1…1048576"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := (lane.Options{}).Validate(); err != nil {
		t.Errorf("the zero options are refused: %v", err)
	}
}
