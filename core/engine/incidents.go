package engine

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/scan"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// incidentSpace is the space of the instances that have incidents, by id. A row comes and goes in the transaction of the step that raised
// the first incident of its instance or left none, so whoever looks for stuck instances need not read those that run.
const incidentSpace = "incidents"

// Incident is a stuck token, for whoever is told of it or lists it.
type Incident struct {
	Instance store.InstanceID `json:"-"`
	Token    uint64           `json:"token"`
	Process  string           `json:"process"` // that the element belongs to: of a called flow its own
	Element  string           `json:"element"`
	Code     flow.Code        `json:"code"`
	Reason   string           `json:"reason"`
}

// The bounds of what is kept of an instance's incidents in a list: those by the first tokens, and the beginnings of their reasons. The
// instance itself has all.
const (
	maxIncidents      = 100
	maxIncidentReason = 500
)

func incidentOf(id store.InstanceID, s *flow.Snapshot, t flow.Token) Incident {
	return Incident{
		Instance: id, Token: t.ID, Process: s.ProcessOf(t), Element: t.Element, Code: t.Incident.Code, Reason: scan.Clip(t.Incident.Message, maxIncidentReason),
	}
}

// incidentRow is the row by which a step changes what Incidents lists; none for most.
func incidentRow(t *transaction) ([]store.Row, error) {
	s := t.result.Snapshot
	var stuck []flow.Token
	if s.Status == flow.Running {
		stuck = s.Incidents()
	}
	if len(stuck) == 0 {
		if t.stuck {
			return []store.Row{{Space: incidentSpace, Key: string(t.instance), Delete: true}}, nil
		}
		return nil, nil
	}
	list := make([]Incident, 0, min(len(stuck), maxIncidents))
	for _, x := range stuck[:min(len(stuck), maxIncidents)] {
		list = append(list, incidentOf(t.instance, s, x))
	}
	value, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("%w: incidents: %w", store.ErrInvalid, err)
	}
	return []store.Row{{Space: incidentSpace, Key: string(t.instance), Value: value}}, nil
}

// tellRaised tells of the incidents of a step that is durable.
func (e *Engine) tellRaised(t *transaction) {
	if e.options.Raised == nil {
		return
	}
	for _, x := range t.result.Raised {
		e.options.Raised(incidentOf(t.instance, t.result.Snapshot, x))
	}
}

// Stuck is a running instance with its incidents, at most a hundred of them.
type Stuck struct {
	Instance  store.InstanceID
	Incidents []Incident
}

// Incidents lists the instances that have incidents, by id, behind the given one, at most limit. The answer is durable.
func (e *Engine) Incidents(scope *sched.Scope, after store.InstanceID, limit int) ([]Stuck, error) {
	rows, ticket, err := e.store.Rows(scope, incidentSpace, string(after), limit)
	if err == nil {
		err = e.store.WaitDurable(scope, ticket)
	}
	if err != nil {
		return nil, fmt.Errorf("list incidents: %w", errors.Join(ErrStore, err))
	}
	list := make([]Stuck, 0, len(rows))
	for _, row := range rows {
		x := Stuck{Instance: store.InstanceID(row.Key)}
		if err := json.Unmarshal(row.Value, &x.Incidents); err != nil {
			return nil, fmt.Errorf("list incidents: instance %s: %w", row.Key, err)
		}
		for i := range x.Incidents {
			x.Incidents[i].Instance = x.Instance
		}
		list = append(list, x)
	}
	return list, nil
}
