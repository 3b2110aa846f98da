package node

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/source/web"
	"github.com/millrace-dev/millrace/core/store"
)

// Every answer of the engine has its status and its words, and whoever is to send again is told when.
func TestAnswersOfAChannel(t *testing.T) {
	for _, c := range []struct {
		reply  engine.Reply
		err    error
		status int
		want   string
		again  string
	}{
		{engine.Reply{Outcome: engine.Accepted, Instance: "i"}, nil, http.StatusOK, `{"outcome":"accepted","instance":"i"}`, ""},
		{engine.Reply{Outcome: engine.Kept, Duplicate: true}, nil, http.StatusOK, `{"outcome":"kept","duplicate":true}`, ""},
		{engine.Reply{Outcome: engine.Completed, Status: store.Completed}, nil, http.StatusOK, `{"outcome":"completed","status":"completed"}`, ""},
		{engine.Reply{Outcome: engine.Completed, Status: store.Failed}, nil, http.StatusOK, `{"outcome":"completed","status":"failed"}`, ""},
		{engine.Reply{Outcome: engine.Rejected, Reason: "why"}, nil, http.StatusBadRequest, `{"outcome":"rejected","reason":"why"}`, ""},
		{engine.Reply{Outcome: engine.Unmatched, Reason: "why"}, nil, http.StatusNotFound, `{"outcome":"unmatched","reason":"why"}`, ""},
		{engine.Reply{}, fmt.Errorf("x: %w", engine.ErrUnsettled), http.StatusGatewayTimeout, `{"outcome":"running","reason":"x: instance has not ended"}`, ""},
		{engine.Reply{}, engine.ErrStore, http.StatusServiceUnavailable, `{"outcome":"unanswered","reason":"store failed"}`, "1"},
	} {
		w := httptest.NewRecorder()
		(&channel{}).say(w, c.reply, c.err)
		if got := strings.TrimSpace(w.Body.String()); w.Code != c.status || got != c.want || w.Header().Get("Retry-After") != c.again {
			t.Errorf("%+v, %v: status %d, %s, again after %q", c.reply, c.err, w.Code, got, w.Header().Get("Retry-After"))
		}
	}
}

