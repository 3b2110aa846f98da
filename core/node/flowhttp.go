package node

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/step"
)

// IdempotencyHeader carries the id of a delivery or of a body: sent again under the same id it takes effect once.
const IdempotencyHeader = "Idempotency-Key"

// flowRoutes registers the channels that take messages over HTTP and the administration of instances.
func (n *Node) flowRoutes(mux *http.ServeMux) {
	for _, x := range n.flows.channels {
		if x.HTTPPath != "" {
			n.route(mux, x.HTTPPath, x.serve)
		}
	}
	mux.HandleFunc("GET /api/instances/count", n.apiCount)
	if n.flows.engine == nil {
		return
	}
	mux.HandleFunc("GET /api/instances", n.apiInstances)
	mux.HandleFunc("GET /api/instances/{id}", n.apiInstance)
	mux.HandleFunc("POST /api/instances/{id}/tasks/{wait}", n.apiComplete)
	mux.HandleFunc("POST /api/instances/{id}/incidents/{token}", n.apiResolve)
}

// answer is the body of a channel's reply.
type answer struct {
	Outcome   string           `json:"outcome"`
	Instance  store.InstanceID `json:"instance,omitempty"`
	Duplicate bool             `json:"duplicate,omitempty"`
	Status    string           `json:"status,omitempty"`
	Reason    string           `json:"reason,omitempty"`
	Line      int              `json:"line,omitempty"`
}

// serve takes one message.
func (x *channel) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessageBytes))
	if over := (*http.MaxBytesError)(nil); errors.As(err, &over) {
		reply(w, http.StatusRequestEntityTooLarge, problem{err.Error()})
		return
	}
	if err != nil {
		reply(w, http.StatusBadRequest, problem{err.Error()})
		return
	}
	d, err := x.decoder()
	if err != nil {
		reply(w, http.StatusInternalServerError, problem{err.Error()})
		return
	}
	defer d.Release()
	result, err := d.Record(body)
	if err != nil {
		reply(w, http.StatusBadRequest, answer{Outcome: "rejected", Reason: err.Error()})
		return
	}
	defer result.Batch.Release()
	for _, o := range result.Outcomes {
		if o.Rejection != nil {
			x.n.metrics.rejected.WithLabelValues("channel "+x.Name, o.Rejection.Reason.String()).Inc()
			reply(w, http.StatusBadRequest, answer{Outcome: "rejected", Reason: o.Rejection.Error(), Line: o.Line})
			return
		}
	}
	if result.Batch.Rows() != 1 {
		reply(w, http.StatusBadRequest, answer{Outcome: "rejected", Reason: "want one message"})
		return
	}
	id := r.Header.Get(IdempotencyHeader)
	if id == "" {
		id = "once-" + rand.Text()
	}
	scope, done := x.n.requestScope(r.Context(), "message on "+x.Name)
	defer done()
	answered, err := x.deliver(scope, id, result.Batch.Row(0))
	x.say(w, answered, err)
}

func (x *channel) say(w http.ResponseWriter, r engine.Reply, err error) {
	a := answer{Outcome: r.Outcome.String(), Instance: r.Instance, Duplicate: r.Duplicate, Reason: r.Reason}
	status := http.StatusOK
	switch {
	case errors.Is(err, engine.ErrUnsettled):
		// The delivery took effect and its instance goes on: the client may ask again under the same id.
		status, a = http.StatusGatewayTimeout, answer{Outcome: "running", Reason: err.Error()}
	case err != nil:
		w.Header().Set("Retry-After", "1")
		status, a = http.StatusServiceUnavailable, answer{Outcome: "unanswered", Reason: err.Error()}
	case r.Outcome == engine.Rejected:
		status = http.StatusBadRequest
	case r.Outcome == engine.Unmatched:
		status = http.StatusNotFound
	case r.Outcome == engine.Completed:
		a.Status = r.Status.String()
	}
	reply(w, status, a)
}

// requestScope is a scope that ends with the request, or when the node stops taking input.
func (n *Node) requestScope(ctx context.Context, name string) (*sched.Scope, func()) {
	scope := n.intake.Child(name)
	stop := context.AfterFunc(ctx, func() { scope.Cancel(context.Cause(ctx)) })
	return scope, func() {
		stop()
		scope.Close()
	}
}

// counts is the body of /api/instances/count.
type counts struct {
	Started   int `json:"started"`
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
	Running   int `json:"running"`
	// Emissions is the number of outbox rows that have not been delivered yet.
	Emissions int `json:"emissions"`
}

// apiCount reads every row of the store: it is for small stores and for checking one.
func (n *Node) apiCount(w http.ResponseWriter, _ *http.Request) {
	var c counts
	_, err := n.engine.View(n.intake, "count instances", func(v step.View) error {
		d, err := step.Inspect(v)
		c.Emissions = len(d.Emissions)
		for _, h := range d.Heads {
			switch h.Status {
			case store.Running:
				c.Running++
			case store.Completed:
				c.Completed++
			case store.Failed:
				c.Failed++
			default:
			}
		}
		return err
	})
	if err != nil {
		reply(w, http.StatusServiceUnavailable, problem{err.Error()})
		return
	}
	c.Started = c.Running + c.Completed + c.Failed
	reply(w, http.StatusOK, c)
}
