package step

import (
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Engine is an ordered map of bytes with atomic commits, the part of a store that differs between the simulated and
// the embedded one. Keys compare as bytes.
//
// Errors follow the package's rule: an error that wraps [store.ErrUnknown] leaves open whether the commit happens,
// every other means that it does not. An error of f itself is returned as it is.
type Engine interface {
	// Glance is View for a few reads by key. An engine may keep everybody else waiting until f returns.
	Glance(scope *sched.Scope, name string, f func(Reader) error) (store.Ticket, error)

	// View calls f with one consistent view of all visible commits, and returns a ticket that covers them.
	View(scope *sched.Scope, name string, f func(View) error) (store.Ticket, error)

	// Update calls f alone: from its first read to the commit of its writes nothing else commits. f reads the
	// state before its own writes. When f fails nothing is written, and the ticket covers what it read. With
	// durable Update returns after the commit is synced, else as soon as it is visible. f is called at most
	// once; an engine that loses the outcome may call it after Update returned.
	Update(scope *sched.Scope, name string, durable bool, f func(Tx) error) (store.Ticket, error)

	// WaitDurable, Visible and Close are those of [store.Store].
	WaitDurable(scope *sched.Scope, t store.Ticket) error
	Visible() store.Ticket
	Close() error

	// Now is the time that claims are stamped with.
	Now() time.Time
}

// Reader reads one consistent state by key.
type Reader interface {
	// Get returns the value of key and whether there is one. The value is valid until the function that was
	// given the Reader returns, which must not change it.
	Get(key []byte) ([]byte, bool, error)
}

// View reads one consistent state.
type View interface {
	Reader
	// Scan calls f for each key in [lower, upper), ascending, until f returns false or an error.
	Scan(lower, upper []byte, f func(key, value []byte) (bool, error)) error
}

// Tracer is a Tx of an engine that reports the actions of a specification which a transaction takes, at the moment when
// its writes become visible. An engine that nobody listens to need not be one.
type Tracer interface {
	Emit(action string, args ...any)
}

// Tx is a view with writes. Later writes of one key win; they may not be read back. The engine copies its arguments.
type Tx interface {
	View
	Set(key, value []byte)
	Delete(key []byte)

	// Hold is Set of a row that nobody needs after everybody who uses the engine has gone: an engine that one process uses at a
	// time may keep it in memory, and after a crash what was there before it may be back. Drop is Delete of a row that was only
	// ever held. One transaction does not hold and set one key.
	Hold(key, value []byte)
	Drop(key []byte)
}
