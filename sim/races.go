package sim

import (
	"slices"

	"github.com/millrace-dev/millrace/core/sched"
)

// races asks for the other order of each two conflicting steps of the execution that has just ended: where the first was chosen, the task
// of the second must be tried, or everybody when it could not go on there.
//
// Three kinds of executions are not judged by their steps, and ask for everything: those that failed, whose last steps
// nobody saw; those with timers, which fire when nobody else can go on, and so depend on every step; and those with crashes or
// calls into opaque dependencies, which end or change steps of others.
func (s *search) races(w *World) {
	path := s.stack[:s.pos]
	if w.failed || w.opts.early || s.special(path) {
		for _, p := range path {
			p.all = true
		}
		return
	}
	for j, later := range path {
		if later.data || later.chosen < 0 {
			continue
		}
		if j >= s.known {
			s.reverse(path[:j], later.tasks[later.chosen], later.step)
		}
	}
	if w.pruned { // what the execution did not get to
		end := path[len(path)-1]
		for _, x := range end.asleep {
			s.reverse(path, x.id, x.foot)
		}
		for _, t := range w.tasks {
			if t.state == waiting {
				s.reverse(path, t.id, s.awaited(w, t))
			}
		}
	}
}

// reverse marks where a step with that footprint, of that task, could have come before a step of the path. The task alone is enough where it
// could take that very step at once: it is its next one, and nothing in between comes before it. Elsewhere everybody must be tried, because
// the task may be asleep there for another step.
func (s *search) reverse(path []*choicePoint, task int32, foot footprint) {
	next := true
	for i := len(path) - 1; i >= 0; i-- {
		p := path[i]
		if p.data || p.chosen < 0 {
			continue
		}
		if p.tasks[p.chosen] == task {
			next = false
			continue
		}
		if !p.step.conflicts(foot) {
			continue
		}
		at := slices.Index(p.tasks, task)
		if at < 0 || !next {
			p.all = true
		} else {
			p.need[at] = true
		}
		next = false
	}
}

// special reports whether a step depends on others in ways that footprints do not tell.
func (s *search) special(path []*choicePoint) bool {
	for _, p := range path {
		for _, x := range p.step {
			object := x >> 2
			if object == footClock || object == footExternal || object >= footNode && object < footOwner {
				return true
			}
		}
	}
	return false
}

// awaited is the footprint of what a waiting task could do next.
func (s *search) awaited(w *World, t *task) footprint {
	s.wait = s.wait[:0]
	note := func(h *sched.Hook) {
		if h != nil {
			s.wait = s.wait.add((footObject+h.ID)<<2 | modeWrite)
		}
	}
	note(t.h)
	for i := range t.arms {
		note(t.arms[i].H)
	}
	return s.wait
}
