package node

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/graph"
)

// sent is a request that is under way.
func (r *rig) sent(path, id, body string) <-chan answerOf {
	answered := make(chan answerOf, 1)
	go func() { answered <- r.lines(path, id, body) }()
	return answered
}

func (r *rig) count(field string) int {
	r.t.Helper()
	n, ok := r.get("/api/instances/count").want(r.t, http.StatusOK).body[field].(float64)
	if !ok {
		r.t.Fatalf("no count of %s", field)
	}
	return int(n)
}

// An order parks in a flow, a decision resumes it, its emission reaches the file once, and its request is answered at the end.
func TestOrderWaitsForItsDecision(t *testing.T) {
	dir := t.TempDir()
	r := run(t, ordersPackage(t), dir)
	r.json("/decisions", "early", `{"order_id":"big","approved":true}`).want(t, http.StatusNotFound, "unmatched")
	answered := r.sent("/orders", "b1", order("big", "5000")+order("small", "5"))
	r.eventually("an instance that waits", func() bool { return r.count("running") == 1 })
	first := r.json("/decisions", "d1", `{"order_id":"big","approved":true}`).want(t, http.StatusOK, "accepted")
	again := r.json("/decisions", "d1", `{"order_id":"big","approved":true}`).want(t, http.StatusOK, `"duplicate":true`)
	if first.body["instance"] != again.body["instance"] {
		t.Errorf("one delivery, two answers: %s %s", first.text, again.text)
	}
	(<-answered).want(t, http.StatusOK, `"accepted":2`)
	r.json("/decisions", "d2", `{"order_id":"big","approved":true}`).want(t, http.StatusNotFound, "unmatched")
	r.eventually("the emission in the file", func() bool { return r.count("emissions") == 0 })
	approved := func() {
		t.Helper()
		if got := r.file("approved.ndjson"); len(got) != 1 || !strings.Contains(got[0], `"order_id":"big"`) {
			t.Errorf("approved %q", got)
		}
	}
	approved()
	r.stop()
	r = run(t, ordersPackage(t), dir)
	r.lines("/orders", "b1", order("big", "5000")).want(t, http.StatusOK, `"duplicates":1`)
	approved()
	if n := r.count("completed"); n != 1 {
		t.Errorf("%d completed instances", n)
	}
	r.get("/api/instances?status=completed").want(t, http.StatusOK, `"status":"completed"`)
	r.get("/api/instances?status=running").want(t, http.StatusOK, `"instances":[]`)
	r.get("/api/instances?status=bogus").want(t, http.StatusBadRequest, `one of running, completed, failed`)
	r.get("/api/instances?limit=0").want(t, http.StatusBadRequest, "from 1 to 1000")
}

// An instance that waits goes on after a restart of the node.
func TestInstanceOutlivesTheNode(t *testing.T) {
	dir := t.TempDir()
	pkg := packageOf(t, parked, "approve.bpmn", flowText(t))
	r := run(t, pkg, dir)
	r.json("/start", "s1", strings.TrimSpace(order("big", "5000"))).want(t, http.StatusOK, "accepted")
	r.stop()
	r = run(t, packageOf(t, parked, "approve.bpmn", flowText(t)), dir)
	r.json("/start", "s1", strings.TrimSpace(order("big", "5000"))).want(t, http.StatusOK, `"duplicate":true`)
	if n := r.count("running"); n != 1 {
		t.Fatalf("%d instances run", n)
	}
	r.json("/decisions", "", `{"order_id":"big","approved":true}`).want(t, http.StatusOK)
	r.eventually("the end and the emission", func() bool { return r.count("completed") == 1 && r.count("emissions") == 0 })
	if got := r.file("approved.ndjson"); len(got) != 1 {
		t.Errorf("approved %q", got)
	}
}

const parked = `
name: parked
schemas:
  order: {order_id: string, customer: string, amount: int64, placed_at: timestamp}
  decision: {order_id: string, approved: bool}
relays: {approved: {schema: order}}
sinks: {approved: {from: approved, file: {path: approved.ndjson}}}
channels:
  start: {http: {path: /start}, schema: order, flow: approve}
  decisions: {http: {path: /decisions}, schema: decision, correlate: message.order_id}
emits: {approved: {relay: approved}}
flows: [approve.bpmn]
`

func flowText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../examples/orders/approve.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestMalformedMessageIsRefused(t *testing.T) {
	r := run(t, ordersPackage(t), t.TempDir())
	r.json("/decisions", "", `{"order_id":"x"}`).want(t, http.StatusBadRequest, `"outcome":"rejected"`, "approved", `"line":1`)
	r.json("/decisions", "", `{`).want(t, http.StatusBadRequest, "rejected")
	r.json("/decisions", "", "").want(t, http.StatusBadRequest)
	r.json("/decisions", "", `{"order_id":"`+strings.Repeat("x", maxMessageBytes)+`"}`).want(t, http.StatusRequestEntityTooLarge)
	r.get("/decisions").want(t, http.StatusMethodNotAllowed)
	if got := r.metric(`millrace_records_rejected_total{place="channel decisions",reason="missing_field"}`); got != "1" {
		t.Errorf("rejected %q", got)
	}
}

