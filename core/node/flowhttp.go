package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/source/web"
	"github.com/millrace-dev/millrace/core/store"
)

// flowRoutes registers the channels that take messages over HTTP and the administration of instances.
func (n *Node) flowRoutes(mux *http.ServeMux, open []*channel) {
	for _, x := range open {
		if x.HTTPPath != "" {
			n.route(mux, x.HTTPPath, x.serve)
		}
	}
	mux.HandleFunc("GET /api/instances/count", queried(n.apiCount))
	if n.flows.engine == nil {
		mux.HandleFunc("/api/deployments", noFlows)
		mux.HandleFunc("/api/deployments/rollback", noFlows)
		return
	}
	mux.HandleFunc("GET /api/instances", queried(n.apiInstances, "status", "incidents", "after", "limit"))
	mux.HandleFunc("GET /api/instances/{id}", queried(n.apiInstance))
	mux.HandleFunc("POST /api/instances/{id}/tasks/{wait}", queried(n.apiComplete))
	mux.HandleFunc("GET /api/instances/{id}/history", queried(n.apiHistory, "after"))
	mux.HandleFunc("POST /api/instances/{id}/incidents/{token}", queried(n.apiResolve))
	mux.HandleFunc("POST /api/instances/{id}/cancel", queried(n.apiCancel, "token"))
	mux.HandleFunc("GET /api/deployments", queried(n.apiDeployments))
	mux.HandleFunc("POST /api/deployments", queried(planned(n.apiApply), "plan"))
	mux.HandleFunc("POST /api/deployments/rollback", queried(planned(n.apiRollback), "plan", "to"))
	n.taskRoutes(mux)
}

// answer is the body of a channel's reply.
type answer struct {
	Outcome   string           `json:"outcome"`
	Instance  store.InstanceID `json:"instance,omitempty"`
	Duplicate bool             `json:"duplicate,omitempty"`
	Status    string           `json:"status,omitempty"`
	Reason    string           `json:"reason,omitempty"`
	Line      int              `json:"line,omitempty"`
	Pointer   string           `json:"pointer,omitempty"`
}

// bodyOf reads a body of at most so many bytes. When it cannot, the request is answered.
func bodyOf(w http.ResponseWriter, r *http.Request, most int64) (body []byte, read bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		refuseBody(w, err)
		return nil, false
	}
	return body, true
}

// refuseBody answers a request whose body cannot be read, or is none: with the limit when it is too large.
func refuseBody(w http.ResponseWriter, err error) {
	if over := (*http.MaxBytesError)(nil); errors.As(err, &over) {
		reply(w, http.StatusRequestEntityTooLarge, problem{fmt.Sprintf("body has more than %d bytes", over.Limit)})
		return
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		reply(w, http.StatusRequestTimeout, problem{"the body took too long to come"})
		return
	}
	reply(w, http.StatusBadRequest, problem{err.Error()})
}

// serve takes one message.
func (x *channel) serve(w http.ResponseWriter, r *http.Request) {
	id, err := web.Key(r.Header)
	if err != nil {
		reply(w, http.StatusBadRequest, answer{Outcome: "rejected", Reason: err.Error()})
		return
	}
	body, read := bodyOf(w, r, maxMessageBytes)
	if !read {
		return
	}
	if id == "" {
		id = "once-" + rand.Text()
	}
	scope, done := x.n.requestScope(r.Context(), "message on "+x.Name)
	defer done()
	var answered engine.Reply
	var refused *refusal
	err = x.n.whileSuperseded(scope, x, func(now *channel) (err error) {
		answered, refused, err = now.take(scope, id, body)
		return err
	})
	if refused != nil {
		reply(w, http.StatusBadRequest, answer{Outcome: "rejected", Reason: refused.reason, Line: refused.line, Pointer: refused.pointer})
		return
	}
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
		if status = http.StatusNotFound; a.Reason == "" {
			a.Reason = "no instance waits for this message under its key"
		}
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
