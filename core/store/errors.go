package store

import "errors"

// The ways an operation ends other than well. All but ErrUnknown and ErrHalted are definite: the operation had no
// effect and will have none.
var (
	// ErrConflict: the row is not what the operation asserts, for example claimed by somebody else.
	ErrConflict = errors.New("store: row is not in the asserted state")
	// ErrFenced: the claim that the operation rests on is no longer held.
	ErrFenced = errors.New("store: claim is fenced")
	// ErrDuplicate: the delivery has taken effect already, or the instance to spawn exists.
	ErrDuplicate = errors.New("store: delivery already took effect")
	// ErrAlias: the step binds a correlation key that an open wait holds.
	ErrAlias = errors.New("store: correlation key is held by another wait")
	// ErrSuperseded: a row that the operation rests on has another value by now.
	ErrSuperseded = errors.New("store: superseded")
	// ErrNotFound: there is no such row.
	ErrNotFound = errors.New("store: not found")
	// ErrInvalid: the arguments break a rule of this package; the text names the field.
	ErrInvalid = errors.New("store: invalid argument")
	// ErrUnavailable: the operation was not attempted (an injected failure, a lost connection before the send).
	ErrUnavailable = errors.New("store: unavailable")
	// ErrClosed: the store was closed before the operation began.
	ErrClosed = errors.New("store: closed")
	// ErrUnknown: the outcome is unknown. Package step decides it.
	ErrUnknown = errors.New("store: outcome unknown")
	// ErrHalted: the write-ahead log failed. The store acknowledges nothing any more; only a restart of the node
	// can tell what is durable. An operation that was under way when it failed reports ErrUnknown too.
	ErrHalted = errors.New("store: halted after a write-ahead log error")
)

// Definite reports whether err says for certain that the operation had no effect and will have none. A nil
// error is not definite failure.
func Definite(err error) bool {
	return err != nil && !errors.Is(err, ErrUnknown)
}
