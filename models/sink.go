package models

// SinkRow is what the sink knows of one row: its attempt, and whether it is pending, in flight or resolved.
type SinkRow struct {
	Attempt  int
	InFlight bool
	Resolved bool
}

// Sink is the reference of G6: the rows of one delivery, and how its share ended.
type Sink struct {
	Rows         []SinkRow
	Acknowledged bool
	Torn         bool
}

// NewSink returns n pending rows; none is acknowledged at once.
func NewSink(n int) Sink { return Sink{Rows: make([]SinkRow, n), Acknowledged: n == 0} }

// Take puts the first limit pending rows in flight and returns them.
func (s *Sink) Take(limit int) []int {
	var taken []int
	for i := range s.Rows {
		if r := &s.Rows[i]; len(taken) < limit && !r.InFlight && !r.Resolved {
			r.InFlight = true
			taken = append(taken, i)
		}
	}
	return taken
}

// Answer applies an answer to an attempt at a row and reports whether it counted.
func (s *Sink) Answer(row, attempt int, resolved bool) bool {
	r := &s.Rows[row]
	if !r.InFlight || r.Attempt != attempt {
		return false
	}
	r.InFlight = false
	if !resolved {
		r.Attempt++
		return true
	}
	r.Resolved = true
	s.Acknowledged = s.Acknowledged || !s.Torn && s.Unresolved() == 0
	return true
}

// Unresolved counts the rows that are not resolved.
func (s *Sink) Unresolved() int {
	n := 0
	for _, r := range s.Rows {
		if !r.Resolved {
			n++
		}
	}
	return n
}

// Teardown reports whether it failed the share.
func (s *Sink) Teardown() bool {
	if s.Torn || s.Unresolved() == 0 {
		return false
	}
	s.Torn = true
	return true
}
