package node

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/graph"
)

// bell is a package of one flow that waits for a message by its id. Its channels are given; one for the message is added unless they have
// one.
func bell(t *testing.T, message, channels string) *graph.Package {
	t.Helper()
	if !strings.Contains(channels, "correlate") {
		channels += "  hear: {http: {path: /hear}, schema: " + message + ", correlate: message.id}\n"
	}
	return packageOf(t, "name: bell\nschemas: {item: {id: string}, "+message+": {id: string}}\nchannels:\n"+channels+"flows: [wait.bpmn]\n",
		"wait.bpmn", strings.Replace(waiting, `name="closed"`, fmt.Sprintf("name=%q", message), 1))
}

// A rollback without a hash goes to the one that was active before, whatever was active before that; a beginning that several have is
// refused; and what a running node forgets of a package, it reads from the store again.
func TestRollbackGoesBackByOne(t *testing.T) {
	versions := []*graph.Package{desk(t, "one", "close"), desk(t, "two", "close"), desk(t, "three", "close")}
	r := run(t, versions[0], t.TempDir())
	for i, p := range versions[1:] {
		r.deploy(p, "").want(t, http.StatusOK, `"applied":true`)
		r.do(http.MethodPost, "/api/deployments/rollback?to=sha256:", "", "", "").want(t, http.StatusNotFound, fmt.Sprintf("%d begin like this", i+2))
	}
	r.do(http.MethodPost, "/api/deployments/rollback", "", "", "").want(t, http.StatusOK, `"identity":"`+versions[1].ID)
	r.do(http.MethodPost, "/api/deployments/rollback", "", "", "").want(t, http.StatusOK, `"identity":"`+versions[2].ID)
	r.open("/open", "a").want(t, http.StatusOK)
	r.open("/close", "a").want(t, http.StatusOK, "accepted")
	r.eventually("the outcome", func() bool { return len(r.file("ledger.ndjson")) == 1 })
	if got := r.file("ledger.ndjson"); !strings.Contains(got[0], `"version":"three"`) {
		t.Errorf("ledger %q", got)
	}
}

// A plan says who goes on with what; a package without flows, and a channel by which instances of an older deployment are still reached,
// are refused; ways in of the package before close.
func TestPlanLooksAtWhatDrains(t *testing.T) {
	one := bell(t, "closed", "  start: {http: {path: /start}, schema: item, flow: wait}\n  closed: {http: {path: /closed}, schema: closed, correlate: message.id}\n")
	two := bell(t, "rung", "  begin: {http: {path: /begin}, schema: item, flow: wait}\n  rung: {http: {path: /rung}, schema: rung, correlate: message.id}\n")
	reused := bell(t, "rung", "  begin: {http: {path: /begin}, schema: item, flow: wait}\n  closed: {http: {path: /closed}, schema: rung, correlate: message.id}\n")
	r := run(t, one, t.TempDir())
	r.open("/start", "a").want(t, http.StatusOK)
	r.deploy(one, "?plan=true").want(t, http.StatusOK, `"keeps":[]`, `"differences":[]`)
	r.deploy(two, "?plan=true").want(t, http.StatusOK, `"keeps":[{"deployment":"`+one.ID, `"instances":1`)
	r.deploy(two, "").want(t, http.StatusOK, `"applied":true`)
	r.open("/start", "b").want(t, http.StatusNotFound)
	r.open("/begin", "b").want(t, http.StatusOK)
	r.deploy(reused, "").want(t, http.StatusConflict, `"refused":true`, `"name":"closed"`)
	r.open("/closed", "a").want(t, http.StatusOK, "accepted")
	r.deploy(packageOf(t, "name: bell\nschemas: {item: {id: string}}\n"), "").want(t, http.StatusConflict, "it has no flows")
}

