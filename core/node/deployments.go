package node

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/core/deploy"
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/sched"
)

// Plan is what activating a package would do, or has done.
type Plan struct {
	Package  string `json:"package"`
	Identity string `json:"identity"`
	// Active is the deployment that is active before.
	Active string `json:"active"`
	// Differences from it, and from what the node was started with.
	Differences []graph.Difference `json:"differences"`
	// Keeps are the deployments whose instances go on with their own definitions.
	Keeps []deploymentLine `json:"keeps"`
	// Refused says that a difference cannot be taken by a running node: nothing changes.
	Refused bool `json:"refused"`
	// Applied says that the package is active now.
	Applied bool `json:"applied"`
}

// deploymentLine is a row of /api/deployments.
type deploymentLine struct {
	Deployment string       `json:"deployment"`
	State      engine.State `json:"state"`
	Since      time.Time    `json:"since"`
	Instances  int          `json:"instances"`
	Unsent     int          `json:"unsent"`
}

func deploymentOf(d engine.Deployment) deploymentLine {
	line := deploymentLine{d.ID, d.State, d.Activated, d.Instances, d.Unsent}
	switch {
	case d.State == engine.Retired && !d.Retired.IsZero():
		line.Since = d.Retired
	case d.State == engine.Draining && !d.Replaced.IsZero():
		line.Since = d.Replaced
	}
	return line
}

// apiDeployments lists the deployments that the store knows.
func (n *Node) apiDeployments(w http.ResponseWriter, r *http.Request) {
	scope, done := n.requestScope(r.Context(), "list deployments")
	defer done()
	all, err := n.flows.engine.Deployments(scope)
	if err != nil {
		reply(w, http.StatusServiceUnavailable, problem{err.Error()})
		return
	}
	lines := []deploymentLine{}
	for _, d := range all {
		lines = append(lines, deploymentOf(d))
	}
	reply(w, http.StatusOK, map[string]any{"deployments": lines})
}

// noFlows answers on a node that runs no engine.
func noFlows(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusConflict, problem{"the package of this node has no flows, and only flows are deployed while it runs: restart the node"})
}

// faulty is the body of the refusal of a package.
type faulty struct {
	Error  string        `json:"error"`
	Faults []graph.Fault `json:"faults"`
}

// apiApply activates the package of the body, a zip archive; with plan=true it only says what that would do.
func (n *Node) apiApply(w http.ResponseWriter, r *http.Request, only bool) {
	data, read := bodyOf(w, r, graph.MaxArchiveBytes)
	if !read {
		return
	}
	p, faults := graph.LoadArchive(data)
	if len(faults) > 0 {
		reply(w, http.StatusUnprocessableEntity, faulty{"the package is refused", faults})
		return
	}
	n.activate(w, r, p, only)
}

// apiRollback activates a deployment that the store keeps: the one whose hash begins with the query's to, or else the one that was active
// before.
func (n *Node) apiRollback(w http.ResponseWriter, r *http.Request, only bool) {
	scope, done := n.requestScope(r.Context(), "rollback")
	defer done()
	id, err := n.rollbackTo(scope, r.URL.Query().Get("to"))
	if err != nil {
		reply(w, deploymentStatus(err), problem{err.Error()})
		return
	}
	source, err := n.flows.engine.Source(scope, id)
	if err != nil {
		reply(w, deploymentStatus(err), problem{err.Error()})
		return
	}
	p, err := unpackSource(source)
	if err != nil {
		reply(w, http.StatusUnprocessableEntity, problem{fmt.Sprintf("deployment %s is no package of this version any more: %v", id, err)})
		return
	}
	n.activate(w, r, p, only)
}

var errWhich = errors.New("no single deployment is meant")

