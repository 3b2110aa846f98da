package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// instances lists the instances of a running node, a page at a time.
func instances(ctx context.Context, args []string, out, errs io.Writer) int {
	f, node := nodeFlags("instances", errs)
	status := f.String("status", "", "running, completed or failed; all when empty")
	limit := f.Int("limit", 100, "instances at most")
	after := f.String("after", "", "where to begin: the last id of the page before")
	stuck := f.Bool("incidents", false, "only instances that have incidents, with them")
	if f.Parse(args) != nil || f.NArg() != 0 {
		say(errs, "usage: millrace instances [--node URL] [--status S] [--incidents] [--limit N] [--after ID]\n")
		return statusRefused
	}
	var page struct {
		Instances []struct {
			Instance, Status string
			Schedule         bool
			Incidents        []struct{ Process, Element, Code, Reason string }
		}
		Next string
	}
	query := url.Values{"status": {*status}, "limit": {fmt.Sprint(*limit)}, "after": {*after}, "incidents": {fmt.Sprint(*stuck)}}
	if err := newClient(*node).ask(ctx, http.MethodGet, "/api/instances?"+query.Encode(), nil, &page); err != nil {
		return refusedBy("instances", err, errs)
	}
	for _, x := range page.Instances {
		note := ""
		if x.Schedule {
			note = "  timer start event"
		}
		say(out, "%-36s %s%s\n", x.Instance, x.Status, note)
		for _, i := range x.Incidents {
			say(out, "  %s/%s %s: %s\n", i.Process, i.Element, i.Code, i.Reason)
		}
	}
	if page.Next != "" {
		say(out, "more: --after %s\n", page.Next)
	}
	return statusOK
}

// instanceAnswer is what the node says of an instance.
type instanceAnswer struct {
	Instance, Deployment, Status string
	Snapshot                     struct {
		Flow      string
		Steps     uint64
		Variables json.RawMessage
		Tokens    []struct {
			ID, Scope, Host uint64
			Element, Phase  string
			Called          string
			Incident        *struct{ Code, Message string }
			Job             *struct {
				Type    string
				Retries int
				Lease   struct {
					Worker string
					Until  time.Time
				}
			}
		}
	}
	Narrowed string
	Waits    []struct {
		Wait                        uint64
		Element, Kind, Message, Key string
		Due                         *time.Time
	}
}

type historyAnswer struct {
	Journal bool
	Steps   []struct {
		Step            uint64
		At              time.Time
		Cause           string
		Visited, Raised []string
	}
}

// describeInstance shows where an instance stands, what it waits for, its incidents and, with an audit journal, its history.
func describeInstance(ctx context.Context, args []string, out, errs io.Writer) int {
	f, node := nodeFlags("describe instance", errs)
	if f.Parse(args) != nil || f.NArg() != 1 || f.Arg(0) == "" {
		say(errs, "usage: millrace describe instance [--node URL] ID\n")
		return statusRefused
	}
	c, path := newClient(*node), "/api/instances/"+escape(f.Arg(0))
	var history historyAnswer
	if err := c.ask(ctx, http.MethodGet, path+"/history", nil, &history); err != nil {
		return refusedBy("describe instance", err, errs)
	}
	var x instanceAnswer
	err := c.ask(ctx, http.MethodGet, path, nil, &x)
	if err == nil {
		showInstance(out, x)
	} else if len(history.Steps) == 0 {
		return refusedBy("describe instance", err, errs)
	} else {
		say(out, "%v\n", err)
	}
	showHistory(out, history)
	return statusOK
}

