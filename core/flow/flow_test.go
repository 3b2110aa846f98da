package flow_test

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
)

func definition(t testing.TB, file string) *flow.Definition {
	t.Helper()
	data, err := os.ReadFile("testdata/flows/" + file)
	if err != nil {
		t.Fatal(err)
	}
	model, faults := bpmn.Load(file, data, flow.Executes)
	if model == nil {
		t.Fatal(faults)
	}
	d, err := flow.NewDefinition(model.Processes[0])
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func environment() flow.Environment {
	return flow.Environment{Instance: "i", Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

func step(t testing.TB, d *flow.Definition, s *flow.Snapshot, in flow.Input) *flow.Result {
	t.Helper()
	r, err := flow.Step(d, s, in, environment())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func order(amount int64) *feel.Context {
	return feel.NewContext(feel.Entry{Key: "order_id", Value: feel.String("o-1")}, feel.Entry{Key: "amount", Value: feel.Int(amount)})
}

// The same step gives the same bytes, and leaves the snapshot it was given alone.
func TestStepIsPure(t *testing.T) {
	d := definition(t, "wait.bpmn")
	payload := order(5).With(feel.Entry{Key: "carrier", Value: feel.String("north")})
	first := step(t, d, nil, flow.Input{Kind: flow.Start, Payload: payload}).Snapshot
	before, err := first.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var after [2][]byte
	for i := range after {
		if after[i], err = step(t, d, first, flow.Input{Kind: flow.Message, Wait: 1}).Snapshot.Encode(); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(after[0], after[1]) {
		t.Errorf("the same step gave\n%s\n%s", after[0], after[1])
	}
	if again, err := first.Encode(); err != nil || !bytes.Equal(before, again) {
		t.Errorf("the step changed the snapshot it was given:\n%s\n%s", before, again)
	}
}

// A wait that the store refuses, because another instance holds its key, is taken back: the token is stuck with an
// incident, and entering the element again opens the wait anew, under another generation.
func TestRefusedAliasIsAnIncident(t *testing.T) {
	d := definition(t, "wait.bpmn")
	r := step(t, d, nil, flow.Input{Kind: flow.Start, Payload: order(5)})
	r.Refuse(1, "held by another instance")
	stuck := r.Snapshot.Incidents()
	if len(r.Open) != 0 || len(stuck) != 1 || stuck[0].Incident.Code != flow.AliasTaken {
		t.Fatalf("open %v, stuck %+v", r.Open, stuck)
	}
	again := step(t, d, r.Snapshot, flow.Input{Kind: flow.Resolve, Token: stuck[0].ID})
	if len(again.Open) != 1 || again.Open[0].Generation != 2 || again.Open[0].Key != "o-1" {
		t.Errorf("opened %+v", again.Open)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, document := range map[string]string{
		"nothing":             ``,
		"no JSON":             `version 1`,
		"no version":          `{"flow":"f","status":"running"}`,
		"a later version":     `{"version":2,"flow":"f","status":"running"}`,
		"an unknown field":    `{"version":1,"flow":"f","status":"running","surprise":true}`,
		"variables of a list": `{"version":1,"flow":"f","status":"running","variables":[1]}`,
	} {
		if _, err := flow.Decode([]byte(document)); !errors.Is(err, flow.ErrSnapshot) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDefinitionFaults(t *testing.T) {
	for name, want := range map[string]struct{ text, fault string }{
		"emission without a target": {
			`<serviceTask id="e"><extensionElements><zeebe:taskDefinition type="emit"/></extensionElements></serviceTask>`,
			`needs the task header "target"`,
		},
	} {
		text := `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
<process id="p" isExecutable="true"><startEvent id="s"/>` + want.text + `<sequenceFlow id="f" sourceRef="s" targetRef="e"/></process></definitions>`
		model, faults := bpmn.Load("p.bpmn", []byte(text), flow.Executes)
		if model == nil {
			t.Errorf("%s: refused by the reader: %v", name, faults)
			continue
		}
		if _, err := flow.NewDefinition(model.Processes[0]); !errors.Is(err, flow.ErrDefinition) || !strings.Contains(err.Error(), want.fault) {
			t.Errorf("%s: %v, want %q", name, err, want.fault)
		}
	}
}

// FuzzDecode holds that a document is refused, or is the snapshot that Encode writes back.
func FuzzDecode(f *testing.F) {
	d := definition(f, "wait.bpmn")
	data, err := step(f, d, nil, flow.Input{Kind: flow.Start, Payload: order(5)}).Snapshot.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	if data, err = full().Encode(); err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := flow.Decode(data)
		slowly, errSlowly := flow.DecodeSlowly(data)
		if (err == nil) != (errSlowly == nil) || !reflect.DeepEqual(s, slowly) {
			t.Fatalf("%s is read as %+v (%v), by encoding/json as %+v (%v)", data, s, err, slowly, errSlowly)
		}
		if err != nil {
			return
		}
		first, err := s.Encode()
		if err != nil {
			return // numbers and texts that JSON reads and cannot write
		}
		if want, err := s.EncodeSlowly(); err != nil || !bytes.Equal(first, want) {
			t.Fatalf("wrote %s, encoding/json %s (%v)", first, want, err)
		}
		again, err := flow.Decode(first)
		if err != nil {
			t.Fatalf("%v: wrote %s", err, first)
		}
		if second, err := again.Encode(); err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%s became %s (%v)", first, second, err)
		}
	})
}
