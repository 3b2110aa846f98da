package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// What a worker that names no lengths gets.
const (
	defaultLock  = time.Minute
	defaultTasks = 1
)

// taskRoutes registers what external workers use.
func (n *Node) taskRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST /api/tasks/fetch", queried(n.apiFetch))
	for verb, do := range map[string]taskCall{ //order:each has a path of its own
		"complete": n.completeTask, "fail": n.failTask, "error": n.throwError, "extend": n.extendTask,
	} {
		mux.HandleFunc("POST /api/tasks/{id}/{wait}/"+verb, queried(func(w http.ResponseWriter, r *http.Request) { n.apiTask(w, r, do) }))
	}
}

// span is a duration in a body, as text: "30s".
type span time.Duration

// UnmarshalJSON reads the text.
func (s *span) UnmarshalJSON(data []byte) error {
	var text string
	err := json.Unmarshal(data, &text)
	d, malformed := time.ParseDuration(text)
	if err != nil || malformed != nil {
		return fmt.Errorf("duration %.40s: want a text, as in \"30s\"", data)
	}
	*s = span(d)
	return nil
}

// fetchBody is what a worker asks for.
type fetchBody struct {
	Worker string   `json:"worker"`
	Types  []string `json:"types"`
	Max    int      `json:"max"`
	Lock   span     `json:"lock"`
	Wait   span     `json:"wait"`
}

// taskLine is a task that a worker has locked.
type taskLine struct {
	Instance  store.InstanceID  `json:"instance"`
	Wait      uint64            `json:"wait"`
	Lock      uint64            `json:"lock"`
	Until     time.Time         `json:"until"`
	Type      string            `json:"type"`
	Element   string            `json:"element"`
	Key       string            `json:"key"` // the same in every attempt at this task: for idempotency
	Retries   int               `json:"retries"`
	Headers   map[string]string `json:"headers"`
	Variables json.RawMessage   `json:"variables"`
}

// apiFetch locks tasks for a worker and waits for the first one as long as the body says.
func (n *Node) apiFetch(w http.ResponseWriter, r *http.Request) {
	b := fetchBody{Max: defaultTasks, Lock: span(defaultLock)}
	if err := readBody(w, r, &b); err != nil {
		refuseBody(w, err)
		return
	}
	scope, done := n.requestScope(r.Context(), "fetch tasks")
	defer done()
	tasks, err := n.flows.engine.FetchTasks(scope, engine.Fetch{
		Worker: b.Worker, Types: b.Types, Max: b.Max, Lock: time.Duration(b.Lock), Wait: time.Duration(b.Wait),
	})
	if err != nil {
		reply(w, adminStatus(err), problem{err.Error()})
		return
	}
	lines := []taskLine{}
	for _, t := range tasks {
		line, err := lineOf(t)
		if err != nil {
			reply(w, http.StatusInternalServerError, problem{err.Error()})
			return
		}
		lines = append(lines, line)
	}
	reply(w, http.StatusOK, map[string]any{"tasks": lines})
}

func lineOf(t engine.Task) (taskLine, error) {
	variables, err := feel.AppendJSON(nil, t.Variables)
	headers := map[string]string{}
	for _, h := range t.Headers {
		headers[h.Key] = h.Value
	}
	return taskLine{
		Instance: t.Ref.Instance, Wait: t.Ref.Wait, Lock: t.Lock, Until: t.Until, Type: t.Type, Element: t.Element,
		Key: fmt.Sprintf("%s/%d", t.Call.Instance, t.Token), Retries: t.Retries, Headers: headers, Variables: variables,
	}, err
}

// taskBody is what a worker says of a task that it holds.
type taskBody struct {
	Lock      uint64          `json:"lock"`
	Worker    string          `json:"worker"`    // who says it; may be left out
	Variables json.RawMessage `json:"variables"` // complete, error
	Retries   int             `json:"retries"`   // fail: attempts left
	Backoff   span            `json:"backoff"`   // fail
	Code      string          `json:"code"`      // error
	Reason    string          `json:"reason"`    // fail, error
	For       span            `json:"for"`       // extend
	variables *feel.Context
}

