package sim

import (
	"math/bits"
	"slices"
)

// What the second step of a race does without the first is known before it is tried when it was taken elsewhere after the same
// steps. Whatever sleeps, everything that begins with it is explored; so if it does not depend on a plan, the plan's last step was taken behind it,
// after the same steps, and is known here. What is not known here leads to something new. So a plan is dropped, where it is made or
// when its turn has come, exactly when something that sleeps covers it: its guessed footprint only tells it from other plans.
//
// A step is identified by everything that happens before it, which is the same in all executions of a trace. A deed comes after other
// steps than the plan has when different ones conflict with what it touched.

// deed is what the step of a task did, after the step of the task before it.
type deed struct {
	value, of int64 // as in napper
	foot      footprint
	total     bool
	next      int32 // another one that may come there, plus one
}

// deeds holds the deeds of a search by the step of the task before, and after which conflicting steps they were seen.
type deeds struct {
	first map[uint64]int32 // plus one
	list  []deed
	after map[uint64]struct{}
}

// maxDeeds bounds the memory of a search: what comes later is forgotten, and plans of it may be cut short.
const maxDeeds = 1 << 23

// note keeps what a turn's step did, with all values drawn after the first.
func (d *deeds) note(m *turn, before []*turn, place uint64) {
	if len(d.after) >= maxDeeds {
		return
	}
	x := deed{value: noValue, foot: m.all, total: m.total}
	if len(m.draws) > 0 {
		x.value, x.of = int64(m.draws[0].value), int64(min(m.draws[0].n, maxDraw))
	}
	sum := uint64(0)
	for _, p := range before {
		if p.idle || x.follows(m.key, p.foot, p.mine) {
			sum += p.id
		}
	}
	k := d.first[place]
	for k > 0 && !d.list[k-1].same(&x) {
		k = d.list[k-1].next
	}
	if k == 0 {
		x.foot, x.next = slices.Clone(x.foot), d.first[place]
		d.list = append(d.list, x)
		k = int32(len(d.list))
		d.first[place] = k
	}
	d.after[mix(sum, uint64(k), 3)] = struct{}{}
}

func (x *deed) same(y *deed) bool {
	return x.value == y.value && x.of == y.of && x.total == y.total && slices.Equal(x.foot, y.foot)
}

// follows reports whether a deed of a task depends on an earlier step. The end of the root scope does on every step of its own tasks.
func (x *deed) follows(key uint64, foot footprint, mine bool) bool {
	return x.total || foot.conflicts(x.foot) || key == keyClosing && mine
}

// place is where the next step of a task stands in deeds. The task that ends the root scope comes after every task of the check, whichever of
// them ended last.
func (s *dpor) place(key uint64, prev int32) uint64 {
	if prev < 0 || key == keyClosing || s.deeds.first == nil {
		return key
	}
	return mix(s.path[prev].id, key, 1)
}

// identify names the step of turn i by everything that happens before it.
func (s *dpor) identify(i int) {
	m := s.path[i]
	sum := uint64(0)
	for k, word := range m.before {
		for ; word != 0; word &= word - 1 {
			if j := k<<6 | bits.TrailingZeros64(word); j != i {
				sum += s.path[j].id
			}
		}
	}
	m.id = mix(sum, m.key, 0)
	if m.idle {
		m.id = mix(sum, ^uint64(0), 0)
	}
	for _, d := range m.draws {
		m.id = mix(m.id, d.value, 2)
	}
}

// mark is the number of a task in footprints: the same in all executions.
func (s *dpor) mark(t *task) uint32 {
	if s.marks == nil {
		s.marks = map[uint64]uint32{}
	}
	for int(t.id) >= len(s.marked) {
		s.marked = append(s.marked, marked{})
	}
	x := &s.marked[t.id]
	if x.mark == 0 || x.key != t.key {
		n, ok := s.marks[t.key]
		if !ok {
			n = uint32(len(s.marks)) + 1
			s.marks[t.key] = n
		}
		*x = marked{t.key, n}
	}
	return x.mark
}

// marked is a task of an earlier execution.
type marked struct {
	key  uint64
	mark uint32
}

// foretell collects in fate what the last step of the plan does at turn at, as far as it was seen.
func (s *dpor) foretell(at int) {
	s.fate, s.told = s.fate[:0], true
	if s.deeds.first == nil {
		s.startOver = true
		return
	}
	n := len(s.plan) - 1
	last := &s.plan[n]
	for k := s.deeds.first[last.prev]; k > 0; k = s.deeds.list[k-1].next {
		x, sum := &s.deeds.list[k-1], uint64(0)
		for _, p := range s.path[:at] {
			if p.idle || x.follows(last.key, p.foot, p.mine) {
				sum += p.id
			}
		}
		for i := range s.plan[:n] {
			if p := &s.plan[i]; x.follows(last.key, p.foot, p.mine) {
				sum += p.id
			}
		}
		if _, seen := s.deeds.after[mix(sum, uint64(k), 3)]; seen {
			s.fate = append(s.fate, k-1)
		}
	}
}

