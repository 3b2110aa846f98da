package node

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/sched"
)

// A function that a program registers does the work of its task type, in this process: no worker is offered it. Its error is an incident.
func TestHandlersThatAProgramRegisters(t *testing.T) {
	var refuse atomic.Bool
	var called atomic.Pointer[flow.Call]
	charge := func(_ *sched.Scope, c flow.Call) (*feel.Context, error) {
		if refuse.Load() {
			return nil, errors.New("no funds")
		}
		called.Store(&c)
		return feel.NewContext(feel.Entry{Key: "receipt", Value: feel.String("r-1")}), nil
	}
	channels := "  payments: {http: {path: /payments}, json_schema: payment.json, flow: pay, correlate: message.order.id, ack: on-complete}\n" +
		"  parked: {http: {path: /parked}, json_schema: payment.json, flow: pay, correlate: message.order.id}\n"
	r := run(t, payPackage(t, channels), t.TempDir(), func(o *Options) { o.Handlers = map[string]engine.Handler{"charge": charge} })
	r.json("/payments", "", `{"order":{"id":"o-1","amount":1}}`).want(t, http.StatusOK, `"status":"completed"`)
	if c := called.Load(); c == nil || c.Type != "charge" || c.Element != "charge" || header(c.Headers, "currency", "") != "EUR" {
		t.Errorf("called with %+v", c)
	}
	r.json("/api/tasks/fetch", "", `{"worker":"w","types":["charge"]}`).want(t, http.StatusOK, `"tasks":[]`)
	refuse.Store(true)
	id, ok := r.json("/parked", "", `{"order":{"id":"o-2","amount":1}}`).want(t, http.StatusOK, "accepted").body["instance"].(string)
	if !ok {
		t.Fatal("no instance")
	}
	r.get("/api/instances/"+id).want(t, http.StatusOK, "no funds")
}

// What no program should register is refused before anything is started, all of it at once.
func TestHandlersThatAreRefused(t *testing.T) {
	quiet := func(*sched.Scope, flow.Call) (*feel.Context, error) { return nil, nil }
	o := Options{Package: ordersPackage(t), Data: t.TempDir(), Handlers: map[string]engine.Handler{
		graph.HTTPTask: quiet, flow.EmitType: quiet, "": quiet, strings.Repeat("x", flow.MaxTaskType+1): quiet, "nothing": nil, "fine": quiet,
	}}
	_, err := Start(o)
	if err == nil {
		t.Fatal("started")
	}
	for _, part := range []string{`task type "http" is built in`, `task type "emit" is built in`, `"" is not a task type`, `xxx" is not a task type of 1 to 256`, `task type "nothing" has no function`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("no %q in %v", part, err)
		}
	}
	if strings.Contains(err.Error(), "fine") {
		t.Errorf("refused too much: %v", err)
	}
}
