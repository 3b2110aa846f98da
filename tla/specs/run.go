package specs

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/tla"
	"github.com/millrace-dev/millrace/tla/check"
)

// Row is what came of checking one model, or one mutant in its model.
type Row struct {
	Protocol  string  `json:"protocol"`
	Model     string  `json:"model"`
	Kind      Kind    `json:"kind"`
	Mutant    string  `json:"mutant,omitempty"`
	Expected  string  `json:"expected"` // "holds", or the property that a mutant must violate
	Found     string  `json:"found"`
	Generated int64   `json:"generated"`
	Distinct  int64   `json:"distinct"`
	Depth     int     `json:"depth"`
	Seconds   float64 `json:"seconds"`
	OK        bool    `json:"ok"`
	Detail    string  `json:"detail,omitempty"` // of a row that is not OK
	Warnings  []string
}

// Holds is what is expected of every model.
const Holds = "holds"

// ErrHolds means that a mutant violates nothing: the property that it should violate may be vacuous.
var ErrHolds = errors.New("the mutant does not violate what it names")

// Bounds of a run: simulated models draw Traces behaviors; a model that takes longer than MaxTime did not hold.
const (
	Traces  = 2000
	MaxTime = 10 * time.Minute
)

// Check checks one model. A fault of the model is part of the row.
func (p Protocol) Check(m Model) Row {
	row := Row{Protocol: p.Name, Model: m.Name, Kind: m.Kind, Expected: Holds}
	r, err := tla.Run(m.spec(nil))
	row.fill(r, err)
	row.OK = row.Found == Holds
	return row
}

// CheckMutant checks one mutant in its model. It must violate the property that it names; others are not looked at.
func (p Protocol) CheckMutant(m Mutant) Row {
	row := Row{Protocol: p.Name, Model: m.Model.Name, Kind: m.Model.Kind, Mutant: m.Name, Expected: m.Violates}
	sources, err := p.Sources(m)
	if err != nil {
		row.fill(nil, err)
		return row
	}
	spec := m.Model.spec(sources)
	if m.Violates != Deadlock {
		spec.Only = m.Violates
	}
	r, err := tla.Run(spec)
	row.fill(r, err)
	if row.OK = row.Found == m.Violates; !row.OK && row.Found == Holds {
		row.Detail = ErrHolds.Error()
	}
	return row
}

// Sources returns the texts of the modules that a mutant changes, by name of module. ErrDoesNotApply of
// internal/mutant says that the specification has moved on.
func (p Protocol) Sources(m Mutant) (map[string]string, error) {
	patched, err := m.Patch.Apply(p.Dir)
	if err != nil {
		return nil, err
	}
	sources := map[string]string{}
	for path, text := range patched {
		sources[strings.TrimSuffix(filepath.Base(path), ".tla")] = text
	}
	return sources, nil
}

func (m Model) spec(sources map[string]string) tla.Spec {
	s := tla.Spec{Module: m.Module, Config: m.Config, Sources: sources, Options: check.Options{MaxTime: MaxTime}}
	if m.Kind == Simulated {
		s.Options.Mode, s.Options.Traces, s.Options.Seed = check.Simulate, Traces, 1
	}
	return s
}

func (r *Row) fill(res *check.Result, err error) {
	if err != nil {
		r.Found, r.Detail = "unreadable", err.Error()
		return
	}
	r.Generated, r.Distinct, r.Depth, r.Seconds = res.Generated, res.Distinct, res.Depth, res.Elapsed.Seconds()
	r.Warnings = res.Warnings
	switch res.Verdict {
	case check.Success:
		r.Found = Holds
		return
	case check.Deadlock:
		r.Found = Deadlock
	case check.Safety, check.Liveness:
		r.Found = res.Violated
	case check.Unfinished:
		r.Found = "not checked: " + strings.Join(res.Unchecked, " ")
		if res.Bounded {
			r.Found = fmt.Sprintf("unfinished after %s", MaxTime)
		}
	default:
		r.Found = res.Verdict.String()
	}
	r.Detail = strings.TrimSpace(res.String() + "\n" + res.Conjunct + "\n" + res.Text())
}