// covered reports whether what was explored at turn at covers the plan.
func (s *dpor) covered(m *turn, at int) bool {
	last := &s.plan[len(s.plan)-1]
	values, some := int64(0), false
	s.stand, s.told, s.fate = at, false, s.fate[:0]
	for _, list := range [2][]napper{m.asleep, m.done} {
		for i := range list {
			x := &list[i]
			before, k := s.overtakes(x)
			switch {
			case k >= 0 && s.plan[k].drawsAs(x, m):
				return true
			case !before:
			case last.reach == exact && x.key == last.key:
				if last.drawsAs(x, m) {
					return true
				}
			case last.reach == exact:
				if s.covers(m, x, last.first) {
					return true
				}
			case x.key == last.key && x.value == noValue:
				return true
			case x.key == last.key:
				values, some = max(values, x.of), true
			case !last.must.conflicts(x.foot):
				some = true
			default:
			}
		}
	}
	if !some {
		return false
	}
	s.foretell(at)
	for _, k := range s.fate {
		values = max(values, s.deeds.list[k].of)
	}
	if values == 0 {
		return s.coveredAs(m, noValue)
	}
	for v := range values {
		if !s.coveredAs(m, v) {
			return false
		}
	}
	return true
}

// overtakes reports whether what sleeps may come before all of the plan but its last step; if it is a step of the plan itself that may,
// which one.
func (s *dpor) overtakes(x *napper) (before bool, k int) {
	for k := range s.plan[:len(s.plan)-1] {
		switch p := &s.plan[k]; {
		case p.key == x.key:
			return false, k
		case p.foot.conflicts(x.foot):
			return false, -1
		default:
		}
	}
	return true, -1
}

// coveredAs reports whether what was explored covers the plan when its last step draws that value.
func (s *dpor) coveredAs(m *turn, value int64) bool {
	last := &s.plan[len(s.plan)-1]
	for _, list := range [2][]napper{m.asleep, m.done} {
		for i := range list {
			x := &list[i]
			switch before, _ := s.overtakes(x); {
			case !before:
			case x.key == last.key:
				if x.value == value {
					return true
				}
			case s.covers(m, x, value):
				return true
			default:
			}
		}
	}
	return false
}

// covers reports whether what sleeps, which is no step of the plan, does not depend on it when its last step draws that value. What draws must not, whatever it
// draws: what begins with one value says nothing of another one behind the plan.
func (s *dpor) covers(m *turn, x *napper, value int64) bool {
	if x.value == noValue {
		return !x.weak && s.apart(x.foot, value)
	}
	n := int64(0)
	for _, list := range [2][]napper{m.asleep, m.done} {
		for i := range list {
			if y := &list[i]; y.key == x.key {
				if before, _ := s.overtakes(y); !before || y.weak || !s.apart(y.foot, value) {
					return false
				}
				n++
			}
		}
	}
	return n == x.of
}

// apart reports whether the plan's last step is known not to depend on a footprint when it draws that value.
func (s *dpor) apart(foot footprint, value int64) bool {
	last := &s.plan[len(s.plan)-1]
	if last.reach == exact {
		return !last.foot.conflicts(foot)
	}
	if last.must.conflicts(foot) {
		return false
	}
	if !s.told {
		s.foretell(s.stand)
	}
	found := false
	for _, k := range s.fate {
		if x := &s.deeds.list[k]; x.value == value {
			if found = true; x.total || x.foot.conflicts(foot) {
				return false
			}
		}
	}
	return found
}

// foreseen reports whether what was explored covers a value drawn at the end of a plan.
func (s *dpor) foreseen(m *turn, at int, value uint64) bool {
	if m.via == nil || m.via.fixed() || m.via.reach == exact {
		return false
	}
	s.plan = append(s.plan[:0], planned{key: m.key, last: true, free: true, reach: m.via.reach, prev: s.place(m.key, m.prev), mine: m.mine})
	s.stand, s.told, s.fate = at, false, s.fate[:0]
	known := s.coveredAs(m, int64(value))
	m.via.partly = m.via.partly || known
	return known
}

// leads reports whether one of the plans that begin with the one so far and a branch leads to something new.
func (s *dpor) leads(m *turn, b *branch) bool {
	if len(b.kids) == 0 && !b.unsure {
		return true
	}
	p := planned{key: b.key, foot: b.foot, id: b.id, prev: b.prev, mine: b.mine, reach: b.reach, must: b.must, first: noValue, last: len(b.kids) == 0}
	if len(b.draws) > 0 {
		p.first = int64(b.draws[0])
	}
	p.free = p.last && len(b.draws) == 0
	n := len(s.plan)
	s.plan = append(s.plan, p)
	next := b.kids
	if p.last {
		if !s.covered(m, len(s.path)-1) {
			return true
		}
		n--
		next = b.under
	}
	for _, k := range next {
		s.plan = s.plan[:n+1]
		if s.leads(m, k) {
			return true
		}
	}
	return false
}

// decides reports whether a step drew one of several values.
func decides(draws []drawing) bool {
	for _, d := range draws {
		if d.n != 1 {
			return true
		}
	}
	return false
}

// touches is what the operation touches whatever its result is.
func (q *wait) touches(f, foot footprint) footprint {
	f = f[:0]
	if q.granted {
		return f
	}
	for _, n := range q.needs {
		switch {
		case n.permit:
		case q.fixed && len(q.needs) == 1:
			for _, x := range foot {
				if x>>2 == n.object {
					f = f.add(x)
				}
			}
		case n.object >= footObject:
			f = f.add(n.object << 2)
		default:
		}
	}
	return f
}

// again begins the search from the start, with an account of what steps do: it has met a plan that may turn out to be covered. It reports false when there
// is no reason.
func (s *dpor) again() bool {
	if !s.startOver || s.deeds.first != nil {
		return false
	}
	s.deeds.first, s.deeds.after = map[uint64]int32{}, map[uint64]struct{}{}
	for _, m := range s.path {
		s.drop(m.via)
		for _, b := range m.later {
			s.drop(b)
		}
		m.via, m.later = nil, m.later[:0]
	}
	s.path, s.strays = s.path[:0], 0
	return true
}