type taskCall func(*sched.Scope, engine.TaskRef, taskBody) (engine.Reply, error)

func (n *Node) completeTask(scope *sched.Scope, ref engine.TaskRef, b taskBody) (engine.Reply, error) {
	return n.flows.engine.CompleteExternal(scope, ref, b.variables)
}

func (n *Node) failTask(scope *sched.Scope, ref engine.TaskRef, b taskBody) (engine.Reply, error) {
	return n.flows.engine.FailTask(scope, ref, b.Retries, time.Duration(b.Backoff), b.Reason)
}

func (n *Node) throwError(scope *sched.Scope, ref engine.TaskRef, b taskBody) (engine.Reply, error) {
	return n.flows.engine.ThrowError(scope, ref, b.Code, b.Reason, b.variables)
}

func (n *Node) extendTask(scope *sched.Scope, ref engine.TaskRef, b taskBody) (engine.Reply, error) {
	return n.flows.engine.ExtendTask(scope, ref, time.Duration(b.For))
}

// apiTask settles or prolongs a task for the worker that holds it. 409: it does not hold it any more.
func (n *Node) apiTask(w http.ResponseWriter, r *http.Request, do taskCall) {
	wait, err := strconv.ParseUint(r.PathValue("wait"), 10, 64)
	if err != nil {
		reply(w, http.StatusBadRequest, problem{"wait is not a number: " + r.PathValue("wait")})
		return
	}
	var b taskBody
	if err := readBody(w, r, &b); err != nil {
		refuseBody(w, err)
		return
	}
	if b.variables, err = contextOf(b.Variables); err != nil {
		reply(w, http.StatusBadRequest, problem{err.Error()})
		return
	}
	scope, done := n.requestScope(r.Context(), "settle task")
	defer done()
	id := store.InstanceID(r.PathValue("id"))
	answered, err := do(scope, engine.TaskRef{Instance: id, Wait: wait, Lock: b.Lock, Worker: b.Worker}, b)
	if err != nil {
		n.refuseAbout(w, scope, id, err)
		return
	}
	reply(w, http.StatusOK, answer{Outcome: answered.Outcome.String(), Instance: answered.Instance})
}

var errBody = errors.New("body is not valid")

// readBody reads one JSON object without unknown names.
func readBody(w http.ResponseWriter, r *http.Request, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxMessageBytes))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return bodyFault(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: something follows the object", errBody)
	}
	return nil
}

// bodyFault says what is wrong with a body in the words of who wrote it.
func bodyFault(err error) error {
	var mistyped *json.UnmarshalTypeError
	name, unknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	switch {
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: it is empty, want a JSON object", errBody)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it ends in the middle", errBody)
	case unknown:
		return fmt.Errorf("%w: there is no %s", errBody, name)
	case errors.As(err, &mistyped) && mistyped.Field == "":
		return fmt.Errorf("%w: found %s, want a JSON object", errBody, mistyped.Value)
	case errors.As(err, &mistyped):
		return fmt.Errorf("%w: %s: found %s, want %s", errBody, mistyped.Field, mistyped.Value, wantOf(mistyped.Type.String()))
	}
	return fmt.Errorf("%w: %w", errBody, err)
}

// wantOf names what a field of a body is.
func wantOf(kind string) string {
	switch kind {
	case "string":
		return "a text"
	case "[]string":
		return "a list of texts"
	case "uint64":
		return "a number from 0"
	default:
		return "a whole number"
	}
}

// contextOf reads variables; absent they are none.
func contextOf(text json.RawMessage) (*feel.Context, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return feel.NewContext(), nil
	}
	v, err := feel.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	c, ok := v.(*feel.Context)
	if !ok {
		return nil, errVariables
	}
	return c, nil
}
