package node

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/graph"
)

func TestOnlyLoopbackAddressesAreServed(t *testing.T) {
	for address, ok := range map[string]bool{
		"127.0.0.1:0": true, "localhost:8080": true, "[::1]:8080": true, "127.8.8.8:1": true,
		"0.0.0.0:8080": false, ":8080": false, "[::]:8080": false, "192.0.2.1:80": false, "example.com:80": false, "127.0.0.1": false,
		"127.0.0.1:99999": false, "127.0.0.1:": false, "127.0.0.1:http": false,
	} {
		o := Options{Package: &graph.Package{}, Data: "d", Listen: address}
		if err := o.Validate(); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
	if _, err := Start(Options{Package: ordersPackage(t), Data: t.TempDir(), Listen: "0.0.0.0:0"}); err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("got %v", err)
	}
}

func TestOptionsListEveryFault(t *testing.T) {
	err := Options{}.Validate()
	for _, want := range []string{"package", "data"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func TestFailpointText(t *testing.T) {
	if f, err := FailpointFrom(""); f != nil || err != nil {
		t.Errorf("empty: %v", err)
	}
	for _, bad := range []string{"x", "x:", "x:0", ":1", "x:-1", "x:y"} {
		if _, err := FailpointFrom(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	f, err := FailpointFrom("sink/after-write:3")
	if err != nil {
		t.Fatal(err)
	}
	f("sink/after-write") // the third call would end this process
	f("another")
	f("sink/after-write")
}

// A second node on the same data or the same port does not start, and what it opened is closed again.
func TestSecondNodeIsRefused(t *testing.T) {
	dir := t.TempDir()
	r := run(t, ordersPackage(t), dir)
	if _, err := Start(Options{Package: ordersPackage(t), Data: dir, Listen: "127.0.0.1:0", Log: r.opts.Log}); err == nil {
		t.Error("two nodes on one data folder")
	}
	if _, err := Start(Options{Package: ordersPackage(t), Data: t.TempDir(), Listen: r.Address(), Log: r.opts.Log}); err == nil {
		t.Error("two nodes on one port")
	}
	r.lines("/orders", "", order("a", "1")).want(t, http.StatusOK)
}

func TestDescribesItsPackage(t *testing.T) {
	r := run(t, ordersPackage(t), t.TempDir())
	r.get("/api/package").want(t, http.StatusOK, `"name":"orders"`, r.pkg.ID)
	r.get("/nothing").want(t, http.StatusNotFound)
}

// Keys are kept as long as the nearest deduplicator keeps them, because the ids behind it are its keys.
func TestInboxKeepsIDsAsLongAsTheirDeduplicator(t *testing.T) {
	n := &Node{pkg: ordersPackage(t)}
	for _, c := range n.pkg.Channels {
		want := inboxKeep
		if c.From != nil {
			want = 10 * time.Minute
		}
		if got := n.engineChannel(c).Keep; got != want {
			t.Errorf("channel %s keeps ids for %v, want %v", c.Name, got, want)
		}
	}
}

func TestSourcesOfABranchMustAgree(t *testing.T) {
	text := `
name: branches
schemas: {item: {id: string, other: string}}
branches: {by: {key: [k], ttl: 1m}}
sources:
  one: {http: {path: /one}, decode: {schema: item}, to: {relay: r, branch: {by: {k: row.id}}}}
  two: {http: {path: /two}, decode: {schema: item}, to: {relay: r, branch: {by: {k: KEY}}}}
relays: {r: {schema: item, branched_by: by}, u: {schema: item, branched_by: by}}
processors: {d: {from: r, deduplicate: {on: row.id, keep: 1m}, to: u}}
sinks: {out: {from: u, file: {path: out.ndjson}}}
`
	for key, ok := range map[string]bool{"row.id": true, "row.other": false} {
		n := &Node{pkg: packageOf(t, strings.Replace(text, "KEY", key, 1))}
		keys, err := n.branchKeys(n.pkg.Processors[0].From, 0)
		if (err == nil) != ok || ok && texts(keys) != "row.id" {
			t.Errorf("key %s: %v", key, err)
		}
	}
}

func TestLetterBodyIsAlwaysJSON(t *testing.T) {
	for body, want := range map[string]string{`{"a":1}`: `{"a":1}`, `{"a":`: `"{\"a\":"`, "\xff": `"\ufffd"`} {
		if got := letterBody([]byte(body)); !json.Valid(got) || string(got) != want {
			t.Errorf("%q: %s, want %s", body, got, want)
		}
	}
}
