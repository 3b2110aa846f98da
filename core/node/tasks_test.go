package node

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/graph"
)

const charge = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t">
<error id="refused" errorCode="REFUSED"/>
<process id="pay">
<startEvent id="in"/>
<serviceTask id="charge"><extensionElements><zeebe:taskDefinition type="charge" retries="2"/><zeebe:taskHeaders><zeebe:header key="currency" value="EUR"/></zeebe:taskHeaders></extensionElements></serviceTask>
<boundaryEvent id="no" attachedToRef="charge"><errorEventDefinition errorRef="refused"/></boundaryEvent>
<endEvent id="end"/><endEvent id="unpaid"/>
<sequenceFlow id="a" sourceRef="in" targetRef="charge"/><sequenceFlow id="b" sourceRef="charge" targetRef="end"/><sequenceFlow id="c" sourceRef="no" targetRef="unpaid"/>
</process>
<process id="mend">
<startEvent id="broken"/><userTask id="look"><extensionElements><zeebe:userTask/></extensionElements></userTask><endEvent id="mended"/>
<sequenceFlow id="d" sourceRef="broken" targetRef="look"/><sequenceFlow id="e" sourceRef="look" targetRef="mended"/>
</process>
</definitions>`

const paymentSchema = `{"type":"object","required":["order"],"properties":{"order":{"type":"object","required":["id","amount"],
"properties":{"id":{"type":"string"},"amount":{"type":"number","minimum":0}}}}}`

func payPackage(t *testing.T, channels string) *graph.Package {
	t.Helper()
	return packageOf(t, "name: pay\nnode: {journal: 24h}\nchannels:\n"+channels+"flows: [pay.bpmn]\n", "pay.bpmn", charge, "payment.json", paymentSchema)
}

// A worker over HTTP: fetch and lock with a long poll, extend, fail with retries, complete, throw; late and doubled answers are
// refused.
func TestExternalTasks(t *testing.T) {
	r := run(t, payPackage(t, "  payments: {http: {path: /payments}, json_schema: payment.json, flow: pay, correlate: message.order.id, buffer: 1h}\n"), t.TempDir())
	fetch := `{"worker":"w","types":["charge"],"max":2,"lock":"30s","wait":"10s"}`
	polled := make(chan answerOf)
	go func() { polled <- r.json("/api/tasks/fetch", "", fetch) }()
	r.json("/payments", "", `{"order":{"id":"o-1","amount":12.5}}`).want(t, http.StatusOK, "accepted")
	got := <-polled
	got.want(t, http.StatusOK, `"type":"charge"`, `"headers":{"currency":"EUR"}`, `"variables":{"order":{"id":"o-1","amount":12.5}}`, `"retries":2`)
	id := got.text[strings.Index(got.text, `"instance":"`)+12:]
	id = id[:strings.IndexByte(id, '"')]
	path := fmt.Sprintf("/api/tasks/%s/%d/", id, got.number(t, "tasks", "wait"))
	r.json(path+"extend", "", `{"lock":1,"for":"1m"}`).want(t, http.StatusOK)
	r.json(path+"extend", "", `{"lock":1,"for":"soon"}`).want(t, http.StatusBadRequest)
	r.json(path+"complete", "", `{"lock":2}`).want(t, http.StatusConflict, "not held")
	r.json(path+"complete", "", `{"lock":1,"worker":"another"}`).want(t, http.StatusConflict, "not held")
	r.json(path+"extend", "", `{"lock":1,"for":"1m","worker":"w"}`).want(t, http.StatusOK)
	r.json(path+"fail", "", `{"lock":1,"retries":1,"backoff":"0s","reason":"busy"}`).want(t, http.StatusOK)
	r.json("/api/tasks/fetch", "", fetch).want(t, http.StatusOK, `"lock":2`, `"retries":1`)
	r.json(path+"complete", "", `{"lock":1}`).want(t, http.StatusConflict)
	r.json(path+"error", "", `{"lock":2}`).want(t, http.StatusBadRequest, "code")
	r.json(path+"error", "", `{"lock":2,"code":"REFUSED","variables":{"why":"no funds"}}`).want(t, http.StatusOK)
	r.json(path+"complete", "", `{"lock":2}`).want(t, http.StatusGone, `{"error":"instance `+id+` has ended (completed)`)
	r.get("/api/instances?status=completed").want(t, http.StatusOK, id)
	r.get("/api/instances/"+id+"/history").want(t, http.StatusOK, `"visited":["in","charge"]`, `"visited":["no","unpaid"]`, `"journal":true`)
	for body, why := range map[string]string{ //order:each is a request of its own
		"": "empty", "[1]": "found array, want a JSON object", "{": "ends in the middle", `{"lock":"2"}`: "lock: found string, want a number from 0",
		`{"lock":-1}`: "lock: found number -1", `{"retries":1.5}`: "want a whole number", `{"reason":1}`: "want a text", `{"lok":1}`: `there is no \"lok\"`,
		`{"for":5}`: "duration 5: want a text", `{"lock":2} x`: "follows", "nonsense": "invalid character",
	} {
		r.json(path+"complete", "", body).want(t, http.StatusBadRequest, why)
	}
	r.json("/api/tasks/fetch", "", `{"types":"charge"}`).want(t, http.StatusBadRequest, "types: found string, want a list of texts")
	for _, bad := range []string{`{"types":["charge"]}`, `{"worker":"w"}`, `{"worker":"w","types":["a"],"max":0}`, `{"worker":"w","types":["a"],"lock":"1000h"}`, `{"worker":"w","types":["a"],"surprise":1}`, `{`} {
		r.json("/api/tasks/fetch", "", bad).want(t, http.StatusBadRequest)
	}
}

