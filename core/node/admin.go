package node

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// apiInstance describes a running instance: its snapshot and its open waits.
func (n *Node) apiInstance(w http.ResponseWriter, r *http.Request) {
	scope, done := n.requestScope(r.Context(), "describe instance")
	defer done()
	id := store.InstanceID(r.PathValue("id"))
	d, err := n.flows.engine.Describe(scope, id)
	if err != nil {
		n.refuseAbout(w, scope, id, err)
		return
	}
	body := instance{Instance: d.Instance, Deployment: d.Deployment, Status: d.Status.String(), Snapshot: d.Snapshot, Waits: []waitLine{}}
	for _, x := range d.Waits {
		line := waitLine{Wait: x.Generation, Element: x.Element, Message: engine.MessageOf(x.Channel), Key: x.Key, Kind: string(x.Data)}
		if !x.Due.IsZero() {
			line.Due = &x.Due
		}
		body.Waits = append(body.Waits, line)
	}
	if n.opts.Storeless {
		body.Narrowed = storeless
	}
	reply(w, http.StatusOK, body)
}

// instance is the body of /api/instances/{id}.
type instance struct {
	Instance   store.InstanceID `json:"instance"`
	Deployment string           `json:"deployment"`
	Status     string           `json:"status"`
	Snapshot   *flow.Snapshot   `json:"snapshot"`
	Waits      []waitLine       `json:"waits"`
	Narrowed   string           `json:"narrowed,omitempty"` // what a node without a store does not promise
}

// waitLine is an open wait: for a message with a key, for a time, or for somebody to complete a task.
type waitLine struct {
	Wait    uint64     `json:"wait"`
	Element string     `json:"element"`
	Kind    string     `json:"kind"`
	Message string     `json:"message,omitempty"`
	Key     string     `json:"key,omitempty"`
	Due     *time.Time `json:"due,omitempty"`
}

// apiComplete completes a user task. The path names the generation of its wait, so that a late answer cannot complete the next.
func (n *Node) apiComplete(w http.ResponseWriter, r *http.Request) {
	n.admin(w, r, "wait", func(scope *sched.Scope, id store.InstanceID, wait uint64, v *feel.Context) (engine.Reply, error) {
		return n.flows.engine.CompleteTask(scope, id, wait, v)
	})
}

// apiResolve corrects variables and tries a stuck token again.
func (n *Node) apiResolve(w http.ResponseWriter, r *http.Request) {
	n.admin(w, r, "token", func(scope *sched.Scope, id store.InstanceID, token uint64, v *feel.Context) (engine.Reply, error) {
		return n.flows.engine.ResolveIncident(scope, id, token, v)
	})
}

type adminCall func(scope *sched.Scope, id store.InstanceID, number uint64, v *feel.Context) (engine.Reply, error)

// admin decodes a request about one instance, runs it and answers. The body is a JSON object of variables; empty is none.
func (n *Node) admin(w http.ResponseWriter, r *http.Request, part string, call adminCall) {
	number, err := strconv.ParseUint(r.PathValue(part), 10, 64)
	if err != nil {
		reply(w, http.StatusBadRequest, problem{part + " is not a number: " + r.PathValue(part)})
		return
	}
	n.administer(w, r, func(scope *sched.Scope, id store.InstanceID, v *feel.Context) (engine.Reply, error) {
		return call(scope, id, number, v)
	})
}

func (n *Node) administer(w http.ResponseWriter, r *http.Request, call func(*sched.Scope, store.InstanceID, *feel.Context) (engine.Reply, error)) {
	body, read := bodyOf(w, r, maxMessageBytes)
	if !read {
		return
	}
	variables, err := contextOf(body)
	if err != nil {
		refuseBody(w, err)
		return
	}
	scope, done := n.requestScope(r.Context(), "administer instance")
	defer done()
	id := store.InstanceID(r.PathValue("id"))
	answered, err := call(scope, id, variables)
	if err != nil {
		n.refuseAbout(w, scope, id, err)
		return
	}
	reply(w, http.StatusOK, answer{Outcome: answered.Outcome.String(), Instance: answered.Instance})
}

var errVariables = errors.New("variables must be a JSON object")

// adminStatus: a claim that is held is a conflict that read nothing; a wait that is gone stays gone.
func adminStatus(err error) int {
	switch {
	case errors.Is(err, engine.ErrBusy), errors.Is(err, engine.ErrNotWaiting), errors.Is(err, engine.ErrLease), errors.Is(err, flow.ErrCalled):
		return http.StatusConflict
	case errors.Is(err, engine.ErrRequest):
		return http.StatusBadRequest
	case errors.Is(err, engine.ErrNoInstance):
		return http.StatusNotFound
	default:
		return http.StatusServiceUnavailable
	}
}
