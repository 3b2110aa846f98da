package node

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// refuseAbout answers a request about one instance that the engine has refused: with what was asked, why not, and what to do instead. The
// engine's own words are a chain from the request down to the store's row, for logs.
func (n *Node) refuseAbout(w http.ResponseWriter, scope *sched.Scope, id store.InstanceID, err error) {
	status, text := adminStatus(err), err.Error()
	switch {
	case errors.Is(err, engine.ErrNoInstance):
		status, text = n.absence(scope, id)
	case errors.Is(err, flow.ErrCalled):
		text = fmt.Sprintf("instance %s: %v", id, flow.ErrCalled)
	case errors.Is(err, engine.ErrLease):
		text = fmt.Sprintf("instance %s: %v: its time is over or another worker has it; fetch tasks again", id, engine.ErrLease)
	case errors.Is(err, engine.ErrNotWaiting):
		text = fmt.Sprintf("%v: instance %s has gone on, or the number was never right; describe it to see its waits and incidents", engine.ErrNotWaiting, id)
	case errors.Is(err, engine.ErrBusy):
		text = fmt.Sprintf("instance %s is busy with another step, and nothing was done: ask again", id)
	case errors.Is(err, engine.ErrNoDefinition):
		text = fmt.Sprintf("instance %s cannot go on: this node does not know the deployment that it started on; it can be cancelled", id)
	}
	reply(w, status, problem{text})
}

// absence says why an instance does not run: it has ended, or there never was one.
func (n *Node) absence(scope *sched.Scope, id store.InstanceID) (status int, text string) {
	head, ticket, err := n.plane.Head(scope, id)
	if err == nil {
		err = n.plane.WaitDurable(scope, ticket)
	}
	switch {
	case err != nil:
		return http.StatusServiceUnavailable, fmt.Sprintf("whether there is an instance %s is not known now: ask again", id)
	case head.Status.Terminal():
		return http.StatusGone, fmt.Sprintf("instance %s has ended (%v): nothing of it can be changed or described any more, only its history is kept, where the node keeps a journal", id, head.Status)
	default:
		return http.StatusNotFound, fmt.Sprintf("there is no instance %s: list the instances for their ids", id)
	}
}
