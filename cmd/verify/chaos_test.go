package main

import (
	"errors"
	"strings"
	"testing"
)

// What cannot be carried out is refused before anything starts.
func TestChaosNamesBadBounds(t *testing.T) {
	for args, part := range map[string]string{
		"time=0s": "1s to 1h", "time=x": "1s to 1h", "seed=-1": "not a number", "clients=0": "at least 1", "break=x": "receipts", "word": "too many",
	} {
		err := chaosCommand(t.Context(), []string{args})
		if !errors.Is(err, errUsage) || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
