package node

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// A node without a store does what every node does, says at every place that it forgets, and has forgotten after its end.
func TestNodeWithoutAStoreSaysWhatItForgets(t *testing.T) {
	dir, pkg := t.TempDir(), packageOf(t, parked, "approve.bpmn", flowText(t))
	body := strings.TrimSpace(order("big", "5000"))
	for life := range 2 {
		var log journalOf
		r := run(t, pkg, dir, func(o *Options) {
			o.Storeless, o.Log = true, slog.New(slog.NewTextHandler(&log, nil))
		})
		if n := r.count("running"); n != 0 {
			t.Errorf("life %d begins with %d instances", life, n)
		}
		id, ok := r.json("/start", "s", body).want(t, http.StatusOK, `"outcome":"accepted"`).body["instance"].(string)
		if !ok {
			t.Fatal("no instance")
		}
		r.json("/start", "s", body).want(t, http.StatusOK, `"duplicate":true`, id)
		r.get("/api/instances/"+id).want(t, http.StatusOK, `"narrowed":"the state of flows is kept in memory`)
		r.get("/readyz").want(t, http.StatusOK, `"degraded":["the state of flows is kept in memory`)
		r.get("/api/package").want(t, http.StatusOK, `"store":"none"`)
		if log.lines("development posture") != 1 {
			t.Errorf("the log says %s", log.String())
		}
		r.stop()
	}
	r := run(t, pkg, dir)
	if n := r.count("running"); n != 0 {
		t.Errorf("%d instances of a node without a store are in the data folder", n)
	}
	r.get("/api/package").want(t, http.StatusOK, `"store":"pebble"`)
	if err := (Options{Package: pkg, Data: dir, Storeless: true, Shared: Shared{URL: "postgres://u@h/d"}}).Validate(); err == nil || !strings.Contains(err.Error(), "storeless") {
		t.Errorf("a node without a store that shares one: %v", err)
	}
}
