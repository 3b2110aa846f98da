package graph

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/flow"
)

// HTTPTask is the type of the built-in task that calls an HTTP endpoint. Its headers:
//
//	url      where to; required
//	method   POST unless given
//	result   the variable that takes the answer, response unless given
const (
	HTTPTask         = "http"
	HTTPURLHeader    = "url"
	HTTPMethodHeader = "method"
	HTTPResultHeader = "result"
)

// httpMethods are what an HTTP task may do.
func httpMethods() []string {
	return []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
}

// taskFaults returns what is wrong with the headers of a task that the node itself does. Those of other types are the worker's.
func taskFaults(file string, n *bpmn.Node) (faults []Fault) {
	if n.Task == nil || n.Task.Type.Expression != nil {
		return nil
	}
	known := map[string][]string{
		HTTPTask: {HTTPURLHeader, HTTPMethodHeader, HTTPResultHeader}, flow.EmitType: {flow.EmitTarget},
	}[n.Task.Type.Literal]
	if known == nil {
		return nil
	}
	fault := func(line, column int, reason string) {
		faults = append(faults, Fault{File: file, Line: line, Column: column, Path: elementPath(n.ID), Reason: reason})
	}
	for _, h := range n.Task.Headers {
		reason := ""
		switch {
		case !slices.Contains(known, h.Key):
			reason = "a task of type " + n.Task.Type.Literal + " has no header " + clip(h.Key) + hint(h.Key, known)
		case n.Task.Type.Literal == HTTPTask:
			reason = httpFault(h)
		}
		if reason != "" {
			fault(h.Line, h.Column, reason)
		}
	}
	if _, there := n.Task.Header(HTTPURLHeader); n.Task.Type.Literal == HTTPTask && !there {
		fault(n.Line, n.Column, fmt.Sprintf("a task of type %s needs the task header %s", HTTPTask, HTTPURLHeader))
	}
	return faults
}

// httpFault returns what is wrong with the value of a header of an HTTP task, or "".
func httpFault(h bpmn.Header) string {
	switch {
	case h.Key == HTTPURLHeader:
		if reason := urlFault(h.Value); reason != "" {
			return "header url: " + reason
		}
	case h.Key == HTTPMethodHeader && !slices.Contains(httpMethods(), h.Value):
		return fmt.Sprintf("header method: found %s, want %s", clip(h.Value), strings.Join(httpMethods(), ", "))
	case h.Key == HTTPResultHeader && !bpmn.IsVariable(h.Value):
		return fmt.Sprintf("header result: %s is no name of a variable", clip(h.Value))
	}
	return ""
}
