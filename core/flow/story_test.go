package flow_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the stories with what the steps came to")

// A story is a file of commands with what each came to. Commands are separated by a blank line:
//
//	flow FILE [PROCESS]           the process, from testdata/flows
//	handler TYPE returns JSON     what a service task of the type does: returns, fails TEXT, panics TEXT
//	visits N                      the bound of a step
//	wait DURATION                 moves the clock
//	start [MESSAGE] [JSON]
//	message WAIT [JSON]
//	due WAIT
//	complete WAIT [JSON]
//	resolve TOKEN [JSON]
//
// After every step the snapshot goes through its document, so every story is also one of an engine that is restarted after
// every step.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/stories/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { tell(t, file) })
	}
}

func tell(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	w := &teller{handlers: map[string]handler{}, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	var out strings.Builder
	for i, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		command, _, _ := strings.Cut(block, "\n----")
		command = strings.TrimSpace(command)
		if i > 0 {
			out.WriteString("\n")
		}
		out.WriteString(command + "\n")
		if strings.HasPrefix(command, "#") && !strings.Contains(command, "\n") {
			continue
		}
		out.WriteString("----\n")
		for _, line := range w.run(command) {
			out.WriteString(line + "\n")
		}
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if out.String() != string(text) {
		t.Errorf("%s went otherwise (rewrite with -rewrite); now:\n%s", file, out.String())
	}
}

// teller runs the commands of one story.
type teller struct {
	definition *flow.Definition
	handlers   map[string]handler
	snapshot   *flow.Snapshot
	now        time.Time
	visits     int
	calls      []string
}

type handler struct{ verb, text string }

func (w *teller) run(command string) []string {
	lines := strings.SplitN(command, "\n", 2)
	for strings.HasPrefix(lines[0], "#") {
		lines = strings.SplitN(lines[1], "\n", 2)
	}
	word, rest, _ := strings.Cut(strings.Join(lines, " "), " ")
	rest = strings.TrimSpace(rest)
	var err error
	switch word {
	case "flow":
		err = w.load(rest)
	case "handler":
		parts := strings.SplitN(rest, " ", 3)
		w.handlers[parts[0]] = handler{parts[1], parts[2]}
	case "visits":
		w.visits, err = strconv.Atoi(rest)
	case "wait":
		var d time.Duration
		d, err = time.ParseDuration(rest)
		w.now = w.now.Add(d)
	default:
		return w.step(word, rest)
	}
	if err != nil {
		return strings.Split(err.Error(), "\n")
	}
	return nil
}

func (w *teller) load(rest string) error {
	file, id, _ := strings.Cut(rest, " ")
	data, err := os.ReadFile(filepath.Join("testdata/flows", file))
	if err != nil {
		return err
	}
	model, faults := bpmn.Load(file, data, flow.Executes)
	if model == nil {
		return fmt.Errorf("refused: %v", faults)
	}
	process := model.Processes[0]
	if id != "" {
		process = model.Process(id)
	}
	w.definition, err = flow.NewDefinition(process)
	return err
}

var inputs = map[string]flow.InputKind{
	"start": flow.Start, "message": flow.Message, "due": flow.Due, "complete": flow.Complete, "resolve": flow.Resolve,
}

func (w *teller) step(word, rest string) []string {
	kind, ok := inputs[word]
	if !ok {
		return []string{"unknown command " + word}
	}
	in := flow.Input{Kind: kind}
	subject, payload := rest, ""
	if i := strings.IndexByte(rest, '{'); i >= 0 {
		subject, payload = strings.TrimSpace(rest[:i]), rest[i:]
	}
	if payload != "" {
		v, err := feel.ParseJSON([]byte(payload))
		if err != nil {
			return []string{err.Error()}
		}
		in.Payload = v.(*feel.Context)
	}
	number, _ := strconv.ParseUint(subject, 10, 64)
	switch kind {
	case flow.Start:
		in.Message = subject
	case flow.Resolve:
		in.Token = number
	default:
		in.Wait = number
	}
	w.calls = nil
	r, err := flow.Step(w.definition, w.snapshot, in, flow.Environment{Instance: "i", Now: w.now, Call: w.call, MaxVisits: w.visits})
	if err != nil {
		return []string{"refused: " + err.Error()}
	}
	return append(w.show(r), w.keep(r.Snapshot)...)
}

// keep takes the snapshot through its document.
func (w *teller) keep(s *flow.Snapshot) []string {
	data, err := s.Encode()
	if err != nil {
		return []string{err.Error()}
	}
	if w.snapshot, err = flow.Decode(data); err != nil {
		return []string{err.Error()}
	}
	again, err := w.snapshot.Encode()
	if err != nil || !bytes.Equal(data, again) {
		return []string{fmt.Sprintf("NOT THE SAME AFTER A RESTART (%v):\n%s\n%s", err, data, again)}
	}
	return nil
}

func (w *teller) call(c flow.Call) (*feel.Context, error) {
	w.calls = append(w.calls, fmt.Sprintf("called %s for %s, token %d, with %v%s", c.Type, c.Element, c.Token, c.Variables, headers(c.Headers)))
	h, ok := w.handlers[c.Type]
	switch {
	case !ok:
		return nil, flow.ErrNoHandler
	case h.verb == "fails":
		return nil, errors.New(h.text)
	case h.verb == "panics":
		panic(h.text)
	}
	v, err := feel.ParseJSON([]byte(h.text))
	if err != nil {
		return nil, err
	}
	return v.(*feel.Context), nil
}

func headers(list []bpmn.Header) string {
	var b strings.Builder
	for _, h := range list {
		fmt.Fprintf(&b, " %s=%s", h.Key, h.Value)
	}
	return b.String()
}

func (w *teller) show(r *flow.Result) []string {
	lines := []string{"visited " + strings.Join(r.Visited, " → ")}
	if len(r.Visited) == 0 {
		lines[0] = "visited nothing new"
	}
	lines = append(lines, w.calls...)
	for _, g := range r.Close {
		lines = append(lines, fmt.Sprintf("closed %d", g))
	}
	for _, o := range r.Open {
		line := fmt.Sprintf("opened %d at %s: %s", o.Generation, o.Element, o.Kind)
		switch o.Kind {
		case flow.ForMessage:
			line += fmt.Sprintf(" %s, key %q", o.Message, o.Key)
		case flow.ForTime:
			line += " " + o.Due.Format(time.RFC3339)
		default: // a user task has nothing more to tell
		}
		lines = append(lines, line)
	}
	for _, e := range r.Emissions {
		lines = append(lines, fmt.Sprintf("emitted to %s: %s", e.Target, e.Payload))
	}
	for _, token := range r.Raised {
		lines = append(lines, fmt.Sprintf("incident of token %d at %s, %s: %s: %s", token.ID, token.Element, token.Phase, token.Incident.Code, token.Incident.Message))
	}
	state := string(r.Snapshot.Status)
	if n := len(r.Snapshot.Tokens); n > 0 {
		state += fmt.Sprintf(", %d tokens", n)
	}
	return append(lines, state+", variables "+r.Snapshot.Variables.String())
}
