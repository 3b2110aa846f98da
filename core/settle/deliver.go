package settle

import (
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Answer is what a delivery is told: the end of its instance, or, with Entry, that it must wait for it.
type Answer struct {
	End   End
	Entry *Entry
}

// Read returns the end of an instance, if it has ended, once that is durable.
type Read func(scope *sched.Scope) (end End, terminal bool, err error)

// Commit runs the commit of a delivery's step between registering and arming. commit returns the end when the step itself ended
// the instance. An error of commit is returned as it is, and leaves no entry; ErrFull and ErrClosing refuse before the
// commit. commit must not return before its outcome is decided, or undecidable.
func (r *Registry) Commit(id store.InstanceID, commit func() (end End, terminal bool, err error)) (Answer, error) {
	e, err := r.Register(id)
	if err != nil {
		return Answer{}, fmt.Errorf("hold a delivery for instance %s: %w", id, err)
	}
	defer r.Drop(e) // does nothing to an entry that was armed
	end, terminal, err := commit()
	if err == nil {
		r.emit("Commit", e)
	}
	return r.told(e, end, terminal, err)
}

// Duplicate answers a delivery that took effect before, from durable terminal state.
func (r *Registry) Duplicate(scope *sched.Scope, id store.InstanceID, read Read) (Answer, error) {
	e, err := r.Register(id)
	if err != nil {
		return Answer{}, fmt.Errorf("hold a duplicate for instance %s: %w", id, err)
	}
	defer r.Drop(e)
	end, terminal, err := read(scope)
	r.emit("Read", e, err == nil && terminal)
	return r.told(e, end, terminal, err)
}

// told is the end of both: only an entry whose delivery took effect, and whose instance goes on, is armed.
func (r *Registry) told(e *Entry, end End, terminal bool, err error) (Answer, error) {
	if err != nil || terminal {
		return Answer{End: end}, err
	}
	r.Arm(e)
	return Answer{Entry: e}, nil
}

// Patience bounds a wait for the end of an instance.
type Patience struct {
	Timeout time.Duration // until the delivery is given back
	Poll    time.Duration // between two comparisons with durable state
}

// Await waits for the end of an instance that a delivery was told to wait for. It compares the entry with durable state from time
// to time, because the instance may end where this node does not notice. An error says that the delivery was not
// settled: ErrTimeout, ErrEvicted, ErrClosing, or the cause of scope. It is called once for an entry.
func (r *Registry) Await(scope *sched.Scope, e *Entry, p Patience, read Read) (End, error) {
	patience := scope.ChildTimeout("settlement", p.Timeout)
	defer patience.Close()
	for {
		if o, err := look(patience, e, p.Poll); err == nil {
			return o.end, o.refused
		}
		if why := patience.Err(); why != nil {
			r.take(e, outcome{refused: fmt.Errorf("%w: %w", ErrTimeout, why)})
			o, ok := e.outcome.Get() // of whoever was first
			if !ok {
				panic(fmt.Sprintf("settle: a wait for the end of instance %s without an armed entry", e.instance))
			}
			return o.end, o.refused
		}
		if end, terminal, err := read(patience); err == nil && terminal {
			r.take(e, outcome{end: end})
		}
	}
}

// Compare compares every armed entry with durable state, one after the other: somewhere else instances have ended. Each is settled by Await
// otherwise, when it compares by itself.
func (r *Registry) Compare(scope *sched.Scope, read func(*sched.Scope, store.InstanceID) (end End, terminal bool, err error)) {
	for _, e := range r.armed() {
		if scope.Err() != nil {
			return
		}
		if end, terminal, err := read(scope, e.instance); err == nil && terminal {
			r.take(e, outcome{end: end})
		}
	}
}

// armed returns the entries that may be settled, oldest first.
func (r *Registry) armed() (all []*Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for e := r.book.View().first; e != nil; e = e.next {
		if e.state == armed {
			all = append(all, e)
		}
	}
	return all
}

// look waits for the outcome until the next comparison is due.
func look(patience *sched.Scope, e *Entry, poll time.Duration) (outcome, error) {
	if o, ok := e.outcome.Get(); ok {
		return o, nil
	}
	turn := patience.ChildTimeout("settlement poll", poll)
	defer turn.Close()
	return e.outcome.Wait(turn)
}
