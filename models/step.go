package models

import "slices"

// StepWait is an open wait in the reference of L6. Key "" is not correlated, Due 0 has no timer.
type StepWait struct {
	Generation uint64
	Key        string
	Due        int64
}

// StepRow is one instance.
type StepRow struct {
	Claim
	Snapshot   string
	Generation uint64
	Waits      []StepWait
	Emissions  []StepEmission // not delivered yet
	Emitted    uint64
}

// StepEmission is one outbox row.
type StepEmission struct {
	Sequence uint64
	Payload  string
}

// StepRecord says that a step committed.
type StepRecord struct {
	Cause, Instance string
	Owner           int
	Epoch           uint64
}

// StepInput is one transaction.
type StepInput struct {
	StepRecord
	Spawn, Ends bool
	Snapshot    string
	Delivery    string // "" has no inbox key
	Close       []uint64
	Open        []StepWait
	Outbox      []string
	Forget      []StepRecord
}

// StepAnswer is how a transaction ends.
type StepAnswer uint8

// The answers, in the order in which a transaction asserts.
const (
	StepDone StepAnswer = iota
	StepFenced
	StepDuplicate
	StepConflict
	StepAlias
)

// Step is the reference of L6: a store as its steps leave it. Aliases and timers are not kept; they are the open waits.
type Step struct {
	Rows     map[string]*StepRow
	Receipts map[string]string // delivery → cause
	Records  map[StepRecord]bool
}

// NewStep returns an empty store.
func NewStep() *Step {
	return &Step{Rows: map[string]*StepRow{}, Receipts: map[string]string{}, Records: map[StepRecord]bool{}}
}

// Row returns the row of an instance, absent or not.
func (s *Step) Row(id string) *StepRow {
	if s.Rows[id] == nil {
		s.Rows[id] = &StepRow{}
	}
	return s.Rows[id]
}

// Commit applies a transaction, or nothing of it.
func (s *Step) Commit(in StepInput) StepAnswer {
	row := *s.Row(in.Instance)
	row.Waits = slices.Clone(row.Waits)
	if answer := row.assert(in); answer != StepDone {
		return answer
	}
	if _, seen := s.Receipts[in.Delivery]; seen && in.Delivery != "" {
		return StepDuplicate
	}
	if !row.closeWaits(in) {
		return StepConflict
	}
	for _, w := range in.Open {
		if w.Generation <= row.Generation {
			return StepConflict
		}
		if w.Key != "" && (row.holds(w.Key) || s.holdsElsewhere(in.Instance, w.Key)) {
			return StepAlias
		}
		row.Generation = w.Generation
		row.Waits = append(row.Waits, w)
	}
	s.write(in, row)
	return StepDone
}

func (r *StepRow) assert(in StepInput) StepAnswer {
	answer := r.Claim.Commit(in.Owner, in.Epoch, in.Ends)
	if in.Spawn {
		*r = StepRow{Claim: r.Claim, Emissions: r.Emissions, Emitted: r.Emitted}
		if answer = r.Spawn(in.Epoch); answer == ClaimDone && in.Ends {
			r.Status = ClaimEnded
		}
	}
	switch answer {
	case ClaimDone:
		return StepDone
	case ClaimDuplicate:
		return StepDuplicate
	default:
		return StepFenced
	}
}

func (r *StepRow) closeWaits(in StepInput) bool {
	if in.Ends {
		r.Waits = nil
		return true
	}
	for _, g := range in.Close {
		i := slices.IndexFunc(r.Waits, func(w StepWait) bool { return w.Generation == g })
		if i < 0 {
			return false
		}
		r.Waits = slices.Delete(r.Waits, i, i+1)
	}
	return true
}

func (r *StepRow) holds(key string) bool {
	return slices.ContainsFunc(r.Waits, func(w StepWait) bool { return w.Key == key })
}

func (s *Step) holdsElsewhere(id, key string) bool {
	for other, row := range s.Rows {
		if other != id && row.holds(key) {
			return true
		}
	}
	return false
}

func (s *Step) write(in StepInput, row StepRow) {
	row.Snapshot = in.Snapshot
	row.Emissions = slices.Clone(row.Emissions)
	for _, payload := range in.Outbox {
		row.Emitted++
		row.Emissions = append(row.Emissions, StepEmission{row.Emitted, payload})
	}
	for _, r := range in.Forget {
		delete(s.Records, r)
	}
	s.Records[in.StepRecord] = true
	if in.Delivery != "" {
		s.Receipts[in.Delivery] = in.Cause
	}
	s.Rows[in.Instance] = &row
}

// Deliver removes the first n emissions of an instance.
func (s *Step) Deliver(id string, n int) {
	row := s.Row(id)
	row.Emissions = slices.Clone(row.Emissions[min(n, len(row.Emissions)):])
}

// Vacate makes void an instance that has ended and whose delivery is forgotten, at the next epoch, and reports whether it did.
// The numbers of emissions go on.
func (s *Step) Vacate(id, delivery string) bool {
	row := s.Row(id)
	if _, seen := s.Receipts[delivery]; seen || row.Status != ClaimEnded || row.Owner != 0 {
		return false
	}
	s.Rows[id] = &StepRow{Claim: Claim{Status: ClaimVoid, Epoch: row.Epoch + 1}, Emissions: row.Emissions, Emitted: row.Emitted}
	return true
}

// Collect removes an instance that has ended and whose emissions have left, and reports whether it did. Records stay.
func (s *Step) Collect(id string) bool {
	row := s.Row(id)
	if row.Status != ClaimEnded || len(row.Emissions) > 0 {
		return false
	}
	s.Rows[id] = &StepRow{}
	return true
}