func workPackage(t *testing.T, url string) *graph.Package {
	t.Helper()
	text, err := os.ReadFile("testdata/work.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	return packageOf(t, `
name: work
schemas: {job: {id: string}}
channels:
  jobs: {http: {path: /jobs}, schema: job, flow: work}
flows: [work.bpmn]
`, "work.bpmn", strings.Replace(string(text), "PEER", url, 1))
}

// number reads a number of the description of an instance: of its first wait, or of its first token.
func (a answerOf) number(t *testing.T, path ...string) int {
	t.Helper()
	var at any = a.body
	for _, p := range path {
		if list, ok := at.([]any); ok && len(list) > 0 {
			at = list[0]
		}
		m, ok := at.(map[string]any)
		if !ok {
			t.Fatalf("no %v in %s", path, a.text)
		}
		at = m[p]
	}
	n, ok := at.(float64)
	if !ok {
		t.Fatalf("no number %v in %s", path, a.text)
	}
	return int(n)
}

// A service task that fails is an incident, which an operator resolves; a user task is completed once.
func TestOperatorResolvesAndCompletes(t *testing.T) {
	p := newPeer(t, func(n int, _ string) int {
		if n == 1 {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	r := run(t, workPackage(t, p.URL), t.TempDir())
	id, ok := r.json("/jobs", "", `{"id":"j1"}`).want(t, http.StatusOK).body["instance"].(string)
	if !ok {
		t.Fatal("no instance in the answer")
	}
	path := "/api/instances/" + id
	var d answerOf
	r.eventually("an incident", func() bool {
		d = r.get(path)
		return d.status == http.StatusOK && strings.Contains(d.text, "500 Internal Server Error")
	})
	d.want(t, http.StatusOK, `"status":"running"`, `"id":"j1"`)
	token := d.number(t, "snapshot", "tokens", "id")
	r.json(fmt.Sprintf("%s/incidents/%d", path, token+7), "", `{}`).want(t, http.StatusConflict, `{"error":"the instance does not wait for this: instance `+id+" has gone on")
	r.json(fmt.Sprintf("%s/incidents/%d", path, token), "", `[1]`).want(t, http.StatusBadRequest, "JSON object")
	r.json(fmt.Sprintf("%s/incidents/%d", path, token), "", `{"id":"corrected"}`).want(t, http.StatusOK)
	r.eventually("a user task", func() bool {
		d = r.get(path)
		return d.status == http.StatusOK && strings.Contains(d.text, `"element":"look"`) && strings.Contains(d.text, `"waits":[{`)
	})
	bodies, keys := p.got()
	if len(bodies) != 2 || !strings.Contains(bodies[1], "corrected") || keys[0] == "" {
		t.Errorf("peer got %q with keys %q", bodies, keys)
	}
	wait := d.number(t, "waits", "wait")
	r.json(path+"/tasks/x", "", "").want(t, http.StatusBadRequest, "not a number")
	r.json(fmt.Sprintf("%s/tasks/%d", path, wait+1), "", "").want(t, http.StatusConflict)
	r.json(fmt.Sprintf("%s/tasks/%d", path, wait), "", `{"seen":true}`).want(t, http.StatusOK)
	r.eventually("the end", func() bool { return r.count("completed") == 1 })
	r.json(fmt.Sprintf("%s/tasks/%d", path, wait), "", "").want(t, http.StatusGone, `has ended (completed)`)
	r.get(path).want(t, http.StatusGone, `{"error":"instance `+id+` has ended (completed)`)
	r.get("/api/instances/none").want(t, http.StatusNotFound, `{"error":"there is no instance none: `)
	r.json("/api/instances/none/cancel", "", "").want(t, http.StatusNotFound, `{"error":"there is no instance none: `)
}

// Variables that are no record of the relay are an incident of the task that emits them: nothing has left, somebody corrects them, and the
// record arrives.
func TestUnfitEmissionIsAnIncident(t *testing.T) {
	r := run(t, packageOf(t, `name: unfit
schemas: {item: {id: string, n: string}, counted: {id: string, n: int64}}
relays: {counted: {schema: counted}}
sinks: {out: {from: counted, file: {path: out.ndjson}}}
emits: {counted: {relay: counted}}
channels: {items: {http: {path: /items}, schema: item, flow: count}}
flows: [count.bpmn]
`, "count.bpmn", `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="c">
<process id="count" isExecutable="true"><startEvent id="in"/>
<serviceTask id="tell"><extensionElements><zeebe:taskDefinition type="emit"/><zeebe:taskHeaders><zeebe:header key="target" value="counted"/></zeebe:taskHeaders></extensionElements></serviceTask>
<endEvent id="end"/><sequenceFlow id="a" sourceRef="in" targetRef="tell"/><sequenceFlow id="b" sourceRef="tell" targetRef="end"/></process></definitions>`), t.TempDir())
	id, ok := r.json("/items", "", `{"id":"a","n":"five"}`).want(t, http.StatusOK, "accepted").body["instance"].(string)
	if !ok {
		t.Fatal("no instance")
	}
	d := r.get("/api/instances/"+id).want(t, http.StatusOK, `"code":"emission-unfit"`, "emit counted: ", "/n")
	if n := r.count("emissions"); n != 0 || len(r.file("out.ndjson")) != 0 {
		t.Errorf("%d emissions wait, %q arrived", n, r.file("out.ndjson"))
	}
	incident := fmt.Sprintf("/api/instances/%s/incidents/%d", id, d.number(t, "snapshot", "tokens", "id"))
	r.json(incident, "", `{"n":"six"}`).want(t, http.StatusOK)
	r.get("/api/instances/"+id).want(t, http.StatusOK, `"code":"emission-unfit"`)
	r.json(incident, "", `{"n":6}`).want(t, http.StatusOK)
	r.eventually("the record", func() bool { return r.count("completed") == 1 && r.count("emissions") == 0 })
	if got := r.file("out.ndjson"); len(got) != 1 || got[0] != `{"id":"a","n":6}` {
		t.Errorf("out %q", got)
	}
}
