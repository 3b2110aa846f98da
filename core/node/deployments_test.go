package node

import (
	"archive/zip"
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/graph"
)

// desk is a package of one flow: it starts with a message, waits for a second one, and emits. Its versions differ in what they emit and
// in the name of the message that they wait for.
func desk(t *testing.T, version, awaits string) *graph.Package {
	t.Helper()
	return packageOf(t, `name: desk
schemas:
  opened: {id: string}
  `+awaits+`: {id: string}
  outcome: {id: string, version: string}
relays: {outcomes: {schema: outcome}}
sinks: {ledger: {from: outcomes, file: {path: ledger.ndjson}}}
emits: {outcome: {relay: outcomes}}
channels:
  open: {http: {path: /open}, schema: opened, flow: desk}
  `+awaits+`: {http: {path: /`+awaits+`}, schema: `+awaits+`, correlate: message.id}
flows: [desk.bpmn]
`, "desk.bpmn", `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="desk">
<message id="m" name="`+awaits+`"><extensionElements><zeebe:subscription correlationKey="= id"/></extensionElements></message>
<process id="desk" isExecutable="true">
<startEvent id="start"/><receiveTask id="wait" messageRef="m"/>
<serviceTask id="tell"><extensionElements><zeebe:taskDefinition type="emit"/><zeebe:taskHeaders><zeebe:header key="target" value="outcome"/></zeebe:taskHeaders>
<zeebe:ioMapping><zeebe:input source="= id" target="id"/><zeebe:input source='= "`+version+`"' target="version"/></zeebe:ioMapping></extensionElements></serviceTask>
<endEvent id="end"/>
<sequenceFlow id="a" sourceRef="start" targetRef="wait"/><sequenceFlow id="b" sourceRef="wait" targetRef="tell"/><sequenceFlow id="c" sourceRef="tell" targetRef="end"/>
</process></definitions>`)
}

func (r *rig) deploy(p *graph.Package, query string) answerOf {
	r.t.Helper()
	body, err := p.Archive()
	if err != nil {
		r.t.Fatal(err)
	}
	return r.do(http.MethodPost, "/api/deployments"+query, "application/zip", "", string(body))
}

func (r *rig) open(path, id string) answerOf {
	r.t.Helper()
	return r.json(path, path+id, fmt.Sprintf(`{"id":%q}`, id))
}

// A plan changes nothing; an activation changes what starts, and instances that run end on what they started with, by the message that they
// wait for; a restart with the folder of before finds the same; a rollback goes back.
func TestApplyChangesWhatStartsAndNothingElse(t *testing.T) {
	one, two, dir := desk(t, "one", "close"), desk(t, "two", "finish"), t.TempDir()
	r := run(t, one, dir)
	r.open("/open", "a").want(t, http.StatusOK)
	r.deploy(two, "?plan=true").want(t, http.StatusOK, `"applied":false`, `"change":"changed"`, `"instances":1`)
	r.get("/api/package").want(t, http.StatusOK, one.ID)
	r.open("/finish", "a").want(t, http.StatusNotFound)
	r.open("/close", "nobody").want(t, http.StatusNotFound, "unmatched", "no instance waits for this message under its key")
	r.deploy(two, "").want(t, http.StatusOK, `"applied":true`, one.ID, two.ID)
	r.get("/api/package").want(t, http.StatusOK, two.ID)
	r.open("/open", "b").want(t, http.StatusOK)
	listed := r.get("/api/deployments")
	listed.want(t, http.StatusOK, `"state":"active"`, `"state":"draining"`)
	if lines := listed.body["deployments"].([]any); lines[0].(map[string]any)["since"] != lines[1].(map[string]any)["since"] {
		t.Errorf("one does not drain since the other is active: %v", lines)
	}
	r.stop()

	log := &journalOf{}
	r = run(t, one, dir, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(log, nil)) }) // the folder of before: what was applied later is right
	if said := log.String(); !strings.Contains(said, `msg="node is ready" package=desk identity=`+two.ID) || !strings.Contains(said, "given="+one.ID+" active="+two.ID) {
		t.Errorf("the log does not name what runs:\n%s", said)
	}
	r.get("/api/package").want(t, http.StatusOK, two.ID)
	r.open("/close", "a").want(t, http.StatusOK, "accepted")
	r.open("/finish", "b").want(t, http.StatusOK, "accepted")
	r.eventually("both emissions are in the ledger", func() bool { return len(r.file("ledger.ndjson")) == 2 })
	ledger := strings.Join(r.file("ledger.ndjson"), "\n")
	for _, want := range []string{`{"id":"a","version":"one"}`, `{"id":"b","version":"two"}`} {
		if !strings.Contains(ledger, want) {
			t.Errorf("no %s in\n%s", want, ledger)
		}
	}
	r.do(http.MethodPost, "/api/deployments/rollback", "", "", "").want(t, http.StatusOK, `"applied":true`)
	r.get("/api/package").want(t, http.StatusOK, one.ID)
	r.open("/open", "c").want(t, http.StatusOK)
	r.open("/close", "c").want(t, http.StatusOK, "accepted")
	r.do(http.MethodPost, "/api/deployments/rollback?to="+strings.TrimPrefix(two.ID, "sha256:")[:12], "", "", "").want(t, http.StatusOK, two.ID)
	r.do(http.MethodPost, "/api/deployments/rollback?to=0000000000000000", "", "", "").want(t, http.StatusNotFound, "none that begins like this")
}