// The built-in HTTP task does what its headers say; whatever is no success is an error.
func TestHTTPTaskDoesWhatItsHeadersSay(t *testing.T) {
	var got *http.Request
	status, answer := http.StatusOK, `{"n":1}`
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer)) // the client's fault is the client's
	}))
	defer peer.Close()
	client := peer.Client()
	scope := sched.Scheduler{}.NewScope("test")
	defer scope.Close()
	call := func(headers ...string) (string, error) {
		c := flow.Call{Instance: "i-1", Token: 7, Variables: feel.NewContext()}
		for i := 0; i < len(headers); i += 2 {
			c.Headers = append(c.Headers, bpmn.Header{Key: headers[i], Value: headers[i+1]})
		}
		v, err := httpCall(client, scope, c)
		if err != nil {
			return "", err
		}
		text, err := feel.AppendJSON(nil, v)
		return string(text), err
	}
	v, err := call("url", peer.URL)
	if err != nil || v != `{"response":{"n":1}}` || got.Method != http.MethodPost || got.Header.Get(web.KeyHeader) != "i-1/7" {
		t.Errorf("%s, %v; the peer got %s under %q", v, err, got.Method, got.Header.Get(web.KeyHeader))
	}
	if v, err = call("url", peer.URL, "method", "PUT", "result", "said"); err != nil || v != `{"said":{"n":1}}` || got.Method != http.MethodPut {
		t.Errorf("%s, %v; the peer got %s", v, err, got.Method)
	}
	for _, status = range []int{http.StatusNotModified, http.StatusBadRequest, http.StatusNotFound, http.StatusBadGateway} {
		if _, err := call("url", peer.URL); !errors.Is(err, errCall) || !strings.Contains(err.Error(), fmt.Sprint(status)) {
			t.Errorf("an answer of %d: %v", status, err)
		}
	}
	status, answer = http.StatusAccepted, " \n"
	if v, err = call("url", peer.URL); err != nil || v != `{}` {
		t.Errorf("an empty answer: %s, %v", v, err)
	}
	answer = "done"
	for what, headers := range map[string][]string{"not JSON": {"url", peer.URL}, "url is missing": nil, "unsupported protocol": {"url", "none:"}} { //order:each is judged alone
		if _, err := call(headers...); !errors.Is(err, errCall) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A worker that names no number gets one task; every attempt at a task has the same key, and tasks of two instances have two.
func TestTasksOfAWorker(t *testing.T) {
	r := run(t, payPackage(t, "  payments: {http: {path: /payments}, json_schema: payment.json, flow: pay}\n"), t.TempDir())
	for _, id := range []string{"a", "b"} {
		r.json("/payments", "", `{"order":{"id":"`+id+`","amount":1}}`).want(t, http.StatusOK, "accepted")
	}
	fetch := func() (instance, key string, wait, lock float64) {
		t.Helper()
		a := r.json("/api/tasks/fetch", "", `{"worker":"w","types":["charge"]}`).want(t, http.StatusOK)
		tasks, ok := a.body["tasks"].([]any)
		if !ok || len(tasks) != 1 {
			t.Fatalf("want one task: %s", a.text)
		}
		x := tasks[0].(map[string]any)
		return x["instance"].(string), x["key"].(string), x["wait"].(float64), x["lock"].(float64)
	}
	first, key, wait, lock := fetch()
	second, other, _, _ := fetch()
	if first == second || key == other || !strings.HasPrefix(key, first+"/") {
		t.Errorf("tasks of %s and %s have the keys %s and %s", first, second, key, other)
	}
	path := fmt.Sprintf("/api/tasks/%s/%v/", first, wait)
	r.json(path+"fail", "", fmt.Sprintf(`{"lock":%v,"retries":1}{}`, lock)).want(t, http.StatusBadRequest, "something follows")
	r.json(path+"fail", "", fmt.Sprintf(`{"lock":%v,"retries":1}`, lock)).want(t, http.StatusOK)
	if again, same, _, next := fetch(); again != first || same != key || next == lock {
		t.Errorf("the next attempt at the task of %s under %s is of %s under %s", first, key, again, same)
	}
	if got := r.get("/api/instances/"+first+"/history?after=1").want(t, http.StatusOK); strings.Contains(got.text, `"step":1,`) || !strings.Contains(got.text, `"step":2,`) {
		t.Errorf("history behind step 1: %s", got.text)
	}
	r.json("/api/instances/"+first+"/cancel?token=99", "", "").want(t, http.StatusConflict)
	r.get("/api/instances/"+first).want(t, http.StatusOK, `"status":"running"`)
}

const waiting = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="w">
<message id="m" name="closed"><extensionElements><zeebe:subscription correlationKey="= id"/></extensionElements></message>
<process id="wait" isExecutable="true"><startEvent id="in"/><parallelGateway id="both"/>
<receiveTask id="hear" messageRef="m"/>
<intermediateCatchEvent id="later"><timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition></intermediateCatchEvent>
<endEvent id="x"/><endEvent id="y"/>
<sequenceFlow id="a" sourceRef="in" targetRef="both"/><sequenceFlow id="b" sourceRef="both" targetRef="hear"/><sequenceFlow id="c" sourceRef="both" targetRef="later"/>
<sequenceFlow id="d" sourceRef="hear" targetRef="x"/><sequenceFlow id="e" sourceRef="later" targetRef="y"/></process></definitions>`

func waitPackage(t *testing.T, text string) *graph.Package {
	t.Helper()
	return packageOf(t, "name: wait\nschemas: {item: {id: string}, closed: {id: string}}\n"+text+"flows: [wait.bpmn]\n", "wait.bpmn", waiting, "any.json", `{"type":"object"}`)
}

// A description names what each wait is for: the message and its key, or the time. A message that comes early is kept where the channel
// says so.
func TestDescriptionNamesWhatIsWaitedFor(t *testing.T) {
	r := run(t, waitPackage(t, `channels:
  items: {http: {path: /items}, schema: item, flow: wait}
  closed: {http: {path: /closed}, schema: closed, correlate: message.id, buffer: 1h}
  odd: {http: {path: /odd}, json_schema: any.json, message: closed, correlate: message.id}
`), t.TempDir())
	for _, odd := range []string{`{"id":null}`, `{"id":true}`, `{"id":{}}`, `{}`} {
		r.json("/odd", "", odd).want(t, http.StatusBadRequest, "the key is")
	}
	r.json("/odd", "", `{"id":7}`).want(t, http.StatusNotFound, "unmatched")
	r.json("/closed", "", `{"id":"early"}`).want(t, http.StatusOK, `"outcome":"kept"`)
	id, ok := r.json("/items", "", `{"id":"a"}`).want(t, http.StatusOK).body["instance"].(string)
	if !ok {
		t.Fatal("no instance")
	}
	d := r.get("/api/instances/"+id).want(t, http.StatusOK, `"kind":"message","message":"closed","key":"a"`, `"element":"later"`)
	due := ""
	for _, x := range d.body["waits"].([]any) {
		if w := x.(map[string]any); w["element"] == "later" {
			due, _ = w["due"].(string)
		}
	}
	if at, err := time.Parse(time.RFC3339, due); err != nil || at.Before(time.Now()) || at.After(time.Now().Add(time.Hour)) {
		t.Errorf("due at %q: %s", due, d.text)
	}
	early, ok := r.json("/items", "", `{"id":"early"}`).want(t, http.StatusOK).body["instance"].(string)
	if !ok {
		t.Fatal("no instance")
	}
	r.eventually("the kept message to be taken", func() bool { return !strings.Contains(r.get("/api/instances/"+early).text, `"key":"early"`) })
}

// page is a store with many instances and emissions, none of which is real.
type page struct {
	store.Store
	heads     []store.Head
	emissions int
}

// Heads implements store.Store.
func (p page) Heads(_ *sched.Scope, after store.InstanceID, limit int) ([]store.Head, store.Ticket, error) {
	first := 0
	for first < len(p.heads) && p.heads[first].Instance <= after {
		first++
	}
	return p.heads[first:min(first+limit, len(p.heads))], 0, nil
}

// Emissions implements store.Store.
func (p page) Emissions(_ *sched.Scope, after store.Emission, limit int) ([]store.Emission, store.Ticket, error) {
	out := make([]store.Emission, max(0, min(limit, p.emissions-int(after.Sequence))))
	for i := range out {
		out[i].Sequence = after.Sequence + uint64(i) + 1
	}
	return out, 0, nil
}

// Lists and counts go through everything, however much there is: a page that found nothing says where the next one begins, what is
// the engine's own is in neither, and what waits to start instances is listed as such and not counted.
func TestListsAndCountsGoThroughEverything(t *testing.T) {
	p := page{emissions: 2*maxLooked + 5}
	status := []store.Status{store.Completed, store.Running, store.Failed, store.Void}
	const all = 2*maxLooked + 40
	for i := range all {
		p.heads = append(p.heads, store.Head{Claim: store.Claim{Instance: store.InstanceID(fmt.Sprintf("i%06d", i))}, Status: status[i%4]})
	}
	own := store.Head{Claim: store.Claim{Instance: claim.RolePrefix + "sweeper"}, Status: store.Running}
	schedule := store.Head{Claim: store.Claim{Instance: "schedule-x"}, Status: store.Running}
	p.heads = append(p.heads, own, schedule)
	n := &Node{plane: p}
	var c counts
	if err := errors.Join(n.countInstances(&c), n.countEmissions(&c)); err != nil || c.Running != all/4 || c.Completed != all/4 || c.Failed != all/4 || c.Emissions != p.emissions {
		t.Errorf("counts %+v, %v", c, err)
	}
	for i := range p.heads {
		p.heads[i].Status = store.Completed
	}
	for _, head := range []int{all - 1, all, all + 1} { // one of a flow, and both at the end
		p.heads[head].Status = store.Running
	}
	found, pages := 0, 0
	for l := (listing{status: "running", limit: 10}); pages < 10; pages++ {
		got, err := n.listInstances(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range got.Instances {
			if line.Instance == own.Instance || line.Schedule != (line.Instance == schedule.Instance) {
				t.Errorf("listed %+v", line)
			}
		}
		found += len(got.Instances)
		if l.after = got.Next; got.Next == "" {
			break
		}
	}
	if found != 2 || pages != 2 {
		t.Errorf("%d running in %d pages with a next one", found, pages)
	}
}