// A message that does not fit its JSON Schema is refused with the pointer of the value, or starts the process that is named for it.
func TestJSONSchemaOfAChannel(t *testing.T) {
	r := run(t, payPackage(t, `  payments: {http: {path: /payments}, json_schema: payment.json, flow: pay, correlate: message.order.id}
  routed: {http: {path: /routed}, json_schema: payment.json, flow: pay, invalid: mend}
`), t.TempDir())
	r.json("/payments", "", `{"order":{"id":"o-1","amount":-1}}`).want(t, http.StatusBadRequest, `"pointer":"/order/amount"`, "minimum")
	r.json("/payments", "", `{"order":{"amount":1}}`).want(t, http.StatusBadRequest, `"pointer":"/order"`, "id")
	r.json("/payments", "", `[1]`).want(t, http.StatusBadRequest, "rejected")
	r.json("/payments", "", `{`).want(t, http.StatusBadRequest, "rejected")
	r.json("/payments", "p1", `{"order":{"id":"o-1","amount":1}}`).want(t, http.StatusOK, "accepted")
	r.json("/payments", "p2", `{"order":{"id":"o-1","amount":1}}`).want(t, http.StatusNotFound, "unmatched", "business key")
	a := r.json("/routed", "p3", `{"order":{"id":7,"amount":1}}`).want(t, http.StatusOK, "accepted")
	id, ok := a.body["instance"].(string)
	if !ok {
		t.Fatal(a.text)
	}
	r.json("/routed", "p3", `{"order":{"id":7,"amount":1}}`).want(t, http.StatusOK, `"duplicate":true`)
	d := r.get("/api/instances/"+id).want(t, http.StatusOK, `"element":"look"`, `"pointer":"/order/id"`)
	if got := r.metric(`millrace_records_rejected_total{place="channel routed",reason="schema"}`); got != "2" {
		t.Errorf("rejected %q", got)
	}
	r.json(fmt.Sprintf("/api/instances/%s/tasks/%d", id, d.number(t, "waits", "wait")), "", "").want(t, http.StatusOK)
	if n := r.count("running"); n != 1 {
		t.Errorf("%d instances run", n)
	}
}

// A worker's answer is about an external task: no number of a lock makes it complete a user task, whose wait it may guess or mix up.
func TestWorkerSettlesNoUserTask(t *testing.T) {
	r := run(t, payPackage(t, "  routed: {http: {path: /routed}, json_schema: payment.json, flow: mend}\n"), t.TempDir())
	id, ok := r.json("/routed", "", `{"order":{"id":"o-1","amount":1}}`).want(t, http.StatusOK, "accepted").body["instance"].(string)
	if !ok {
		t.Fatal("the answer names no instance")
	}
	wait := r.get("/api/instances/"+id).want(t, http.StatusOK, `"element":"look"`).number(t, "waits", "wait")
	path := fmt.Sprintf("/api/tasks/%s/%d/", id, wait)
	for _, body := range []string{`{}`, `{"lock":0}`, `{"lock":1}`, `{"lock":7}`} {
		r.json(path+"complete", "", body).want(t, http.StatusConflict)
	}
	r.json(path+"error", "", `{"lock":1,"code":"REFUSED"}`).want(t, http.StatusConflict)
	r.get("/api/instances/"+id).want(t, http.StatusOK, `"status":"running"`)
	r.json(fmt.Sprintf("/api/instances/%s/tasks/%d", id, wait), "", "").want(t, http.StatusOK)
}