// A plan looks at the deployments that drain, also when the node was started with the one that is active again, and at what the node was
// started with, also when that is no deployment any more. What cannot be opened is not activated.
func TestPlanLooksBeyondWhatIsActive(t *testing.T) {
	one := bell(t, "closed", "  start: {http: {path: /start}, schema: item, flow: wait}\n  closed: {http: {path: /closed}, schema: closed, correlate: message.id}\n")
	two := bell(t, "rung", "  begin: {http: {path: /begin}, schema: item, flow: wait}\n  rung: {http: {path: /rung}, schema: rung, correlate: message.id}\n")
	reused := bell(t, "rung", "  begin: {http: {path: /begin}, schema: item, flow: wait}\n  closed: {http: {path: /closed}, schema: rung, correlate: message.id}\n")
	r := run(t, two, t.TempDir())
	r.deploy(one, "").want(t, http.StatusOK, `"applied":true`)
	r.open("/start", "a").want(t, http.StatusOK)
	r.deploy(two, "").want(t, http.StatusOK, `"applied":true`)
	r.deploy(reused, "?plan=true").want(t, http.StatusOK, `"refused":true`, `"name":"closed"`)
	if err := r.apply(r.intake, desk(t, "one", "close")); !errors.Is(err, engine.ErrPackage) || r.active() != two.ID {
		t.Errorf("emits to a relay that the node has not: %v, and %s is active", err, r.active())
	}
	r.pkg = ordersPackage(t)
	r.deploy(two, "?plan=true").want(t, http.StatusOK, `"refused":true`, `"kind":"sink"`)
	r.pkg = two
}

// The folders of a package are watched from its activation on, and those of the one before are not any more.
func TestFoldersFollowTheDeployment(t *testing.T) {
	dir := t.TempDir()
	inFolder := func(name string) *graph.Package {
		return bell(t, "closed", "  drop: {file: {folder: "+name+", poll: 10ms}, schema: item, flow: wait}\n")
	}
	r := run(t, inFolder("one"), dir)
	before := r.flows.open.Observe()
	r.deploy(inFolder("two"), "").want(t, http.StatusOK, `"applied":true`)
	if before.folders.Err() == nil {
		t.Error("the folders of the package before are watched still")
	}
	for name, text := range map[string]string{"a.json": `{"id":"a"}`, "b.json": `{"id":`, "c.json": strings.Repeat(" ", maxMessageBytes) + `{"id":"c"}`} { //order:each is a file
		path := filepath.Join(dir, "two", name)
		if err := joined(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path+".new", []byte(text), 0o644), os.Rename(path+".new", path)); err != nil {
			t.Fatal(err)
		}
	}
	r.eventually("the files", func() bool {
		done, err := filepath.Glob(filepath.Join(dir, "two", "*", "*.json"))
		return err == nil && len(done) == 3
	})
	for name, want := range map[string]string{"done/a.json": "", "refused/b.json": "line 1", "refused/c.json": "more than"} { //order:each is judged alone
		_, err := os.Stat(filepath.Join(dir, "two", name))
		why, _ := os.ReadFile(filepath.Join(dir, "two", name+".reason")) // absent where none is wanted
		if err != nil || !strings.Contains(string(why), want) {
			t.Errorf("%s: %q, %v", name, why, err)
		}
	}
	if a, b := dropID("x", []byte("0123456789abc")), dropID("x", []byte("1123456789abc")); a == b {
		t.Error("two contents under one name are one delivery")
	}
}

// A file for which nothing waits is refused, with the reason beside it.
func TestUnmatchedFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	r := run(t, bell(t, "closed", "  start: {http: {path: /start}, schema: item, flow: wait}\n  closed: {file: {folder: in, poll: 10ms}, schema: closed, correlate: message.id}\n"), dir)
	path := filepath.Join(dir, "in", "a.json")
	if err := joined(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path+".new", []byte(`{"id":"a"}`), 0o644), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
	var why []byte
	r.eventually("a reason", func() bool {
		var err error
		why, err = os.ReadFile(filepath.Join(dir, "in", "refused", "a.json.reason"))
		return err == nil && len(why) > 0
	})
	if !strings.Contains(string(why), "nothing waits for it") {
		t.Errorf("reason %q", why)
	}
}

// A delivery that meets the moment of an activation is decoded again by the package that is active then, whichever refusal it got.
func TestSupersededDeliveryGoesToTheNewChannel(t *testing.T) {
	r := run(t, bell(t, "closed", "  start: {http: {path: /start}, schema: item, flow: wait}\n"), t.TempDir())
	now := r.flows.open.Observe().byName["start"]
	for _, refusal := range []error{engine.ErrSuperseded, engine.ErrNoChannel} {
		old := *now
		var got []*channel
		err := r.whileSuperseded(r.intake, &old, func(x *channel) error {
			if got = append(got, x); x == &old {
				return fmt.Errorf("deliver: %w", refusal)
			}
			return nil
		})
		if err != nil || len(got) != 2 || got[1] != now {
			t.Errorf("%v: asked %d channels, %v", refusal, len(got), err)
		}
	}
}
