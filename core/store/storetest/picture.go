package storetest

import (
	"maps"
	"slices"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/models"
	"pgregory.net/rapid"
)

// picture is what a store and its model must agree on, in one form.
type picture struct {
	Rows      map[string]models.StepRow
	Receipts  map[string]string
	Records   map[models.StepRecord]bool
	Aliases   map[string]uint64 // key → generation, of the instance in Holders
	Holders   map[string]string
	Timers    map[store.Timer]bool
	Emissions map[string][]models.StepEmission
}

func (m *machine) check(t *rapid.T) {
	m.held.Forget()
	d, err := m.show()
	m.same(t, "inspect error", err, nil)
	m.same(t, "store", seen(d), modeled(m.model))
}

func empty() picture {
	return picture{
		Rows: map[string]models.StepRow{}, Receipts: map[string]string{}, Records: map[models.StepRecord]bool{},
		Aliases: map[string]uint64{}, Holders: map[string]string{}, Timers: map[store.Timer]bool{},
		Emissions: map[string][]models.StepEmission{},
	}
}

func number(o store.Owner) int { return int(o.Lane) }

// seen draws the picture of the store: aliases, timers and emissions from their own tables.
func seen(d step.Dump) picture {
	p := empty()
	for _, h := range d.Heads {
		row := models.StepRow{Claim: models.Claim{Owner: number(h.Owner), Epoch: uint64(h.Epoch)}}
		row.Status = map[store.Status]models.ClaimStatus{
			store.Void: models.ClaimVoid, store.Running: models.ClaimRunning, store.Completed: models.ClaimEnded,
		}[h.Status]
		in := d.Instances[h.Instance]
		row.Snapshot, row.Generation, row.Emitted = string(in.Snapshot), in.Generation, in.Emitted
		for _, w := range in.Waits {
			open := models.StepWait{Generation: w.Generation, Key: w.Key}
			if !w.Due.IsZero() {
				open.Due = int64(w.Due.Sub(noon).Seconds())
			}
			row.Waits = append(row.Waits, open)
		}
		p.Rows[string(h.Instance)] = row
	}
	for _, x := range d.Receipts {
		p.Receipts[x.ID] = x.Cause
	}
	for _, x := range d.Records {
		p.Records[models.StepRecord{
			Cause: x.Cause, Instance: string(x.Instance), Owner: number(x.Owner), Epoch: uint64(x.Epoch),
		}] = true
	}
	for _, x := range d.Aliases {
		p.Aliases[x.Key], p.Holders[x.Key] = x.Generation, string(x.Instance)
	}
	for _, x := range d.Timers {
		p.Timers[x] = true
	}
	for _, x := range d.Emissions {
		id := string(x.Instance)
		p.Emissions[id] = append(p.Emissions[id], models.StepEmission{Sequence: x.Sequence, Payload: string(x.Payload)})
	}
	return p
}

// modeled draws the picture of the model: aliases and timers from the open waits.
func modeled(m *models.Step) picture {
	p := empty()
	p.Receipts, p.Records = maps.Clone(m.Receipts), maps.Clone(m.Records)
	for id, row := range m.Rows { //order:each row has its own place
		if len(row.Emissions) > 0 {
			p.Emissions[id] = slices.Clone(row.Emissions)
		}
		if row.Status == models.ClaimAbsent {
			continue
		}
		shown := *row
		shown.Emissions = nil
		if row.Status == models.ClaimVoid {
			shown.Emitted = 0 // kept for the next life, and shown by none
		}
		if len(shown.Waits) == 0 {
			shown.Waits = nil
		}
		p.Rows[id] = shown
		for _, w := range row.Waits {
			if w.Key != "" {
				p.Aliases[w.Key], p.Holders[w.Key] = w.Generation, id
			}
			if w.Due != 0 {
				p.Timers[store.Timer{Due: at(w.Due), Instance: store.InstanceID(id), Generation: w.Generation}] = true
			}
		}
	}
	return p
}
