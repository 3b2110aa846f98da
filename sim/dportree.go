package sim

// branch is a node of a wakeup tree: a step that must be taken, and what must follow it.
type branch struct {
	key     uint64
	draws   []uint64
	foot    footprint
	reach   reach // how far it may go beyond that
	id      uint64
	prev    uint64 // id of its task's step before, when its own is not known
	mine    bool
	kids    []*branch
	under   []*branch // plans that were left out because of it, a leaf; they count when it leads to nothing new
	decides bool      // it draws one of several values, as the plan says
	unsure  bool      // an earlier branch may turn out to cover it
	must    footprint // what its step touches in any case, when its footprint is a guess
	partly  bool      // with one of the values that it draws it leads to nothing new
}

// insert adds the plan to a wakeup tree, unless a branch of it covers it: it follows the first branches that may begin it, and
// appends what is left where none does.
func (s *dpor) insert(w *World, m *turn) {
	list := &m.later
	last := &s.plan[len(s.plan)-1]
	known := last.must
	if last.reach == exact {
		known = last.foot
	}
	s.unsure = !m.total && !known.conflicts(m.foot) // then what was explored first may cover it
	for len(s.plan) > 0 {
		b, k := s.beginning(w, *list)
		if b == nil {
			s.graft(list)
			return
		}
		if len(b.kids) == 0 { // everything behind it is explored, when it is taken
			if !b.unsure {
				return
			}
			list = &b.under
			continue
		}
		if k >= 0 {
			if p := &s.plan[k]; !p.free && !sameDraws(p.draws, b.draws) {
				return // the branch tries all after the first
			}
			s.plan = append(s.plan[:k], s.plan[k+1:]...)
		}
		list = &b.kids
	}
}

func (s *dpor) beginning(w *World, list []*branch) (*branch, int) {
	for _, b := range list {
		k := s.begins(w, b.key, b.foot, b.reach)
		s.unsure = s.unsure || k == clash && !s.surely(b)
		if k == clash || k >= 0 && b.fixed() && !s.plan[k].draw(b.draws[0]) {
			continue // with another value it is another step
		}
		if k < 0 && b.decides {
			continue // of what comes behind another value it would say nothing
		}
		return b, k
	}
	return nil, 0
}

func sameDraws(d []drawing, values []uint64) bool {
	if len(d) != len(values) {
		return false
	}
	for i := range d {
		if d[i].value != values[i] {
			return false
		}
	}
	return true
}

// graft appends the plan as a branch of its own.
func (s *dpor) graft(list *[]*branch) {
	for i := range s.plan {
		p := &s.plan[i]
		var b *branch
		if n := len(s.spare); n > 0 {
			b, s.spare = s.spare[n-1], s.spare[:n-1]
		} else {
			b = &branch{}
		}
		b.key, b.reach, b.id, b.prev, b.mine = p.key, p.reach, p.id, p.prev, p.mine
		b.unsure = s.unsure
		s.startOver = s.startOver || s.unsure
		b.must = append(b.must[:0], p.must...)
		b.foot, b.draws, b.kids = append(b.foot[:0], p.foot...), b.draws[:0], b.kids[:0] // under is empty
		b.decides = decides(p.draws)
		for _, d := range p.draws {
			b.draws = append(b.draws, d.value)
		}
		*list = append(*list, b)
		list = &b.kids
	}
}

// resume takes up what was left out because of plans that an execution followed to their ends, and that led to nothing new there: each goes on
// from where the execution went another way.
func (s *dpor) resume(w *World) {
	for i, m := range s.path {
		if m.via != nil && len(m.via.kids) == 0 && len(m.via.under) > 0 {
			s.proceed(w, m.via.under, i)
			m.via.under = m.via.under[:0]
		}
	}
}

// proceed puts plans for turn i where the path leaves them.
func (s *dpor) proceed(w *World, list []*branch, i int) {
	if i == len(s.path) {
		return
	}
	m := s.path[i]
	for _, b := range list {
		s.proceed(w, b.under, i)
		b.under = b.under[:0]
		switch {
		case m.chosen >= 0 && b.key == m.key && (!b.fixed() || len(m.draws) > 0 && b.draws[0] == m.draws[0].value):
			s.proceed(w, b.kids, i+1)
			b.kids = b.kids[:0]
			s.drop(b)
		case m.chosen >= 0 && !m.idle && b.leaves(w, m):
			s.proceed(w, []*branch{b}, i+1)
		default:
			m.later = append(m.later, b)
		}
	}
}

// leaves reports whether all plans of a branch have nothing to do with a turn.
func (b *branch) leaves(w *World, m *turn) bool {
	if b.key == m.key || b.foot.conflicts(m.foot) || !w.beyond(b.reach, m.foot) {
		return false
	}
	for _, k := range b.kids {
		if !k.leaves(w, m) {
			return false
		}
	}
	return true
}

// drop keeps a branch for another plan.
func (s *dpor) drop(b *branch) {
	if b == nil {
		return
	}
	for _, k := range b.kids {
		s.drop(k)
	}
	for _, k := range b.under {
		s.drop(k)
	}
	b.kids, b.under = b.kids[:0], b.under[:0]
	b.partly = false
	s.spare = append(s.spare, b)
}

// surely reports whether a branch and the plan clash whatever their unknown steps turn out to do.
func (s *dpor) surely(b *branch) bool {
	foot := b.foot
	if b.reach != exact {
		foot = b.must
	}
	for k := range s.plan {
		p := &s.plan[k]
		if p.key == b.key {
			return k < len(s.plan)-1 && b.reach == exact // it is not initial
		}
		other := p.foot
		if p.reach != exact {
			other = p.must
		}
		if other.conflicts(foot) {
			return true
		}
	}
	return false
}
