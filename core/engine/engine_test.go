package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/settle"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
)

// bench is an engine on the real runtime over a plain in-memory store.
type bench struct {
	*testing.T
	scope *sched.Scope
	st    store.Store
	e     *engine.Engine
	fails error // of the handler "work"
}

func newBench(t *testing.T, o engine.Options) *bench {
	t.Helper()
	var s sched.Scheduler
	b := &bench{T: t, scope: s.NewScope("test")}
	st, _ := memory.Open(s, memory.Options{})
	b.st = st
	nothing := func(*sched.Scope, flow.Call) (*feel.Context, error) { return feel.NewContext(), b.fails }
	flows := definitions(t, "sum.bpmn", "remind.bpmn", "route.bpmn", "charge.bpmn")
	e, err := engine.New(s, b.scope, o, engine.Parts{
		Store:    st,
		Package:  engine.Package{Deployment: "d1", Flows: flows, Channels: channelsOf(flows)},
		Handlers: map[string]engine.Handler{"work": nothing, "add": sumUp},
		Send:     func(*sched.Scope, store.Emission) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	b.e = e
	t.Cleanup(func() {
		e.Close()
		b.scope.Close()
	})
	return b
}

// sumUp adds the amount to the total.
func sumUp(_ *sched.Scope, c flow.Call) (*feel.Context, error) {
	return feel.NewContext(integer("total", number(c.Variables, "total")+number(c.Variables, "amount")),
		integer("count", number(c.Variables, "count")+1)), nil
}

func (b *bench) deliver(d engine.Delivery) engine.Reply {
	b.Helper()
	r, err := b.e.Deliver(b.scope, d)
	if err != nil {
		b.Fatalf("deliver %s: %v", d.ID, err)
	}
	return r
}

func (b *bench) describe(id store.InstanceID) engine.Description {
	b.Helper()
	d, err := b.e.Describe(b.scope, id)
	if err != nil {
		b.Fatal(err)
	}
	return d
}

// Who is stuck is told of when it is durable, and listed until it is not stuck any more: corrected, or ended.
func TestIncidentsAreToldAndListed(t *testing.T) {
	var told []engine.Incident
	b := newBench(t, engine.Options{Raised: func(x engine.Incident) { told = append(told, x) }})
	stuck := b.deliver(message("route", "r-1", "", integer("amount", 500))).Instance
	other := b.deliver(message("route", "r-2", "", integer("amount", 600))).Instance
	list := func(after store.InstanceID, limit int, want ...store.InstanceID) {
		t.Helper()
		got, err := b.e.Incidents(b.scope, after, limit)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want)
		same := slices.EqualFunc(got, want, func(x engine.Stuck, id store.InstanceID) bool {
			return x.Instance == id && len(x.Incidents) == 1 && x.Incidents[0].Instance == id && x.Incidents[0].Process == "route" && x.Incidents[0].Code == flow.NoTrueFlow
		})
		if !same {
			t.Errorf("listed %+v, want %v", got, want)
		}
	}
	if len(told) != 2 || told[0].Instance != stuck || told[0].Process != "route" || told[0].Element == "" || told[0].Code != flow.NoTrueFlow || told[0].Reason == "" {
		t.Errorf("told of %+v", told)
	}
	list("", 10, stuck, other)
	list("", 1, min(stuck, other))
	list(min(stuck, other), 10, max(stuck, other))
	token := b.describe(stuck).Snapshot.Incidents()[0].ID
	if _, err := b.e.ResolveIncident(b.scope, stuck, token, feel.NewContext(integer("amount", 700))); err != nil {
		t.Fatal(err)
	}
	list("", 10, stuck, other) // it is stuck again
	if len(told) != 3 {
		t.Errorf("told of %+v", told)
	}
	if _, err := b.e.ResolveIncident(b.scope, stuck, token, feel.NewContext(integer("amount", 1))); err != nil {
		t.Fatal(err)
	}
	list("", 10, other)
	if _, err := b.e.CancelInstance(b.scope, other, 0); err != nil {
		t.Fatal(err)
	}
	list("", 10)
}

// A message is rejected, unmatched, accepted or a duplicate, and each answer stays the same.
func TestAnswers(t *testing.T) {
	b := newBench(t, engine.Options{Lanes: 3})
	broken := engine.Delivery{Channel: "add", ID: "x", Decode: func() (engine.Message, error) {
		return engine.Message{}, errors.New("line 1: not a number")
	}}
	open := message("open", "o", "", text("account", "a"), integer("wanted", 1))
	add := message("add", "1", "a", integer("amount", 5))
	for _, step := range []struct {
		d    engine.Delivery
		want engine.Reply
	}{
		{broken, engine.Reply{Outcome: engine.Rejected, Reason: "line 1: not a number"}},
		{message("add", "", "a"), engine.Reply{Outcome: engine.Rejected, Reason: "delivery id is empty"}},
		{message("add", strings.Repeat("x", 600), "a"), engine.Reply{Outcome: engine.Rejected, Reason: "delivery id has 600 bytes, more than 512"}},
		{message("add", "k", ""), engine.Reply{Outcome: engine.Rejected, Reason: "correlation key is empty"}},
		{add, engine.Reply{Outcome: engine.Unmatched}},
		{open, engine.Reply{Outcome: engine.Accepted}},
		{open, engine.Reply{Outcome: engine.Accepted, Duplicate: true}},
		{add, engine.Reply{Outcome: engine.Accepted}},
		{add, engine.Reply{Outcome: engine.Accepted, Duplicate: true}},
		{message("add", "2", "a", integer("amount", 5)), engine.Reply{Outcome: engine.Unmatched}},
	} {
		got := b.deliver(step.d)
		if (got.Instance != "") != (step.want.Outcome == engine.Accepted) {
			t.Errorf("%s %.10s: instance %q", step.d.Channel, step.d.ID, got.Instance)
		}
		got.Instance = ""
		if got.Outcome != step.want.Outcome || got.Duplicate != step.want.Duplicate || got.Reason != step.want.Reason {
			t.Errorf("%s %.10s: %+v, want %+v", step.d.Channel, step.d.ID, got, step.want)
		}
	}
	if _, err := b.e.Deliver(b.scope, message("nowhere", "1", "")); !errors.Is(err, engine.ErrNoChannel) {
		t.Errorf("a channel that is not there: %v", err)
	}
}

// An incident parks the instance, shows in its description, and is resolved after the variables are corrected.
func TestIncidentIsResolved(t *testing.T) {
	b := newBench(t, engine.Options{Lanes: 2})
	id := b.deliver(message("route", "r", "", integer("amount", 500))).Instance
	stuck := b.describe(id).Snapshot.Incidents()
	if len(stuck) != 1 || stuck[0].Incident.Code != flow.NoTrueFlow {
		t.Fatalf("stuck %+v", stuck)
	}
	b.fails = errors.New("out of paper")
	if _, err := b.e.ResolveIncident(b.scope, id, stuck[0].ID, feel.NewContext(integer("amount", 50))); err != nil {
		t.Fatal(err)
	}
	next := b.describe(id).Snapshot.Incidents()
	if len(next) != 1 || next[0].Incident.Code != flow.HandlerFailed || next[0].Incident.Message != "out of paper" {
		t.Fatalf("stuck %+v", next)
	}
	b.fails = nil
	if _, err := b.e.ResolveIncident(b.scope, id, stuck[0].ID, nil); !errors.Is(err, engine.ErrNotWaiting) {
		t.Errorf("the incident that was resolved before: %v", err)
	}
	if _, err := b.e.ResolveIncident(b.scope, id, next[0].ID, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.e.Describe(b.scope, id); !errors.Is(err, engine.ErrNoInstance) {
		t.Errorf("describe an instance that has ended: %v", err)
	}
}

// The second instance that waits for a key which is taken is stuck, visibly; when the first has ended it can go on.
func TestTakenCorrelationKeyIsAnIncident(t *testing.T) {
	b := newBench(t, engine.Options{Lanes: 2})
	first := b.deliver(message("open", "1", "", text("account", "a"), integer("wanted", 1))).Instance
	second := b.deliver(message("open", "2", "", text("account", "a"), integer("wanted", 1))).Instance
	stuck := b.describe(second).Snapshot.Incidents()
	if len(stuck) != 1 || stuck[0].Incident.Code != flow.AliasTaken || !strings.Contains(stuck[0].Incident.Message, string(first)) {
		t.Fatalf("stuck %+v", stuck)
	}
	if r := b.deliver(message("add", "1", "a", integer("amount", 1))); r.Instance != first {
		t.Errorf("the message went to %s, not to %s", r.Instance, first)
	}
	if _, err := b.e.ResolveIncident(b.scope, second, stuck[0].ID, nil); err != nil {
		t.Fatal(err)
	}
	if r := b.deliver(message("add", "2", "a", integer("amount", 1))); r.Instance != second {
		t.Errorf("the next message went to %s, not to %s", r.Instance, second)
	}
}

// The registry is bounded: the oldest held delivery is told that it was not settled, and its redelivery is held again and
// settled by the end.
func TestHeldDeliveryIsEvictedHonestly(t *testing.T) {
	b := newBench(t, engine.Options{SettleCapacity: 1})
	results := make(chan error, 1)
	go func() {
		_, err := b.e.Deliver(b.scope, message("open-and-wait", "1", "", text("account", "a"), integer("wanted", 1)))
		results <- err
	}()
	b.until(func() bool { return b.e.Held() == 1 })
	replies := make(chan engine.Reply, 1)
	go func() {
		r, _ := b.e.Deliver(b.scope, message("open-and-wait", "2", "", text("account", "b"), integer("wanted", 1)))
		replies <- r
	}()
	if err := <-results; !errors.Is(err, engine.ErrUnsettled) || !errors.Is(err, settle.ErrEvicted) {
		t.Errorf("evicted with %v", err)
	}
	b.until(func() bool { return b.e.Held() == 1 })
	b.deliver(message("add", "b", "b", integer("amount", 3)))
	if r := <-replies; r.Outcome != engine.Completed || string(r.Result) != `{"account":"b","wanted":1,"amount":3,"total":3,"count":1}` {
		t.Errorf("settled with %+v %s", r, r.Result)
	}
	b.deliver(message("add", "a", "a", integer("amount", 4)))
	if r := b.deliver(message("open-and-wait", "1", "")); r.Outcome != engine.Completed || !r.Duplicate || r.Status != store.Completed {
		t.Errorf("redelivery after the end: %+v", r)
	}
	if n := b.e.Held(); n != 0 {
		t.Errorf("%d deliveries are held at the end", n)
	}
}

// until waits for a condition that another task is about to make true.
func (b *bench) until(condition func() bool) {
	b.Helper()
	for range 5000 {
		if condition() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	b.Fatal("the condition did not come true")
}

// A held delivery whose time is over, and one that the engine is closed under, are told so.
func TestHeldDeliveryEndsWithTimeAndEngine(t *testing.T) {
	b := newBench(t, engine.Options{})
	results := make(chan error, 1)
	short := b.scope.Child("short")
	defer short.Close()
	go func() {
		_, err := b.e.Deliver(short, message("open-and-wait", "1", "", text("account", "a")))
		results <- err
	}()
	b.until(func() bool { return b.e.Held() == 1 })
	short.Cancel(errCut)
	if err := <-results; !errors.Is(err, engine.ErrUnsettled) {
		t.Errorf("after its time: %v", err)
	}
	go func() {
		_, err := b.e.Deliver(b.scope, message("open-and-wait", "1", ""))
		results <- err
	}()
	b.until(func() bool { return b.e.Held() == 1 })
	b.e.Close()
	if err := <-results; !errors.Is(err, settle.ErrClosing) {
		t.Errorf("after the close: %v", err)
	}
	if _, err := b.e.Deliver(b.scope, message("open", "2", "")); err == nil {
		t.Error("a closed engine accepted a delivery")
	}
}

// A package is refused whole, with every fault.
func TestPackageFaults(t *testing.T) {
	var s sched.Scheduler
	scope := s.NewScope("test")
	defer scope.Close()
	st, _ := memory.Open(s, memory.Options{})
	_, err := engine.New(s, scope, engine.Options{}, engine.Parts{
		Store: st,
		Package: engine.Package{Deployment: "d1", Flows: definitions(t, "sum.bpmn"), Channels: []engine.Channel{
			{Name: "a", Flow: "missing"}, {Name: "b"}, {Name: "b", Message: "m"}, {Name: "b", Message: "m"}, {Message: "m"},
		}},
	})
	for _, want := range []string{
		"process sum emits, and there is no receiver",
		"channel a: there is no process missing", "channel b: it neither starts a flow nor names a message",
		"channel b: its name is used twice", "channel : it has no name",
	} {
		if !errors.Is(err, engine.ErrPackage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
	if err := (engine.Options{Attempts: -1, Backoff: time.Hour}).Validate(); err == nil ||
		!strings.Contains(err.Error(), "Attempts: -1") || !strings.Contains(err.Error(), "Backoff: 1h0m0s") {
		t.Errorf("options: %v", err)
	}
}

// A channel that keeps ids for a time takes an id that was forgotten as a new message: with the same id another instance takes
// the place of the one that has ended, and one that has not ended is never replaced.
func TestForgottenDeliveryStartsAnew(t *testing.T) {
	b := newBench(t, engine.Options{})
	forget := func() {
		if _, _, err := b.st.Expire(b.scope, store.InboxSpace, time.Now().Add(time.Hour), 100); err != nil {
			t.Fatal(err)
		}
	}
	ended := message("brief", "ended", "", integer("amount", 5))
	parked := message("brief", "parked", "", integer("amount", 500))
	for _, d := range []engine.Delivery{ended, parked} {
		if first, again := b.deliver(d), b.deliver(d); first.Duplicate || !again.Duplicate || first.Instance != again.Instance {
			t.Errorf("%s: %+v, then %+v", d.ID, first, again)
		}
	}
	for range 2 {
		forget()
		if r := b.deliver(ended); r.Duplicate || r.Outcome != engine.Accepted {
			t.Errorf("forgotten after its end: %+v", r)
		}
		if r := b.deliver(ended); !r.Duplicate {
			t.Errorf("and known again: %+v", r)
		}
		if r := b.deliver(parked); !r.Duplicate {
			t.Errorf("forgotten before its end: %+v", r)
		}
	}
}
