package oneactor

import (
	"fmt"
	"slices"
)

// fetch locks the task of a type that was offered first.
func (e *Engine) fetch(d Delivery) {
	var owner *instance
	var first *wait
	for _, i := range e.instances {
		for _, w := range i.waits {
			free := w.kind == "task" && w.name == d.Name && !w.lock.Held(e.now) && w.since() <= e.now
			if free && (first == nil || w.before(first)) {
				owner, first = i, w
			}
		}
	}
	if first == nil {
		e.outcome(d, "nothing")
		return
	}
	number := first.lock.Lock(e.now, e.now+d.Seconds)
	e.offer(first)
	e.outcome(d, fmt.Sprintf("%s %s lock %d", owner.id, first.path(), number))
	e.commit(owner)
}

// work settles a task, or says that it cannot be settled so.
func (e *Engine) work(d Delivery) {
	i := e.find(d.Instance)
	if i == nil || i.status != running {
		e.outcome(d, "gone")
		return
	}
	at := slices.IndexFunc(i.waits, func(w *wait) bool {
		if d.Kind == Finish {
			return w.kind == "user" && w.path() == d.At
		}
		return w.kind == "task" && w.path() == d.At && w.lock.Holds(d.Lock, e.now)
	})
	if at < 0 {
		e.outcome(d, "refused")
		return
	}
	e.outcome(d, "accepted")
	w := i.waits[at]
	switch d.Kind {
	case Fail:
		w.lock.Until, w.retries, w.offered = 0, d.Retries, e.now+d.Seconds
		e.offer(w)
		if d.Retries == 0 {
			i.withdraw(w)
			w.token.incident = "retries-exhausted"
		}
	case Extend:
		w.lock.Until = e.now + d.Seconds
		e.offer(w)
	case Throw:
		i.withdraw(w)
		i.throw(w.token, d.Name)
		i.run()
	default:
		i.fire(w, d.Variables)
	}
	e.commit(i)
}

// offer counts what changes when a task may be had: of two that may be had from the same second on, the one whose change came
// first was offered first.
func (e *Engine) offer(w *wait) {
	e.offers++
	w.order = e.offers
}

// since is the time from which a worker may have the task, unless it is locked: a lock that ran out frees it at its end.
func (w *wait) since() int { return max(w.offered, w.lock.Until) }

func (w *wait) before(other *wait) bool {
	return w.since() < other.since() || w.since() == other.since() && w.order < other.order
}
