package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/step"
)

// steps shows what happened in every instance since the last command, from the audit journal.
func (x *teller) steps() []string {
	rows, _, err := x.st.Rows(x.Scope(), engine.JournalSpace, "", store.MaxScan)
	x.NoError(err)
	fresh := map[store.InstanceID][]engine.Entry{}
	var started []store.InstanceID
	for _, row := range rows {
		name, _, _ := strings.Cut(row.Key, "/")
		id := store.InstanceID(name)
		var entry engine.Entry
		x.NoError(json.Unmarshal(row.Value, &entry))
		if entry.Step <= x.told[id] {
			continue
		}
		if fresh[id] == nil && !slices.Contains(x.names, id) && !slices.Contains(started, id) {
			started = append(started, id)
		}
		fresh[id] = append(fresh[id], entry)
	}
	flows := x.flowsOf()
	slices.SortStableFunc(started, func(a, b store.InstanceID) int {
		if c := fresh[a][0].At.Compare(fresh[b][0].At); c != 0 {
			return c
		}
		return strings.Compare(flows[a], flows[b])
	})
	x.names = append(x.names, started...)
	var lines []string
	for i, id := range x.names {
		if len(fresh[id]) == 0 {
			continue
		}
		x.current = id
		for _, entry := range fresh[id] {
			x.told[id] = entry.Step
			lines = append(lines, x.entry(fmt.Sprintf("@%d %s", i+1, flows[id]), entry)...)
		}
		lines = append(lines, x.state(id))
	}
	return lines
}

func (x *teller) flowsOf() map[store.InstanceID]string {
	flows := map[store.InstanceID]string{}
	x.NoError(x.mem.Peek(func(v step.View) error {
		d, err := step.Inspect(v)
		for id, in := range d.Instances { //order:each is put under its own id
			flows[id] = in.Flow
			if engine.IsSchedule(id) {
				flows[id] += " (schedule)"
			}
		}
		return err
	}))
	return flows
}

func (x *teller) entry(name string, e engine.Entry) []string {
	visited := strings.Join(e.Visited, " → ")
	if visited == "" {
		visited = "nothing new"
	}
	lines := []string{name + ": visited " + visited}
	add := func(what string, list []string) {
		for _, one := range list {
			lines = append(lines, "  "+what+" "+x.hide(one))
		}
	}
	add("waits at", e.Opened)
	add("threw or emitted", e.Emitted)
	add("incident at", e.Raised)
	return lines
}

// state is one line of what the instance is now.
func (x *teller) state(id store.InstanceID) string {
	var in store.Instance
	x.NoError(x.mem.Peek(func(v step.View) error {
		d, err := step.Inspect(v)
		in = d.Instances[id]
		return err
	}))
	s, err := flow.Decode(in.Snapshot)
	x.NoError(err)
	text := "  " + string(s.Status)
	var at []string
	for _, t := range s.Tokens {
		one := t.Element
		if t.Phase != flow.Waiting {
			one += " " + string(t.Phase)
		}
		if t.Host != 0 {
			one += " beside"
		}
		at = append(at, one)
	}
	if len(at) > 0 {
		text += " at " + strings.Join(at, ", ")
	}
	return text + ", variables " + s.Variables.String()
}
