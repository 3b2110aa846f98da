package sim

import "github.com/millrace-dev/millrace/core/sched"

// pos is partial-order sampling (Yuan et al., CAV 2018): every pending operation has a random priority and the highest
// runs. After it, the operations that race with it draw again, so that the order of each racing pair is decided afresh
// and not inherited from unrelated steps.
type pos struct {
	rng rng
	ran *task
}

func (s *pos) begin(w *World, seed uint64) {
	s.rng = rng{seed}
	s.ran = nil
}

func (s *pos) pick(w *World, n int) int { return s.among(w, n, nil) }

// among picks among the candidates that are not late, or among all when each of them is.
func (s *pos) among(w *World, n int, late []bool) int {
	if s.ran != nil {
		s.ran.prio = 0 // its operation is done: whatever it announces now is new
	}
	best, index := int64(-1), 0
	for i := range n {
		t := w.contender(i)
		if t.prio == 0 {
			t.prio = s.rng.priority()
		}
		if t.prio > best && (late == nil || !late[i]) {
			best, index, s.ran = t.prio, i, t
		}
	}
	if best < 0 {
		return s.among(w, n, nil)
	}
	if s.ran.h == nil {
		return index // nothing races with it
	}
	for i := range n {
		if t := w.candidate(i); t != nil && t != s.ran && racing(t, s.ran) {
			t.prio = 0
		}
	}
	return index
}

func (s *pos) draw(_ *World, n uint64) uint64 { return s.rng.draw(n) }

// contender is a candidate, or the clock in its place.
func (w *World) contender(i int) *task {
	if t := w.candidate(i); t != nil {
		return t
	}
	return &w.clockTask
}

// priority draws a priority above those that were lowered.
func (r *rng) priority() int64 { return int64(r.next()>>2) + 1 }

// racing reports whether two announced operations may conflict.
func racing(a, b *task) bool {
	if a.h == nil || a.h != b.h {
		return false
	}
	return !readsOnly(a.op) || !readsOnly(b.op)
}

func readsOnly(op sched.Op) bool {
	switch op {
	case sched.OpLoad, sched.OpGet, sched.OpLen, sched.OpWGWait, sched.OpDone, sched.OpSubscribe:
		return true
	default:
		return false
	}
}
