package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/node"
)

const routePackage = `name: route
node: {journal: 24h}
schemas: {item: {id: string, amount: int64}}
channels: {items: {http: {path: /items}, schema: item, flow: route}}
flows: [route.bpmn]
`

const routeFlow = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t">
<process id="route"><startEvent id="in"/><exclusiveGateway id="size"/>
<serviceTask id="pack"><extensionElements><zeebe:taskDefinition type="pack"/></extensionElements></serviceTask><endEvent id="end"/>
<sequenceFlow id="a" sourceRef="in" targetRef="size"/>
<sequenceFlow id="b" sourceRef="size" targetRef="pack"><conditionExpression>= amount &lt; 10</conditionExpression></sequenceFlow>
<sequenceFlow id="c" sourceRef="pack" targetRef="end"/></process></definitions>`

// post sends a message to the node and returns the instance that it started.
func post(t *testing.T, url, body string) string {
	t.Helper()
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.Body.Close() != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %s %v", resp.StatusCode, text, err)
	}
	_, rest, _ := strings.Cut(string(text), `"instance":"`)
	id, _, _ := strings.Cut(rest, `"`)
	return id
}

// An operator lists instances, looks at one, corrects its variables, sees it go on, and cancels it.
func TestOperatorCommands(t *testing.T) {
	dir := folder(t, routePackage)
	if err := os.WriteFile(filepath.Join(dir, "route.bpmn"), []byte(routeFlow), 0o644); err != nil {
		t.Fatal(err)
	}
	pkg, faults := graph.Load(os.DirFS(dir))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	n, err := node.Start(node.Options{Package: pkg, Data: t.TempDir(), Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Stop(); err != nil {
			t.Error(err)
		}
	}()
	at := "http://" + n.Address()
	id := post(t, at+"/items", `{"id":"i-1","amount":50}`)
	for _, c := range []struct {
		args   []string
		status int
		want   []string
	}{
		{[]string{"instances", "--node", n.Address(), "--status", "running"}, statusOK, []string{id, "running"}},
		{[]string{"instances", "--node", at, "--status", "bogus"}, statusRefused, []string{"one of running, completed, failed"}},
		{[]string{"instances", "--node", at, "--incidents"}, statusOK, []string{id, "  route/size no-true-flow: no condition of an outgoing flow"}},
		{[]string{"instances", "--node", at, "--incidents", "--status", "failed"}, statusRefused, []string{"only running instances have incidents"}},
		{[]string{"describe", "instance", "--node", at, id}, statusOK, []string{
			"flow       route", "size, leaving", "incident no-true-flow", `"amount":50`, "step 1", "in → size",
		}},
		{[]string{"resolve", "--node", at, "--set", "[]", id}, statusRefused, []string{"JSON object"}},
		{[]string{"resolve", "--node", "127.0.0.1:1", "--set", "{", id}, statusRefused, []string{"--set {: want one JSON object"}},
		{[]string{"resolve", "--node", at, "--set", "null", id}, statusRefused, []string{"--set null: want one JSON object"}},
		{[]string{"resolve", "--node", at, "--set", `{"amount":5}`, id}, statusOK, []string{"accepted"}},
		{[]string{"resolve", "--node", at, id}, statusFailed, []string{"has no incident"}},
		{[]string{"describe", "instance", "--node", at, id}, statusOK, []string{"task pack, 3 attempts left", "wait 1", "pack, worker"}},
		{[]string{"cancel", "--node", at, id}, statusOK, []string{"accepted"}},
		{[]string{"cancel", "--node", at, id}, statusRefused, []string{"millrace cancel: instance " + id + " has ended (failed): "}},
		{[]string{"resolve", "--node", at, id}, statusRefused, []string{"millrace resolve: instance " + id + " has ended (failed): "}},
		{[]string{"resolve", "--node", at, "--token", "1", id}, statusRefused, []string{"millrace resolve: instance " + id + " has ended (failed): "}},
		{[]string{"describe", "instance", "--node", at, id}, statusOK, []string{"has ended (failed)", "cancel/" + id}},
		{[]string{"describe", "instance", "--node", at, "none"}, statusRefused, []string{"describe instance: there is no instance none: list"}},
		{[]string{"cancel", "--node", at, "none"}, statusRefused, []string{"millrace cancel: there is no instance none: list"}},
		{[]string{"resolve", "--node", at, "none"}, statusRefused, []string{"millrace resolve: there is no instance none: list"}},
		{[]string{"instances", "--node", "127.0.0.1:1"}, statusFailed, []string{"millrace instances: no node answers at http://127.0.0.1:1 ("}},
		{[]string{"sources", "--node", at}, statusOK, nil},
		{[]string{"sources", "more"}, statusRefused, []string{"usage: millrace sources"}},
		{[]string{"sources", "--node", "127.0.0.1:1"}, statusFailed, []string{"millrace sources: no node answers"}},
		{[]string{"reread", "--node", at, "none"}, statusRefused, []string{"millrace reread: there is no source none: list"}},
		{[]string{"reread", "--node", at}, statusRefused, []string{"usage: millrace reread"}},
		{[]string{"describe", "instance"}, statusRefused, []string{"usage: millrace describe instance"}},
		{[]string{"cancel", "--node", at, ""}, statusRefused, []string{"usage: millrace cancel"}},
		{[]string{"describe", "instance", "--node", at, ""}, statusRefused, []string{"usage: millrace describe instance"}},
		{[]string{"cancel"}, statusRefused, []string{"usage: millrace cancel"}},
		{[]string{"resolve"}, statusRefused, []string{"usage: millrace resolve"}},
		{[]string{"instances", "more"}, statusRefused, []string{"usage: millrace instances"}},
	} {
		status, out, errs := call(t, c.args...)
		for _, want := range c.want {
			if status != c.status || !strings.Contains(out+errs, want) {
				t.Errorf("%q: status %d, want %d and %q\n%s%s", c.args, status, c.status, want, out, errs)
			}
		}
		if errs != "" && !strings.HasPrefix(errs, "usage:") && (strings.Count(errs, "\n") != 1 || strings.Contains(errs, "store:")) {
			t.Errorf("%q: a refusal is one line of plain words, not\n%s", c.args, errs)
		}
	}
}

// A lock that is over is not shown as one that holds.
func TestDescribeTellsAnExpiredLock(t *testing.T) {
	for until, want := range map[string]string{
		"2001-02-03T04:05:06Z": "free again since the lock of w was over at 2001-02-03T04:05:06Z",
		"9000-02-03T04:05:06Z": "locked by w until 9000-02-03T04:05:06Z",
	} {
		var x instanceAnswer
		text := `{"snapshot":{"tokens":[{"id":1,"element":"pay","phase":"waiting","job":{"type":"charge","retries":2,"lease":{"worker":"w","until":"` + until + `"}}}]}}`
		if err := json.Unmarshal([]byte(text), &x); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if showInstance(&out, x); !strings.Contains(out.String(), want) {
			t.Errorf("shown:\n%s\nwant %q", out.String(), want)
		}
	}
}

// A step that visited nothing ends with its cause.
func TestHistoryOfAStepThatVisitedNothing(t *testing.T) {
	var h historyAnswer
	text := `{"journal":true,"steps":[{"step":1,"at":"2026-01-01T00:00:00Z","cause":"delivery/i","visited":["in","charge"]},
		{"step":2,"at":"2026-01-01T00:00:01Z","cause":"task/lock/i/1"}]}`
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	showHistory(&out, h)
	if want := "step 1     2026-01-01T00:00:00Z delivery/i: in → charge\nstep 2     2026-01-01T00:00:01Z task/lock/i/1\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// The wait that keeps an instance's key for it has no message to name.
func TestDescribeTellsTheWaitOfAKey(t *testing.T) {
	var x instanceAnswer
	text := `{"waits":[{"wait":1,"element":"hear","kind":"message","message":"m","key":"k"},{"wait":2,"element":"pay","kind":"message","key":"k"}]}`
	if err := json.Unmarshal([]byte(text), &x); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	showInstance(&out, x)
	for _, want := range []string{"hear, message m, key \"k\"\n", "pay, message that would start another one, key \"k\"\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("shown:\n%s\nwant %q", out.String(), want)
		}
	}
}
