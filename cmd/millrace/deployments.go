package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/millrace-dev/millrace/core/graph"
)

// planAnswer is what the node says of an activation.
type planAnswer struct {
	Error                     string
	Package, Identity, Active string
	Applied, Refused          bool
	Differences               []struct {
		Kind, Name, Change, Refused, File string
		Line                              int
	}
	Keeps  []deploymentAnswer
	Faults []graph.Fault
}

type deploymentAnswer struct {
	Deployment, State string
	Since             time.Time
	Instances, Unsent int
}

// apply activates a package on a running node and shows what that changes. A package with a fault, and a difference that a running node
// cannot take, are refused with every reason, and nothing changes.
func apply(ctx context.Context, args []string, out, errs io.Writer) int {
	f, node := nodeFlags("apply", errs)
	only := f.Bool("plan", false, "only show what would change")
	if f.Parse(args) != nil || f.NArg() != 1 {
		say(errs, "usage: millrace apply [--node URL] [--plan] PACKAGE\n")
		return statusRefused
	}
	pkg, ok := load(f.Arg(0), errs)
	if !ok {
		return statusRefused
	}
	body, err := pkg.Archive()
	if err != nil {
		say(errs, "millrace apply: %v\n", err)
		return statusFailed
	}
	return activate(ctx, newClient(*node), "apply", "/api/deployments?plan="+fmt.Sprint(*only), body, out, errs)
}

// rollback activates a deployment that the node keeps.
func rollback(ctx context.Context, args []string, out, errs io.Writer) int {
	f, node := nodeFlags("rollback", errs)
	only := f.Bool("plan", false, "only show what would change")
	if f.Parse(args) != nil || f.NArg() > 1 {
		say(errs, "usage: millrace rollback [--node URL] [--plan] [HASH]\n")
		return statusRefused
	}
	query := url.Values{"plan": {fmt.Sprint(*only)}, "to": {f.Arg(0)}}
	return activate(ctx, newClient(*node), "rollback", "/api/deployments/rollback?"+query.Encode(), nil, out, errs)
}

func activate(ctx context.Context, c *client, verb, path string, body []byte, out, errs io.Writer) int {
	resp, text, err := c.send(ctx, http.MethodPost, path, "application/zip", body)
	if err != nil {
		say(errs, "millrace %s: %v\n", verb, err)
		return statusFailed
	}
	var plan planAnswer
	if err := json.Unmarshal(text, &plan); err != nil || plan.Error == "" && plan.Identity == "" {
		return refusedBy(verb, &refusal{resp.StatusCode, fmt.Sprintf("the node answered %s: %.200s", resp.Status, text)}, errs)
	}
	for _, x := range plan.Faults {
		say(errs, "%v\n", x)
	}
	if plan.Error != "" {
		return refusedBy(verb, &refusal{resp.StatusCode, plan.Error}, errs)
	}
	showPlan(out, plan)
	if plan.Refused {
		say(errs, "millrace %s: refused, nothing has changed\n", verb)
		return statusRefused
	}
	return statusOK
}

func showPlan(out io.Writer, p planAnswer) {
	before := "active"
	if p.Applied {
		before = "before"
	}
	say(out, "package  %s %s\n%-8s %s\n", p.Package, p.Identity, before, p.Active)
	for _, d := range p.Differences {
		place := d.File
		if d.Line > 0 {
			place = fmt.Sprintf("%s:%d", d.File, d.Line)
		}
		say(out, "  %-8s %-8s %s (%s)\n", d.Change, d.Kind, d.Name, place)
		if d.Refused != "" {
			say(out, "    refused: %s\n", d.Refused)
		}
	}
	if len(p.Differences) == 0 {
		say(out, "  nothing differs\n")
	}
	for _, d := range p.Keeps {
		verb := "go on"
		if d.Instances == 1 {
			verb = "goes on"
		}
		say(out, "  %s %s with %s\n", count(d.Instances, "instance"), verb, d.Deployment)
	}
	if p.Applied {
		say(out, "active   %s\n", p.Identity)
	}
}

// count is a number of things, with their name in the singular or plural.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// deployments lists the deployments that a running node knows.
func deployments(ctx context.Context, args []string, out, errs io.Writer) int {
	f, node := nodeFlags("deployments", errs)
	if f.Parse(args) != nil || f.NArg() != 0 {
		say(errs, "usage: millrace deployments [--node URL]\n")
		return statusRefused
	}
	var list struct{ Deployments []deploymentAnswer }
	if err := newClient(*node).ask(ctx, http.MethodGet, "/api/deployments", nil, &list); err != nil {
		return refusedBy("deployments", err, errs)
	}
	for _, d := range list.Deployments {
		say(out, "%s  %-8s since %s  %s, %d unsent\n", d.Deployment, d.State, d.Since.Format(time.RFC3339), count(d.Instances, "instance"), d.Unsent)
	}
	return statusOK
}
