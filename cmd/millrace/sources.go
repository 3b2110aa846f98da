package main

import (
	"context"
	"io"
	"net/http"
	"time"
)

// sources lists the sources of a running node with what has become of them.
func sources(ctx context.Context, args []string, out, errs io.Writer) int {
	f, node := nodeFlags("sources", errs)
	if f.Parse(args) != nil || f.NArg() != 0 {
		say(errs, "usage: millrace sources [--node URL]\n")
		return statusRefused
	}
	var list struct {
		Sources []struct {
			Source, Kind, State, Reason string
			Since                       time.Time
			Bytes, Lines                int64
		}
	}
	if err := newClient(*node).ask(ctx, http.MethodGet, "/api/sources", nil, &list); err != nil {
		return refusedBy("sources", err, errs)
	}
	for _, s := range list.Sources {
		say(out, "%-20s %-6s %-8s since %s", s.Source, s.Kind, s.State, s.Since.Format(time.RFC3339))
		if s.Kind == "file" {
			say(out, "  %s, %s", count(int(s.Lines), "line"), count(int(s.Bytes), "byte"))
		}
		say(out, "\n")
		if s.Reason != "" {
			say(out, "  %s\n", s.Reason)
		}
	}
	return statusOK
}

// reread has a file source that has ended or failed begin anew.
func reread(ctx context.Context, args []string, out, errs io.Writer) int {
	f, node := nodeFlags("reread", errs)
	if f.Parse(args) != nil || f.NArg() != 1 || f.Arg(0) == "" {
		say(errs, "usage: millrace reread [--node URL] SOURCE\n")
		return statusRefused
	}
	var line struct{ State string }
	if err := newClient(*node).ask(ctx, http.MethodPost, "/api/sources/"+escape(f.Arg(0))+"/reread", nil, &line); err != nil {
		return refusedBy("reread", err, errs)
	}
	say(out, "%s\n", line.State)
	return statusOK
}
