package relay

import (
	"errors"

	"github.com/millrace-dev/millrace/core/ack"
)

// ErrFenced means that a sync or a commit left open what is durable. Nothing is written or acknowledged any more;
// only a restart of the node can tell.
var ErrFenced = errors.New("relay: commit point fenced")

// MaxUnitRows is the largest number of store rows of one unit.
const MaxUnitRows = 4096

// Unit collects what a commit point writes when every share of a batch has been acknowledged. Package sink has it.
type Unit interface {
	// Stage adds data to be appended to the file. It does not wait, and may be called by several consumers at once,
	// each before it acknowledges its share. data must not be changed afterwards.
	Stage(file int, data []byte)
}

// PendingUnit is a unit in the hands of who began it: the receiver of the tree that it waits for.
type PendingUnit interface {
	Unit
	ack.Receiver
}

// Settler learns what became of a unit.
type Settler interface {
	// Settled is called once: with nil when the unit is durable, with an error that wraps ErrFenced when nobody
	// can know, else with the cause for which nothing of it happened. It must not wait.
	Settled(err error)
}
