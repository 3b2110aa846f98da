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
			free := w.kind == "task" && w.name == d.Name && !w.lock.Held(e.now) && w.since(e.now) <= e.now
			if free && (first == nil || w.since(e.now) < first.since(e.now)) {
				owner, first = i, w
			}
		}
	}
	if first == nil {
		e.outcome(d, "nothing")
		return
	}
	number := first.lock.Lock(e.now, e.now+d.Seconds)
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
		if d.Retries == 0 {
			i.withdraw(w)
			w.token.incident = "retries-exhausted"
		}
	case Extend:
		w.lock.Until = e.now + d.Seconds
	case Throw:
		i.withdraw(w)
		i.throw(w.token, d.Name)
		i.run()
	default:
		i.fire(w, d.Variables)
	}
	e.commit(i)
}
