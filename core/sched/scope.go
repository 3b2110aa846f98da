package sched

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrCanceled is the cause of a scope that was cancelled without one.
var ErrCanceled = errors.New("scope canceled")

// ErrTimeout is the cause of a scope whose time is over.
var ErrTimeout = errors.New("scope timed out")

// Scope bounds waits and joins tasks. Every task is started in a scope; whoever opened a scope closes
// it, which ends its waits and returns when its tasks have ended. Scopes form a tree: the end of one ends those
// below, and a task counts in its scope and in all above it.
//
//	open ──Cancel, timeout, parent's end──▶ ended ──Join: last task ends──▶ joined
type Scope struct {
	s     Scheduler
	h     *Hook
	name  string
	up    *Scope
	tasks WaitGroup
	done  chan struct{}

	mu          sync.Mutex // guards the rest; taken from the top of the tree downwards
	why         error
	first       *Scope // children, in order of creation
	next, prev  *Scope // siblings
	last        *Scope
	clock       *time.Timer // nil without a timeout or under a backend
	timed       bool
	hasDeadline bool
	deadline    time.Time
}

// NewScope returns an open scope at the top of a tree.
func (s Scheduler) NewScope(name string) *Scope {
	return &Scope{s: s, name: name, h: s.object(KindScope, name, 0), tasks: NewWaitGroup(s, name), done: make(chan struct{})}
}

// Child returns an open scope below c; it has ended already when c has.
func (c *Scope) Child(name string) *Scope {
	k := c.s.NewScope(name)
	k.up = c
	if c.h != nil {
		c.h.B.Point(c.h, OpRegister)
	}
	c.mu.Lock()
	why := c.why
	if why == nil {
		c.adopt(k)
	}
	c.mu.Unlock()
	if c.h != nil {
		c.h.B.Outcome(c.h, OpRegister, bit(why == nil)) // a late child is ordered after what ended its parent
	}
	if why != nil {
		k.end(why)
	}
	return k
}

// ChildTimeout returns a child that ends with ErrTimeout after d.
func (c *Scope) ChildTimeout(name string, d time.Duration) *Scope {
	k := c.Child(name)
	k.deadline, k.hasDeadline, k.timed = c.s.Now().Add(d), true, true
	if k.h != nil {
		k.h.B.Timer(k.h, d, func() { k.end(ErrTimeout) })
		return k
	}
	k.mu.Lock()
	k.clock = time.AfterFunc(d, func() { k.end(ErrTimeout) })
	k.mu.Unlock()
	return k
}

func (c *Scope) adopt(k *Scope) {
	k.prev = c.last
	if c.last == nil {
		c.first = k
	} else {
		c.last.next = k
	}
	c.last = k
}

func (c *Scope) disown(k *Scope) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.prev == nil && c.first != k {
		return // never adopted, or disowned before
	}
	if c.h != nil {
		// Which of them comes first, this or the end of c, decides whether k ends with it.
		c.h.B.Outcome(c.h, OpGet, bit(c.why != nil))
	}
	if k.prev == nil {
		c.first = k.next
	} else {
		k.prev.next = k.next
	}
	if k.next == nil {
		c.last = k.prev
	} else {
		k.next.prev = k.prev
	}
	k.next, k.prev = nil, nil
}

// Cancel ends the scope and those below. The first end decides the cause; nil means ErrCanceled.
func (c *Scope) Cancel(cause error) {
	if c.h != nil {
		c.h.B.Point(c.h, OpCancel)
	}
	if cause == nil {
		cause = ErrCanceled
	}
	if !c.end(cause) && c.h != nil {
		c.h.B.Outcome(c.h, OpCancel, 0)
	}
}

// end reports whether the scope was still open. It is one step: nobody sees a parent ended and its child open.
func (c *Scope) end(cause error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why != nil {
		return false
	}
	c.why = cause
	close(c.done)
	if c.h != nil {
		c.h.B.Outcome(c.h, OpCancel, 1)
	}
	for k := c.first; k != nil; k = k.next {
		if !k.end(cause) && k.h != nil {
			k.h.B.Outcome(k.h, OpCancel, 0) // a search must know that it would have ended here
		}
	}
	return true
}

// Done is the alternative "the scope has ended". A nil scope never ends.
func (c *Scope) Done() Case[struct{}] {
	if c == nil {
		return Case[struct{}]{}
	}
	return Case[struct{}]{h: c.h, op: OpDone, recv: c.done}
}

// Err returns the cause when the scope has ended, else nil.
func (c *Scope) Err() error {
	if c == nil {
		return nil
	}
	if c.h == nil {
		select { // the cause is set before done is closed
		case <-c.done:
			return c.cause()
		default:
			return nil
		}
	}
	c.h.B.Point(c.h, OpGet)
	why := c.cause()
	c.h.B.Outcome(c.h, OpGet, bit(why != nil))
	return why
}

// cause returns the cause without announcing a read.
func (c *Scope) cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// Join returns when every task that was started in the scope, or below, has ended.
func (c *Scope) Join() { c.tasks.Wait() }

// Close cancels the scope, joins its tasks and forgets it. A second Close does nothing more.
func (c *Scope) Close() {
	c.Cancel(nil)
	c.Join()
	c.stopClock()
	if c.up != nil {
		c.up.disown(c)
	}
}

func (c *Scope) stopClock() {
	if !c.timed {
		return
	}
	if c.h != nil {
		c.h.B.StopTimer(c.h)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock.Stop()
}

// Name returns the name given at creation.
func (c *Scope) Name() string { return c.name }

// Context returns the scope as a context, for the libraries of edge packages.
func (c *Scope) Context() context.Context { return scopeContext{c} }

type scopeContext struct{ c *Scope }

func (x scopeContext) Deadline() (time.Time, bool) { return x.c.deadline, x.c.hasDeadline }
func (x scopeContext) Done() <-chan struct{}       { return x.c.done }
func (x scopeContext) Value(any) any               { return nil }

func (x scopeContext) Err() error {
	switch why := x.c.cause(); {
	case why == nil:
		return nil
	case errors.Is(why, ErrTimeout):
		return context.DeadlineExceeded
	default:
		return context.Canceled
	}
}

// Go starts a task in scope, which joins it. The name shows up in traces and stack dumps.
func (s Scheduler) Go(scope *Scope, name string, f func()) {
	for c := scope; c != nil; c = c.up {
		c.tasks.change(1)
	}
	if s.b == nil {
		go scope.run(f)
		return
	}
	s.b.Go(scope.h, name, func() { scope.run(f) })
}

func (c *Scope) run(f func()) {
	defer c.left()
	f()
}

func (c *Scope) left() {
	for ; c != nil; c = c.up {
		c.tasks.change(-1)
	}
}
