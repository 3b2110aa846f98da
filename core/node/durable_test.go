package node

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// unsynced is a store that cannot sync any more from some moment on. What was committed is visible, and nobody knows whether it is durable.
type unsynced struct {
	store.Store
	broken *atomic.Bool
}

// WaitDurable implements store.Store. A ticket of nothing covers nothing.
func (u unsynced) WaitDurable(scope *sched.Scope, t store.Ticket) error {
	if t > 0 && u.broken.Load() {
		return store.ErrHalted
	}
	return u.Store.WaitDurable(scope, t)
}

// Every request that reads the store of the flows tells nothing of it that a crash may take back: it waits until what it read is durable, and
// when that cannot be known any more it answers that it does not know.
func TestRepliesThatRestOnReadsWaitUntilTheyAreDurable(t *testing.T) {
	var broken atomic.Bool
	r := run(t, packageOf(t, parked, "approve.bpmn", flowText(t)), t.TempDir(), func(o *Options) {
		o.planeOf = func(st store.Store) store.Store { return unsynced{st, &broken} }
	})
	id, ok := r.json("/start", "s", strings.TrimSpace(order("big", "5000"))).want(t, http.StatusOK).body["instance"].(string)
	if !ok {
		t.Fatal("no instance")
	}
	reads := []struct{ method, path, body string }{
		{http.MethodGet, "/api/instances", ""},
		{http.MethodGet, "/api/instances?status=failed", ""},
		{http.MethodGet, "/api/instances?incidents=true", ""},
		{http.MethodGet, "/api/instances/count", ""},
		{http.MethodGet, "/api/instances/" + id, ""},
		{http.MethodGet, "/api/instances/" + id + "/history", ""},
		{http.MethodGet, "/api/instances/nobody", ""},
		{http.MethodGet, "/api/deployments", ""},
		{http.MethodPost, "/api/deployments/rollback", ""},
		{http.MethodPost, "/api/tasks/fetch", `{"worker":"w","types":["none"]}`},
		{http.MethodPost, "/api/instances/nobody/tasks/1", ""},
		{http.MethodPost, "/api/instances/" + id + "/tasks/999", ""},
		{http.MethodPost, "/api/instances/" + id + "/incidents/999", ""},
		{http.MethodPost, "/api/tasks/" + id + "/999/complete", `{"lock":1}`},
		{http.MethodPost, "/api/instances/nobody/cancel", ""},
	}
	whole := map[string]int{}
	for _, x := range reads {
		a := r.do(x.method, x.path, "application/json", "", x.body)
		if whole[x.path] = a.status; a.status == http.StatusServiceUnavailable {
			t.Errorf("%s %s: %s", x.method, x.path, a.text)
		}
	}
	broken.Store(true)
	for _, x := range reads {
		if a := r.do(x.method, x.path, "application/json", "", x.body); a.status != http.StatusServiceUnavailable {
			t.Errorf("%s %s: status %d and %d before: %s", x.method, x.path, a.status, whole[x.path], a.text)
		}
	}
	broken.Store(false)
}
