package models

import "slices"

// Settlement is the reference of L5: held deliveries in the order of their age.
type Settlement struct {
	Capacity int
	Closed   bool
	Held     []*SettlementEntry
}

// SettlementEntry is one held delivery. Answer is "" while nobody has answered it.
type SettlementEntry struct {
	Instance string
	Armed    bool
	Ended    string // the end that came before it was armed
	Answer   string
}

// Register adds an entry, or returns nil when it is refused.
func (s *Settlement) Register(instance string) *SettlementEntry {
	if s.Closed {
		return nil
	}
	if len(s.Held) >= s.Capacity {
		i := slices.IndexFunc(s.Held, func(e *SettlementEntry) bool { return e.Armed })
		if i < 0 {
			return nil
		}
		s.answer(s.Held[i], "evicted")
	}
	e := &SettlementEntry{Instance: instance}
	s.Held = append(s.Held, e)
	return e
}

// Arm says that the entry's delivery took effect.
func (s *Settlement) Arm(e *SettlementEntry) {
	switch {
	case !slices.Contains(s.Held, e):
	case e.Ended != "":
		s.answer(e, e.Ended)
	default:
		e.Armed = true
	}
}

// Drop removes an entry that is not armed.
func (s *Settlement) Drop(e *SettlementEntry) {
	if !e.Armed {
		s.remove(e)
	}
}

// End says that an instance has ended.
func (s *Settlement) End(instance, how string) {
	for _, e := range slices.Clone(s.Held) {
		switch {
		case e.Instance != instance:
		case e.Armed:
			s.answer(e, how)
		default:
			e.Ended = how
		}
	}
}

// Close refuses everything.
func (s *Settlement) Close() {
	s.Closed = true
	for _, e := range slices.Clone(s.Held) {
		s.answer(e, "closing")
	}
}

func (s *Settlement) answer(e *SettlementEntry, how string) {
	e.Answer = how
	s.remove(e)
}

func (s *Settlement) remove(e *SettlementEntry) {
	s.Held = slices.DeleteFunc(s.Held, func(x *SettlementEntry) bool { return x == e })
}
