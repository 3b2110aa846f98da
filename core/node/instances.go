package node

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Bounds of a listing. A page that looked at maxLooked rows ends there, also when few of them were asked for.
const (
	maxListed     = 1000
	defaultListed = 100
	maxLooked     = 10_000
)

// instanceLine is one row of /api/instances.
type instanceLine struct {
	Instance store.InstanceID `json:"instance"`
	Status   string           `json:"status"`
	Schedule bool             `json:"schedule,omitempty"` // of a timer start event, waiting to start others
}

// instancePage is the body of /api/instances.
type instancePage struct {
	Instances []instanceLine `json:"instances"`
	// Next is where the next page begins; empty on the last one.
	Next store.InstanceID `json:"next,omitempty"`
}

var listedStatuses = []string{store.Running.String(), store.Completed.String(), store.Failed.String()}

// listing is what the query of /api/instances asks for.
type listing struct {
	status string
	after  store.InstanceID
	limit  int
}

func readListing(q url.Values) (listing, error) {
	l := listing{status: q.Get("status"), after: store.InstanceID(q.Get("after")), limit: defaultListed}
	if l.status != "" && !slices.Contains(listedStatuses, l.status) {
		return l, fmt.Errorf("status %q: want one of %s", l.status, strings.Join(listedStatuses, ", "))
	}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxListed {
			return l, fmt.Errorf("limit %q: want a number from 1 to %d", text, maxListed)
		}
		l.limit = n
	}
	return l, nil
}

// apiInstances lists instances by id, a page at a time, of one status when the query names it.
func (n *Node) apiInstances(w http.ResponseWriter, r *http.Request) {
	l, err := readListing(r.URL.Query())
	if err != nil {
		reply(w, http.StatusBadRequest, problem{err.Error()})
		return
	}
	page, err := n.listInstances(l)
	if err != nil {
		reply(w, http.StatusServiceUnavailable, problem{err.Error()})
		return
	}
	reply(w, http.StatusOK, page)
}

// headsPage bounds one listing of heads, so that a page of few instances does not read many.
const headsPage = 1000

// listInstances reads heads until the page is full, has looked at maxLooked rows, or there are no more.
func (n *Node) listInstances(l listing) (instancePage, error) {
	page := instancePage{Instances: []instanceLine{}}
	after := l.after
	for looked := 0; looked < maxLooked; {
		limit := min(headsPage, max(2*l.limit, 100), maxLooked-looked)
		heads, _, err := n.plane.Heads(n.intake, after, limit)
		if err != nil {
			return page, err
		}
		for _, h := range heads {
			if len(page.Instances) == l.limit {
				page.Next = after
				return page, nil
			}
			after = h.Instance
			if h.Status != store.Void && !engine.Internal(h.Instance) && (l.status == "" || h.Status.String() == l.status) {
				page.Instances = append(page.Instances, instanceLine{h.Instance, h.Status.String(), engine.IsSchedule(h.Instance)})
			}
		}
		if looked += len(heads); len(heads) < limit {
			return page, nil
		}
	}
	page.Next = after
	return page, nil
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

// apiCount counts the rows of the store, a page at a time, so that it holds neither the store nor its rows for long. What changes
// meanwhile may be counted or not.
func (n *Node) apiCount(w http.ResponseWriter, _ *http.Request) {
	var c counts
	err := n.countInstances(&c)
	if err == nil {
		err = n.countEmissions(&c)
	}
	if err != nil {
		reply(w, http.StatusServiceUnavailable, problem{err.Error()})
		return
	}
	c.Started = c.Running + c.Completed + c.Failed
	reply(w, http.StatusOK, c)
}

func (n *Node) countInstances(c *counts) error {
	after := store.InstanceID("")
	for {
		heads, _, err := n.plane.Heads(n.intake, after, maxLooked)
		if err != nil {
			return err
		}
		for _, h := range heads {
			c.add(h)
		}
		if len(heads) < maxLooked {
			return nil
		}
		after = heads[len(heads)-1].Instance
	}
}

func (c *counts) add(h store.Head) {
	if engine.Internal(h.Instance) || engine.IsSchedule(h.Instance) {
		return
	}
	switch h.Status {
	case store.Running:
		c.Running++
	case store.Completed:
		c.Completed++
	case store.Failed:
		c.Failed++
	default: // fenced spawns are nothing yet
	}
}

func (n *Node) countEmissions(c *counts) error {
	after := store.Emission{}
	for {
		rows, _, err := n.plane.Emissions(n.intake, after, maxLooked)
		if err != nil {
			return err
		}
		c.Emissions += len(rows)
		if len(rows) < maxLooked {
			return nil
		}
		after = rows[len(rows)-1]
	}
}

// apiCancel ends an instance. With the token of a call activity in the query it is refused: a called flow is part of its caller.
func (n *Node) apiCancel(w http.ResponseWriter, r *http.Request) {
	token := uint64(0)
	if text := r.URL.Query().Get("token"); text != "" {
		var err error
		if token, err = strconv.ParseUint(text, 10, 64); err != nil {
			reply(w, http.StatusBadRequest, problem{"token is not a number: " + text})
			return
		}
	}
	n.administer(w, r, func(scope *sched.Scope, id store.InstanceID, _ *feel.Context) (engine.Reply, error) {
		return n.flows.engine.CancelInstance(scope, id, token)
	})
}

// historyPage is the body of /api/instances/{id}/history.
type historyPage struct {
	Steps []engine.Entry `json:"steps"`
	// Journal says whether the node keeps one.
	Journal bool `json:"journal"`
}

// apiHistory lists the steps of an instance that the audit journal has, behind the step named in the query, also after its end.
func (n *Node) apiHistory(w http.ResponseWriter, r *http.Request) {
	after := uint64(0)
	if text := r.URL.Query().Get("after"); text != "" {
		var err error
		if after, err = strconv.ParseUint(text, 10, 64); err != nil {
			reply(w, http.StatusBadRequest, problem{"after is not a number: " + text})
			return
		}
	}
	scope, done := n.requestScope(r.Context(), "history of instance")
	defer done()
	steps, err := n.flows.engine.History(scope, store.InstanceID(r.PathValue("id")), after, maxListed)
	if err != nil {
		reply(w, adminStatus(err), problem{err.Error()})
		return
	}
	if steps == nil {
		steps = []engine.Entry{}
	}
	reply(w, http.StatusOK, historyPage{steps, n.pkg.Node.Journal > 0})
}