// Files that are dropped are taken once, in the order of their names, and renamed when they are answered; one that was renamed by
// nobody because the node died is a duplicate.
func TestFileDrop(t *testing.T) {
	dir := t.TempDir()
	pkg := payPackage(t, "  payments: {file: {folder: in, poll: 10ms}, json_schema: payment.json, flow: pay, correlate: message.order.id}\n")
	r := run(t, pkg, dir)
	drop := func(name, text string) {
		t.Helper()
		hidden := filepath.Join(dir, "in", "."+name)
		if err := os.MkdirAll(filepath.Dir(hidden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(hidden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(hidden, filepath.Join(dir, "in", name)); err != nil {
			t.Fatal(err)
		}
	}
	lies := func(path string) bool { _, err := os.Stat(filepath.Join(dir, path)); return err == nil }
	drop("a.json", `{"order":{"id":"o-1","amount":1}}`)
	drop("b.json", `{"order":{"id":"o-2","amount":-1}}`)
	r.eventually("the first two", func() bool { return lies("in/done/a.json") && lies("in/refused/b.json") })
	why, err := os.ReadFile(filepath.Join(dir, "in/refused/b.json.reason"))
	if err != nil || !strings.Contains(string(why), "/order/amount") {
		t.Errorf("reason %q, %v", why, err)
	}
	if err := os.Symlink(filepath.Join(dir, "in/done/a.json"), filepath.Join(dir, "in/d.json")); err != nil {
		t.Fatal(err)
	}
	r.eventually("the link", func() bool { return lies("in/refused/d.json") && !lies("in/d.json") })
	if why, err := os.ReadFile(filepath.Join(dir, "in/refused/d.json.reason")); err != nil || string(why) != "it is no regular file\n" {
		t.Errorf("reason %q, %v", why, err)
	}
	drop("a.json", `{"order":{"id":"o-1","amount":1}}`)
	r.eventually("the duplicate", func() bool { return lies("in/done/a.json") && !lies("in/a.json") })
	if n := r.count("started"); n != 1 {
		t.Errorf("%d instances", n)
	}
	r.stop()
	drop("c.json", `{"order":{"id":"o-3","amount":3}}`)
	r = run(t, payPackage(t, "  payments: {file: {folder: in, poll: 10ms}, json_schema: payment.json, flow: pay, correlate: message.order.id}\n"), dir)
	r.eventually("what came while the node was down", func() bool { return lies("in/done/c.json") && r.count("started") == 2 })
}

// A key or a value of a query that the node does not know is refused: a misspelled filter would list everything, and a misspelled plan apply it.
func TestQueriesAreReadStrictly(t *testing.T) {
	r := run(t, payPackage(t, "  payments: {http: {path: /payments}, json_schema: payment.json, flow: pay}\n"), t.TempDir())
	for path, reason := range map[string]string{
		"/api/instances?state=running":      `unknown key \"state\"; known: status, incidents, after, limit`,
		"/api/instances?status=running;x=1": "read query",
		"/api/instances?status=runing":      `status \"runing\"`,
		"/api/instances?incidents":          `incidents \"\": want true or false`,
		"/api/instances?limit=1&limit=2":    "limit is given 2 times",
		"/api/instances/i?journal=true":     "known: none",
		"/api/deployments?all=true":         "known: none",
		"/api/package?x":                    "known: none",
	} {
		r.get(path).want(t, http.StatusBadRequest, reason)
	}
	for _, path := range []string{"/api/deployments?plan=yes", "/api/deployments?plan", "/api/deployments?plan=true&plan=false", "/api/deployments?plans=true", "/api/deployments/rollback?plan=1"} {
		r.json(path, "", "PK").want(t, http.StatusBadRequest, "plan")
	}
	r.get("/api/instances?status=running").want(t, http.StatusOK)
}

// Lists come in pages that together name every instance once.
func TestInstancesComeInPages(t *testing.T) {
	r := run(t, payPackage(t, "  payments: {http: {path: /payments}, json_schema: payment.json, flow: pay}\n"), t.TempDir())
	for i := range 7 {
		r.json("/payments", "", fmt.Sprintf(`{"order":{"id":"o-%d","amount":1}}`, i)).want(t, http.StatusOK)
	}
	seen, next := map[string]bool{}, ""
	for range 10 {
		a := r.get("/api/instances?status=running&limit=3&after="+next).want(t, http.StatusOK)
		list, ok := a.body["instances"].([]any)
		if !ok || len(list) > 3 {
			t.Fatal(a.text)
		}
		for _, x := range list {
			seen[x.(map[string]any)["instance"].(string)] = true
		}
		if next, ok = a.body["next"].(string); !ok {
			break
		}
	}
	if len(seen) != 7 || next != "" {
		t.Errorf("%d instances, next %q", len(seen), next)
	}
	for id := range seen {
		r.json("/api/instances/"+id+"/cancel?token=x", "", "").want(t, http.StatusBadRequest)
		r.json("/api/instances/"+id+"/cancel", "", "").want(t, http.StatusOK)
		break
	}
	if r.count("failed") != 1 || r.count("running") != 6 {
		t.Errorf("%d failed, %d running", r.count("failed"), r.count("running"))
	}
}
