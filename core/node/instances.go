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
	// Incidents are those of an instance that is listed for them.
	Incidents []engine.Incident `json:"incidents,omitempty"`
}

// instancePage is the body of /api/instances.
type instancePage struct {
	Instances []instanceLine `json:"instances"`
	// Next is where the next page begins; empty on the last one.
	Next store.InstanceID `json:"next,omitempty"`

	seen store.Ticket // covers what was read
}

var listedStatuses = []string{store.Running.String(), store.Completed.String(), store.Failed.String()}

// listing is what the query of /api/instances asks for.
type listing struct {
	status string
	after  store.InstanceID
	limit  int
	stuck  bool // only those that have incidents
}

func readListing(q url.Values) (listing, error) {
	l := listing{status: q.Get("status"), after: store.InstanceID(q.Get("after")), limit: defaultListed}
	if l.status != "" && !slices.Contains(listedStatuses, l.status) {
		return l, fmt.Errorf("status %q: want one of %s", l.status, strings.Join(listedStatuses, ", "))
	}
	var err error
	if l.stuck, err = isTrue(q, "incidents"); err != nil {
		return l, err
	}
	if l.stuck && l.status != "" && l.status != store.Running.String() {
		return l, fmt.Errorf("status %s: only running instances have incidents", l.status)
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
	list := n.listInstances
	if l.stuck {
		list = n.listStuck
	}
	page, err := list(l)
	n.replyRead(w, page.seen, err, page)
}

// replyRead answers with what was read of the store of the flows, when it is durable: what a crash takes back was never told.
func (n *Node) replyRead(w http.ResponseWriter, seen store.Ticket, err error, body any) {
	if err == nil {
		err = n.plane.WaitDurable(n.intake, seen)
	}
	if err != nil {
		reply(w, http.StatusServiceUnavailable, problem{err.Error()})
		return
	}
	reply(w, http.StatusOK, body)
}

// headsPage bounds one listing of heads, so that a page of few instances does not read many.
const headsPage = 1000

// listInstances reads heads until the page is full, has looked at maxLooked rows, or there are no more.
func (n *Node) listInstances(l listing) (instancePage, error) {
	page := instancePage{Instances: []instanceLine{}}
	after := l.after
	for looked := 0; looked < maxLooked; {
		limit := min(headsPage, max(2*l.limit, 100), maxLooked-looked)
		heads, ticket, err := n.plane.Heads(n.intake, after, limit)
		if err != nil {
			return page, err
		}
		page.seen = max(page.seen, ticket)
		for _, h := range heads {
			if len(page.Instances) == l.limit {
				page.Next = after
				return page, nil
			}
			after = h.Instance
			if h.Status != store.Void && !engine.Internal(h.Instance) && (l.status == "" || h.Status.String() == l.status) {
				page.Instances = append(page.Instances, instanceLine{Instance: h.Instance, Status: h.Status.String(), Schedule: engine.IsSchedule(h.Instance)})
			}
		}
		if looked += len(heads); len(heads) < limit {
			return page, nil
		}
	}
	page.Next = after
	return page, nil
}

// listStuck lists instances that have incidents.
func (n *Node) listStuck(l listing) (instancePage, error) {
	page := instancePage{Instances: []instanceLine{}}
	stuck, err := n.flows.engine.Incidents(n.intake, l.after, l.limit+1)
	if err != nil {
		return page, err
	}
	for _, x := range stuck {
		if len(page.Instances) == l.limit {
			page.Next = page.Instances[l.limit-1].Instance
			break
		}
		page.Instances = append(page.Instances, instanceLine{
			Instance: x.Instance, Status: store.Running.String(), Schedule: engine.IsSchedule(x.Instance), Incidents: x.Incidents,
		})
	}
	return page, nil
}

// raised tells the operator of an incident: all are counted, and the log has one of each kind in a while.
func (n *Node) raised(x engine.Incident) {
	n.metrics.incidents.WithLabelValues(x.Process, x.Element, string(x.Code)).Inc()
	if others, ok := n.paced.pass(fmt.Sprintf("incident %s %s %s", x.Process, x.Element, x.Code)); ok {
		n.log.Warn("incident", "instance", x.Instance, "process", x.Process, "element", x.Element, "code", x.Code, "reason", x.Reason,
			"others since the last warning", others)
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

	seen store.Ticket // covers what was read
}

// apiCount counts the rows of the store, a page at a time, so that it holds neither the store nor its rows for long. What changes
// meanwhile may be counted or not.
func (n *Node) apiCount(w http.ResponseWriter, _ *http.Request) {
	var c counts
	err := n.countInstances(&c)
	if err == nil {
		err = n.countEmissions(&c)
	}
	c.Started = c.Running + c.Completed + c.Failed
	n.replyRead(w, c.seen, err, c)
}

func (n *Node) countInstances(c *counts) error {
	after := store.InstanceID("")
	for {
		heads, ticket, err := n.plane.Heads(n.intake, after, maxLooked)
		if err != nil {
			return err
		}
		c.seen = max(c.seen, ticket)
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
		rows, ticket, err := n.plane.Emissions(n.intake, after, maxLooked)
		if err != nil {
			return err
		}
		c.seen = max(c.seen, ticket)
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
