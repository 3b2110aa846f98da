package node

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/sched"
)

// total adds a lane metric up over the lanes of a node of n lanes.
func (r *rig) total(n int, name, labels string) int {
	r.t.Helper()
	sum := 0
	for id := range n {
		text := r.metric(fmt.Sprintf(`millrace_lane_%s{lane="%d"%s}`, name, id, labels))
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			r.t.Fatalf("metric %s of lane %d is %q", name, id, text)
		}
		sum += int(v)
	}
	return sum
}

// An instance starts, parks, is resumed and ends: each shows in the series of its lane, and of every lane there are some.
func TestLanesAreMeasured(t *testing.T) {
	const lanes = 3
	text := strings.Replace(parked, "schemas:", "node: {lanes: 3}\nschemas:", 1)
	r := run(t, packageOf(t, text, "approve.bpmn", flowText(t)), t.TempDir())
	const instances = 12
	for i := range instances {
		id := fmt.Sprintf("o%d", i)
		r.json("/start", id, strings.TrimSpace(order(id, "5000"))).want(t, http.StatusOK, "accepted")
	}
	if got := r.total(lanes, "parks_total", ""); got != instances {
		t.Errorf("%d parks of %d instances", got, instances)
	}
	if got := r.total(lanes, "resumes_total", ""); got != 0 {
		t.Errorf("%d resumes before there was a message", got)
	}
	for i := range instances {
		r.json("/decisions", "", fmt.Sprintf(`{"order_id":"o%d","approved":true}`, i)).want(t, http.StatusOK)
	}
	r.eventually("the ends", func() bool { return r.count("completed") == instances })
	for name, want := range map[string]int{"resumes_total": instances, "ends_total": instances, "step_seconds_count": 2 * instances, "commit_seconds_count": 2 * instances} { //order:each is judged by itself
		if got := r.total(lanes, name, ""); got < want {
			t.Errorf("%s is %d after %d instances, want at least %d", name, got, instances, want)
		}
	}
	hops := r.total(lanes, "handoffs_total", "")
	if took := r.total(lanes, "dispatches_total", ""); hops == 0 || hops > instances || took < 2*instances+hops {
		t.Errorf("%d dispatches, %d of them handed off", took, hops)
	}
	for _, why := range engine.Bounces() {
		if got := r.total(lanes, "bounces_total", fmt.Sprintf(`,why="%v"`, why)); got != 0 {
			t.Errorf("%d bounces: %v, with nobody to bounce on", got, why)
		}
	}
	if got := r.total(lanes, "queue_depth", ""); got != 0 {
		t.Errorf("%d requests wait", got)
	}
}

// A lane whose task never comes back is named by the probe, and the node is live again when it does.
func TestLivezNamesADeadLane(t *testing.T) {
	release := make(chan struct{})
	p := newPeer(t, func(int, string) int {
		<-release
		return http.StatusOK
	})
	r := run(t, workPackage(t, p.URL), t.TempDir(), func(o *Options) { o.deadLane = time.Millisecond })
	r.get("/livez").want(t, http.StatusOK, "live")
	answered := make(chan answerOf, 1)
	go func() { answered <- r.json("/jobs", "", `{"id":"j1"}`) }()
	r.eventually("the lane is dead", func() bool { return r.get("/livez").status == http.StatusServiceUnavailable })
	r.get("/livez").want(t, http.StatusServiceUnavailable, "dead lane", "lane 0 has been at one request for")
	close(release)
	(<-answered).want(t, http.StatusOK)
	r.eventually("the lane lives", func() bool { return r.get("/livez").status == http.StatusOK })
}

// Each kind of bounce has a series of its own.
func TestBouncesAreSplitByKind(t *testing.T) {
	m := newMetrics()
	x := m.newLaneMetrics(sched.Scheduler{}, 1, func(int) int { return 0 }, func() int { return 0 })
	for _, why := range engine.Bounces() {
		for range int(why) + 1 {
			x.Bounced(0, why)
		}
	}
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		if f.GetName() != "millrace_lane_bounces_total" {
			continue
		}
		for _, s := range f.GetMetric() {
			for _, l := range s.GetLabel() {
				if l.GetName() == "why" {
					got[l.GetValue()] = s.GetCounter().GetValue()
				}
			}
		}
	}
	if len(got) != 4 || got["claimed"] != 1 || got["moved"] != 2 || got["fenced"] != 3 || got["conflict"] != 4 {
		t.Errorf("bounces %v", got)
	}
}

// Deliveries that are held for an end are counted, and so is what becomes of those that cannot be held any longer.
func TestHeldDeliveriesAreMeasured(t *testing.T) {
	text := `
name: held
node: {settlement: {capacity: 1}}
schemas: {item: {id: string}}
channels:
  start: {http: {path: /start}, schema: item, flow: wait, ack: on-complete, timeout: 1s}
  closed: {http: {path: /closed}, schema: item, message: closed, correlate: message.id}
flows: [wait.bpmn]
`
	r := run(t, packageOf(t, text, "wait.bpmn", waiting), t.TempDir())
	held := func() string { return r.metric("millrace_deliveries_held") }
	if held() != "0" {
		t.Errorf("%s held at the start", held())
	}
	first := make(chan answerOf)
	go func() { first <- r.json("/start", "one", `{"id":"one"}`) }()
	r.eventually("the first is held", func() bool { return held() == "1" })
	r.json("/start", "two", `{"id":"two"}`).want(t, http.StatusGatewayTimeout, `"outcome":"running"`)
	(<-first).want(t, http.StatusGatewayTimeout, `"outcome":"running"`)
	counted := func(outcome string) string {
		return r.metric(`millrace_deliveries_total{channel="start",outcome="` + outcome + `"}`)
	}
	// Which of the two bounds was first for the first one is the machine's; the second one met only the time.
	evicted, late := counted("evicted"), counted("timeout")
	if held() != "0" || !(evicted == "1" && late == "1" || evicted == "" && late == "2") {
		t.Errorf("%s held, evicted %q, timeout %q", held(), evicted, late)
	}
}
