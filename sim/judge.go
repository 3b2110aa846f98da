package sim

import (
	"testing"

	"github.com/millrace-dev/millrace/sim/inventory"
)

// Judge explores body with random schedules for a check of another lane than the simulator's own: histories that porcupine
// judges inside of body. It is called within inventory.Run, whose check it names; it reports what failed there, and returns the
// number of executions.
func Judge(t *testing.T, id string, body func(w *World), opts ...Option) int {
	t.Helper()
	r, err := Explore(id, "random", body, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Failure; f != nil {
		inventory.Observe(t, inventory.Verdict{Kind: inventory.Kind(f.Kind), ID: f.ID, Message: f.Message})
		t.Error(f.Message)
	}
	return r.Executions
}
