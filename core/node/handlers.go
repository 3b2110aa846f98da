package node

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/graph"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/source/web"
)

// callTimeout bounds one call, which its lane waits for.
const callTimeout = 30 * time.Second

var errCall = errors.New("HTTP task")

func (n *Node) handlers() map[string]engine.Handler {
	n.calls = &http.Client{Timeout: callTimeout, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute,
	}}
	all := map[string]engine.Handler{
		graph.HTTPTask: func(scope *sched.Scope, c flow.Call) (*feel.Context, error) { return httpCall(n.calls, scope, c) },
	}
	maps.Copy(all, n.opts.Handlers) // none has a built-in type: Options.Validate
	return all
}

// checkHandlers joins every fault of the handlers that a program registers.
func checkHandlers(all map[string]engine.Handler) error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch {
		case name == graph.HTTPTask || name == flow.EmitType:
			faults = append(faults, fmt.Errorf("handlers: task type %q is built in", name))
		case name == "" || len(name) > flow.MaxTaskType:
			faults = append(faults, fmt.Errorf("handlers: %.40q is not a task type of 1 to %d bytes", name, flow.MaxTaskType))
		case all[name] == nil:
			faults = append(faults, fmt.Errorf("handlers: task type %q has no function", name))
		}
	}
	return errors.Join(faults...)
}

// httpCall does a task of type http, whose headers the package has checked. The body is the task's variables as JSON. An answer of 2xx
// completes the task; anything else is tried again, and then is an incident. The call may be repeated when the node dies before the
// step's commit, under the same Idempotency-Key.
func httpCall(client *http.Client, scope *sched.Scope, c flow.Call) (*feel.Context, error) {
	body, err := feel.AppendJSON(nil, c.Variables)
	if err != nil {
		return nil, fmt.Errorf("%w: encode variables: %w", errCall, err)
	}
	url, method, result := header(c.Headers, graph.HTTPURLHeader, ""), header(c.Headers, graph.HTTPMethodHeader, http.MethodPost), header(c.Headers, graph.HTTPResultHeader, "response")
	if url == "" {
		return nil, fmt.Errorf("%w: task header url is missing", errCall)
	}
	req, err := http.NewRequestWithContext(scope.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCall, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set(web.KeyHeader, fmt.Sprintf("%s/%d", c.Instance, c.Token))
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCall, err)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxMessageBytes))
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, fmt.Errorf("%w: read answer: %w", errCall, err)
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%w: %s %s answered %s", errCall, method, url, resp.Status)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return feel.NewContext(), nil
	}
	v, err := feel.ParseJSON(text)
	if err != nil {
		return nil, fmt.Errorf("%w: answer is not JSON: %w", errCall, err)
	}
	return feel.NewContext(feel.Entry{Key: result, Value: v}), nil
}

func header(all []bpmn.Header, name, fallback string) string {
	for _, h := range all {
		if h.Key == name {
			return h.Value
		}
	}
	return fallback
}