func (n *Node) rollbackTo(scope *sched.Scope, prefix string) (string, error) {
	all, err := n.flows.engine.Versions(scope)
	if err != nil {
		return "", err
	}
	all = slices.DeleteFunc(all, func(d engine.Deployment) bool {
		hash := strings.TrimPrefix(d.ID, "sha256:")
		return prefix == "" && d.State == engine.Active || !strings.HasPrefix(hash, strings.TrimPrefix(prefix, "sha256:"))
	})
	slices.SortStableFunc(all, func(a, b engine.Deployment) int { return b.Activated.Compare(a.Activated) })
	switch {
	case len(all) == 0 && prefix != "":
		return "", fmt.Errorf("roll back to %q: %w: the store keeps none that begins like this", prefix, errWhich)
	case len(all) == 0:
		return "", fmt.Errorf("roll back: %w: the store keeps none but the active one", errWhich)
	case prefix != "" && len(all) > 1:
		return "", fmt.Errorf("roll back to %q: %w: %d begin like this", prefix, errWhich, len(all))
	}
	return all[0].ID, nil
}

// planned reads whether only the plan is wanted, before anything else is looked at.
func planned(h func(w http.ResponseWriter, r *http.Request, only bool)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		only, err := isTrue(r.URL.Query(), "plan")
		if err != nil {
			reply(w, http.StatusBadRequest, problem{err.Error()})
			return
		}
		h(w, r, only)
	}
}

func (n *Node) activate(w http.ResponseWriter, r *http.Request, p *graph.Package, only bool) {
	scope, done := n.requestScope(r.Context(), "activate deployment")
	defer done()
	plan, err := n.plan(scope, p)
	switch {
	case err != nil:
		reply(w, deploymentStatus(err), problem{err.Error()})
		return
	case only:
		reply(w, http.StatusOK, plan)
		return
	case plan.Refused:
		reply(w, http.StatusConflict, plan)
		return
	}
	if err := n.apply(scope, p); err != nil {
		reply(w, deploymentStatus(err), problem{err.Error()})
		return
	}
	plan.Applied = true
	n.log.Info("deployment is active", "package", p.Name, "identity", p.ID, "before", plan.Active)
	reply(w, http.StatusOK, plan)
}

// apply activates a package and opens its transports. When it returns nil, both are done; an error means that nothing has changed, unless it
// wraps deploy.ErrUnknown.
func (n *Node) apply(scope *sched.Scope, p *graph.Package) error {
	if _, err := n.transportsOf(p, nil); err != nil { // what cannot be opened is not activated
		return fmt.Errorf("%w: %w", engine.ErrPackage, err)
	}
	out, err := n.enginePackage(p)
	if err == nil {
		err = n.flows.engine.Activate(scope, out)
	}
	if err != nil {
		return err
	}
	n.opts.Failpoint(PointPublished)
	err = n.openTransports(n.root) // it is active: whoever asked may be gone
	n.opts.Failpoint(PointOpened)
	return err
}

// plan compares a package with what is active, with what drains, and with what the node was started with.
func (n *Node) plan(scope *sched.Scope, p *graph.Package) (*Plan, error) {
	all, err := n.flows.engine.Deployments(scope)
	if err != nil {
		return nil, err
	}
	active, draining := n.deployed()
	plan := &Plan{Package: p.Name, Identity: p.ID, Active: active.ID, Differences: append([]graph.Difference{}, graph.Compare(active, p)...), Keeps: []deploymentLine{}}
	for _, old := range append([]*graph.Package{n.pkg}, draining...) {
		for _, d := range graph.Compare(old, p) {
			if d.Refused != "" && !slices.Contains(plan.Differences, d) {
				plan.Differences = append(plan.Differences, d)
			}
		}
	}
	if len(p.Flows) == 0 {
		plan.Differences = append(plan.Differences, graph.Difference{Kind: "package", Name: p.Name, Change: graph.Changed, File: graph.PackageFile, Refused: "it has no flows"})
	}
	plan.Refused = slices.ContainsFunc(plan.Differences, func(d graph.Difference) bool { return d.Refused != "" })
	for _, d := range all {
		if d.ID != p.ID && d.Instances > 0 {
			plan.Keeps = append(plan.Keeps, deploymentOf(d))
		}
	}
	return plan, nil
}

func deploymentStatus(err error) int {
	switch {
	case errors.Is(err, errWhich), errors.Is(err, engine.ErrNoDefinition):
		return http.StatusNotFound
	case errors.Is(err, deploy.ErrUnknown):
		return http.StatusGatewayTimeout
	case errors.Is(err, engine.ErrPackage):
		return http.StatusUnprocessableEntity
	default:
		return http.StatusServiceUnavailable
	}
}