// What a running node cannot take is refused with every reason, and nothing changes.
func TestApplyRefusesWhatCannotChange(t *testing.T) {
	r := run(t, desk(t, "one", "close"), t.TempDir())
	before := r.get("/api/package").text
	other := ordersPackage(t)
	r.deploy(other, "").want(t, http.StatusConflict, `"refused":true`, "restart the node with the new package", `"kind":"sink"`, `"kind":"name"`)
	if after := r.get("/api/package").text; after != before {
		t.Errorf("%s, then %s", before, after)
	}
	r.do(http.MethodPost, "/api/deployments", "application/zip", "", "no zip").want(t, http.StatusUnprocessableEntity, "not a zip archive")
	var body bytes.Buffer
	w := zip.NewWriter(&body)
	f, err := w.Create("millrace.yaml")
	if err == nil {
		_, err = f.Write([]byte("name: broken\nrelays: {a: {schema: nothing}}\nsinks: {b: {from: c, file: {path: x}}}\n"))
	}
	if err := joined(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	r.do(http.MethodPost, "/api/deployments", "application/zip", "", body.String()).want(t, http.StatusUnprocessableEntity, "schema nothing", "relay c", `{"file":"millrace.yaml","line":2,"column":`, `"path":"relays.a.schema","reason":"`)
}

// Clients open and close while versions change under them. Each is answered, and each outcome is in the ledger once.
func TestApplyUnderLoad(t *testing.T) {
	one, two := desk(t, "one", "close"), desk(t, "two", "close")
	r := run(t, one, t.TempDir())
	const clients, rounds = 4, 15
	done := make(chan string, clients)
	for c := range clients {
		go func() {
			for i := range rounds {
				for _, path := range []string{"/open", "/close"} {
					if a := r.open(path, fmt.Sprintf("%d-%d", c, i)); a.status != http.StatusOK {
						done <- a.text
						return
					}
				}
			}
			done <- ""
		}()
	}
	for _, p := range []*graph.Package{two, one, two} {
		r.deploy(p, "").want(t, http.StatusOK, `"applied":true`)
	}
	for range clients {
		if why := <-done; why != "" {
			t.Error(why)
		}
	}
	r.eventually("all outcomes are in the ledger", func() bool { return len(r.file("ledger.ndjson")) >= clients*rounds })
	ids := map[string]bool{}
	for _, line := range r.file("ledger.ndjson") {
		id, _, _ := strings.Cut(line, `","version"`)
		if ids[id] {
			t.Errorf("%s is there twice", id)
		}
		ids[id] = true
	}
	if len(ids) != clients*rounds {
		t.Errorf("%d outcomes, want %d", len(ids), clients*rounds)
	}
}

// A node that runs no engine has nothing to deploy, and says so.
func TestApplyWithoutFlows(t *testing.T) {
	r := run(t, packageOf(t, `name: plain
schemas: {item: {id: string}}
sources: {in: {http: {path: /items}, decode: {schema: item}, to: {relay: items}}}
relays: {items: {schema: item}}
sinks: {out: {from: items, file: {path: out.ndjson}}}
`), t.TempDir())
	r.do(http.MethodPost, "/api/deployments", "application/zip", "", "any").want(t, http.StatusConflict, "has no flows")
	r.get("/api/deployments").want(t, http.StatusConflict, "has no flows")
}
