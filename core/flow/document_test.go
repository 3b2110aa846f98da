package flow_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/task"
)

// full is a snapshot that sets every field of every struct in it somewhere.
func full() *flow.Snapshot {
	now := time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC)
	local := &flow.Variables{Context: order(5)}
	return &flow.Snapshot{
		Flow: "f<1>", Status: flow.Running, Steps: 3, LastToken: 9, LastWait: 4, Key: "k\u2028", KeyWait: 1,
		Variables: flow.Variables{Context: order(7).With(feel.Entry{Key: "text \"é\"", Value: feel.String("a\nb")})},
		Tokens: []flow.Token{
			{
				ID: 1, Scope: 2, Host: 3, Element: "e", Phase: flow.Waiting, Wait: 4, Via: "v", Called: "c", Message: "m", Key: "k",
				Behind: true, Armed: true, Local: local, Result: &flow.Variables{},
				Incident: &flow.Incident{Code: flow.AliasTaken, Message: "because & so on"},
			},
			{
				ID: 2, Element: "timer", Phase: flow.Waiting,
				Cycle: &bpmn.Schedule{Start: now, Due: now.Add(time.Hour), Remaining: 2, Interval: "PT1H"},
				Job:   &flow.Job{Type: "t", Retries: 2, At: now, Lease: task.Lease{Worker: "w", Number: 1, Until: now}, Reason: "r", Failures: 1},
			},
			{ID: 3, Element: "plain", Phase: flow.Entering},
		},
	}
}

// What is written by hand is what encoding/json writes, for every field there is.
func TestDocumentIsWhatEncodingJSONWrites(t *testing.T) {
	s := full()
	everyField(t, "Snapshot", []reflect.Value{reflect.ValueOf(*s)})
	var tokens []reflect.Value
	for _, token := range s.Tokens {
		tokens = append(tokens, reflect.ValueOf(token))
	}
	everyField(t, "Token", tokens)
	for name, s := range map[string]*flow.Snapshot{
		"every field": s, "nothing": {}, "ended": {Flow: "f", Status: flow.Completed, Tokens: []flow.Token{}, Variables: flow.Variables{Context: feel.NewContext()}},
	} {
		got, err := s.Encode()
		want, errWant := s.EncodeSlowly()
		if err != nil || errWant != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, %v\n%s\n%s", name, err, errWant, got, want)
		}
	}
}

// everyField requires that each field is set in one of the values.
func everyField(t *testing.T, name string, values []reflect.Value) {
	t.Helper()
	for i := range values[0].NumField() {
		set := false
		for _, v := range values {
			set = set || !v.Field(i).IsZero()
		}
		if !set {
			t.Errorf("the sample does not set %s.%s, so nobody compares it", name, values[0].Type().Field(i).Name)
		}
	}
}

// What is written is read by hand, and is what encoding/json reads. Any other form is left to encoding/json.
func TestDocumentIsWhatEncodingJSONReads(t *testing.T) {
	data, err := full().Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, ok := flow.Scan(data)
	want, err := flow.DecodeSlowly(data)
	if err != nil || !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v\n%+v\n%+v", ok, err, got, want)
	}
	text := string(data)
	for name, other := range map[string]string{
		"a blank":          strings.Replace(text, `"steps":3`, `"steps": 3`, 1),
		"another order":    strings.Replace(text, `"steps":3,"last_token":9`, `"last_token":9,"steps":3`, 1),
		"a leading zero":   strings.Replace(text, `"steps":3`, `"steps":03`, 1),
		"a later version":  strings.Replace(text, `"version":1`, `"version":2`, 1),
		"a list":           strings.Replace(text, `"variables":{`, `"variables":[{`, 1),
		"an escape":        strings.Replace(text, `"code":"alias-taken"`, `"code":"\x"`, 1),
		"bytes of no rune": strings.Replace(text, `"element":"e"`, "\"element\":\"\xff\"", 1),
		"a tail":           text + "x",
		"a cut":            text[:len(text)-1],
		"a field of a job": strings.Replace(text, `"job":{`, `"job":{"more":1,`, 1),
		"a job of another": strings.Replace(text, `"job":{"type":"t"`, `"job":{"type":1`, 1),
		"no job":           strings.Replace(text, `"cycle":{`, `"job":null,"cycle":{`, 1),
		"a list for a job": strings.Replace(text, `"job":{`, `"job":[{`, 1),
		"a text for a job": strings.Replace(text, `"job":{`, `"job":"","x":{`, 1),
	} {
		if _, ok := flow.Scan([]byte(other)); ok || other == text {
			t.Errorf("%s is read by hand: %s", name, other)
		}
	}
}
