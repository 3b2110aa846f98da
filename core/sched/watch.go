package sched

import "sync"

// Watch is a value with a version. A Watcher waits for a version that it has not seen. Versions in between may be
// skipped; the last one never is.
type Watch[T any] struct {
	h       *Hook
	mu      sync.Mutex // guards the rest
	v       T
	version uint64
	q       waitQueue
}

// NewWatch returns a watch of v at version zero.
func NewWatch[T any](s Scheduler, name string, v T) (x Watch[T]) {
	x.h = s.object(KindWatch, name, 0)
	x.v = v
	return
}

// Set replaces the value, counts the version up and wakes every waiting watcher.
func (x *Watch[T]) Set(v T) { x.Update(func(T) T { return v }) }

// Update replaces the value by f of it. f must not wait and must not use the watch.
func (x *Watch[T]) Update(f func(T) T) {
	x.point(OpSet)
	x.mu.Lock()
	x.v = f(x.v)
	x.version++
	version := x.version
	x.q.wakeAll(x.h)
	x.mu.Unlock()
	x.outcome(OpSet, version)
}

// Get returns the value.
func (x *Watch[T]) Get() T {
	x.point(OpGet)
	x.mu.Lock()
	v, version := x.v, x.version
	x.mu.Unlock()
	x.outcome(OpGet, version)
	return v
}

// Subscribe returns a watcher that has seen the current version.
func (x *Watch[T]) Subscribe() *Watcher[T] {
	x.point(OpSubscribe)
	x.mu.Lock()
	r := &Watcher[T]{x: x, seen: x.version}
	x.mu.Unlock()
	x.outcome(OpSubscribe, r.seen)
	return r
}

func (x *Watch[T]) point(op Op) {
	if x.h != nil {
		x.h.B.Point(x.h, op)
	}
}

func (x *Watch[T]) outcome(op Op, result uint64) {
	if x.h != nil {
		x.h.B.Outcome(x.h, op, result)
	}
}

// Watcher is one observer of a Watch. It belongs to one task.
type Watcher[T any] struct {
	x    *Watch[T]
	seen uint64
}

// Get returns the current value and marks its version as seen.
func (r *Watcher[T]) Get() T {
	r.x.point(OpGet)
	r.x.mu.Lock()
	v := r.x.v
	r.seen = r.x.version
	r.x.mu.Unlock()
	r.x.outcome(OpGet, r.seen)
	return v
}

// Changed waits until there is a version that the watcher has not seen, marks it as seen, and returns nil; or
// returns the cause of scope's end.
func (r *Watcher[T]) Changed(scope *Scope) error {
	for {
		w := newWaiter()
		r.x.point(OpRegister)
		r.x.mu.Lock()
		if r.seen != r.x.version {
			r.seen = r.x.version
			r.x.mu.Unlock()
			r.x.outcome(OpRegister, 0)
			return nil
		}
		r.x.q.push(w)
		r.x.mu.Unlock()
		r.x.outcome(OpRegister, 1)
		woken := await(r.x.h, OpWait, w, scope)
		r.x.outcome(OpWait, bit(woken))
		if woken {
			continue // at most once more: the version has changed
		}
		r.x.mu.Lock()
		r.x.q.remove(w)
		r.x.mu.Unlock()
		return scope.cause()
	}
}