func showInstance(out io.Writer, x instanceAnswer) {
	if x.Narrowed != "" {
		say(out, "store      none: %s\n", x.Narrowed)
	}
	say(out, "instance   %s\nflow       %s\ndeployment %s\nstatus     %s after %d steps\n", x.Instance, x.Snapshot.Flow, x.Deployment, x.Status, x.Snapshot.Steps)
	for _, t := range x.Snapshot.Tokens {
		say(out, "token %-4d %s, %s", t.ID, t.Element, t.Phase)
		switch {
		case t.Called != "":
			say(out, ", calls %s", t.Called)
		case t.Host != 0:
			say(out, ", beside token %d", t.Host)
		}
		if t.Scope != 0 {
			say(out, ", inside token %d", t.Scope)
		}
		if j := t.Job; j != nil && j.Type != "" {
			say(out, ", task %s, %d attempts left", j.Type, j.Retries)
			switch until := j.Lease.Until.Format(time.RFC3339); {
			case j.Lease.Worker == "":
			case j.Lease.Until.Before(time.Now()):
				say(out, ", free again since the lock of %s was over at %s", j.Lease.Worker, until)
			default:
				say(out, ", locked by %s until %s", j.Lease.Worker, until)
			}
		}
		say(out, "\n")
		if t.Incident != nil {
			say(out, "  incident %s: %s\n", t.Incident.Code, t.Incident.Message)
		}
	}
	for _, w := range x.Waits {
		say(out, "wait %-5d %s, %s", w.Wait, w.Element, w.Kind)
		switch {
		case w.Key == "":
		case w.Message == "": // the instance itself: while it runs no other one of its flow starts under the key
			say(out, " that would start another one, key %q", w.Key)
		default:
			say(out, " %s, key %q", w.Message, w.Key)
		}
		if w.Due != nil {
			say(out, " until %s", w.Due.Format(time.RFC3339))
		}
		say(out, "\n")
	}
	say(out, "variables  %s\n", x.Snapshot.Variables)
}

func showHistory(out io.Writer, h historyAnswer) {
	if !h.Journal {
		say(out, "history    the node keeps no journal (node.journal)\n")
	}
	for _, s := range h.Steps {
		say(out, "step %-5d %s %s", s.Step, s.At.Format(time.RFC3339), s.Cause)
		if len(s.Visited) > 0 { // a lock of a task, or its extension, visits nothing
			say(out, ": %s", strings.Join(s.Visited, " → "))
		}
		say(out, "\n")
		for _, r := range s.Raised {
			say(out, "  incident %s\n", r)
		}
	}
}

// resolve corrects variables of an instance and tries a stuck token again: the one that is named, or the first.
func resolve(ctx context.Context, args []string, out, errs io.Writer) int {
	f, node := nodeFlags("resolve", errs)
	token := f.Uint64("token", 0, "the token that is stuck; the first when not given")
	set := f.String("set", "{}", "variables to correct, as a JSON object")
	if f.Parse(args) != nil || f.NArg() != 1 || f.Arg(0) == "" {
		say(errs, "usage: millrace resolve [--node URL] [--token N] [--set JSON] ID\n")
		return statusRefused
	}
	var variables map[string]json.RawMessage
	if err := json.Unmarshal([]byte(*set), &variables); err != nil || variables == nil {
		say(errs, "millrace resolve: --set %s: want one JSON object, as in '{\"amount\": 5}'\n", *set)
		return statusRefused
	}
	c, path := newClient(*node), "/api/instances/"+escape(f.Arg(0))
	if *token == 0 {
		var x instanceAnswer
		if err := c.ask(ctx, http.MethodGet, path, nil, &x); err != nil {
			return refusedBy("resolve", err, errs)
		}
		for _, t := range x.Snapshot.Tokens {
			if t.Incident != nil && *token == 0 {
				*token = t.ID
			}
		}
		if *token == 0 {
			say(errs, "millrace resolve: instance %s has no incident\n", f.Arg(0))
			return statusFailed
		}
	}
	return done(ctx, c, fmt.Sprintf("%s/incidents/%d", path, *token), []byte(*set), "resolve", out, errs)
}

// cancel ends an instance.
func cancel(ctx context.Context, args []string, out, errs io.Writer) int {
	f, node := nodeFlags("cancel", errs)
	if f.Parse(args) != nil || f.NArg() != 1 || f.Arg(0) == "" {
		say(errs, "usage: millrace cancel [--node URL] ID\n")
		return statusRefused
	}
	return done(ctx, newClient(*node), "/api/instances/"+escape(f.Arg(0))+"/cancel", nil, "cancel", out, errs)
}

func done(ctx context.Context, c *client, path string, body []byte, verb string, out, errs io.Writer) int {
	var answer struct{ Outcome string }
	if err := c.ask(ctx, http.MethodPost, path, body, &answer); err != nil {
		return refusedBy(verb, err, errs)
	}
	say(out, "%s\n", answer.Outcome)
	return statusOK
}
