package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// JournalSpace is the space of the audit journal: one row for each step, written in the step's transaction.
const JournalSpace = "journal"

// Entry is one step of an instance in the audit journal.
type Entry struct {
	Step    uint64    `json:"step"`
	At      time.Time `json:"at"`
	Cause   string    `json:"cause"`
	Visited []string  `json:"visited,omitempty"`
	Opened  []string  `json:"opened,omitempty"` // elements at which waits were opened
	Raised  []string  `json:"raised,omitempty"` // incidents
	Emitted []string  `json:"emitted,omitempty"`
	Status  string    `json:"status"`
}

// journalRow is the row of a step, or none when the journal is off.
func (e *Engine) journalRow(t *transaction) ([]store.Row, error) {
	if e.options.Journal == 0 {
		return nil, nil
	}
	now := e.s.Now()
	x := Entry{Step: t.result.Snapshot.Steps, At: now.UTC(), Cause: t.cause, Visited: t.result.Visited, Status: string(t.result.Snapshot.Status)}
	for _, w := range t.result.Open {
		x.Opened = append(x.Opened, openedText(w))
	}
	for _, r := range t.result.Raised {
		x.Raised = append(x.Raised, fmt.Sprintf("%s: %s: %s", r.Element, r.Incident.Code, r.Incident.Message))
	}
	for _, m := range t.result.Emissions {
		x.Emitted = append(x.Emitted, fmt.Sprintf("%s to %s", m.Element, m.Target))
	}
	value, err := json.Marshal(x)
	if err != nil {
		return nil, fmt.Errorf("%w: journal entry: %w", store.ErrInvalid, err)
	}
	return []store.Row{{Space: JournalSpace, Key: journalKey(t.instance, x.Step), Value: value, Expires: now.Add(e.options.Journal)}}, nil
}

func openedText(w flow.Wait) string {
	switch {
	case w.Flow != "" && w.Message == "":
		return fmt.Sprintf("%s: holds the business key %s", w.Element, w.Key)
	case w.Kind == flow.ForMessage && w.Flow == "":
		return fmt.Sprintf("%s: message, behind another wait", w.Element)
	case w.Message != "":
		return fmt.Sprintf("%s: message %s, key %s", w.Element, w.Message, w.Key)
	case !w.Due.IsZero():
		return fmt.Sprintf("%s: time %s", w.Element, w.Due.UTC().Format(time.RFC3339))
	default:
		return fmt.Sprintf("%s: %s", w.Element, w.Kind)
	}
}

func journalKey(id store.InstanceID, step uint64) string { return fmt.Sprintf("%s/%020d", id, step) }

// History returns the entries of an instance in the audit journal behind a step, at most limit. Without a journal there are none.
func (e *Engine) History(scope *sched.Scope, id store.InstanceID, after uint64, limit int) ([]Entry, error) {
	rows, ticket, err := e.store.Rows(scope, JournalSpace, journalKey(id, after), limit)
	if err == nil {
		err = e.store.WaitDurable(scope, ticket)
	}
	if err != nil {
		return nil, fmt.Errorf("read history of instance %s: %w", id, errors.Join(ErrStore, err))
	}
	var entries []Entry
	for _, row := range rows {
		if !strings.HasPrefix(row.Key, string(id)+"/") {
			break
		}
		var x Entry
		if err := json.Unmarshal(row.Value, &x); err != nil {
			return nil, fmt.Errorf("read history of instance %s: %w", id, err)
		}
		entries = append(entries, x)
	}
	return entries, nil
}
