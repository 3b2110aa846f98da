package store

import (
	"fmt"
	"time"
)

// InstanceID names one instance of a flow for its whole life. The id of a spawned instance is a function of
// (channel, delivery id), so that two attempts at one delivery name the same row.
type InstanceID string

// Owner is who may hold a claim: one lane of one incarnation of one replica. The zero Owner is nobody. Incarnations
// come from [Store.Incarnate] and are never reused, so an owner that came back is a different owner.
type Owner struct {
	Replica     string
	Lane        uint32
	Incarnation uint64
}

// Nobody reports whether o is the zero Owner, the owner of an unclaimed row.
func (o Owner) Nobody() bool { return o == Owner{} }

// String shows the owner as replica/lane#incarnation.
func (o Owner) String() string {
	if o.Nobody() {
		return "nobody"
	}
	return fmt.Sprintf("%s/%d#%d", o.Replica, o.Lane, o.Incarnation)
}

// Epoch counts the changes of a row's owner. Taking a claim and freeing it both raise it; it never falls, but for
// commits that a crash took back. An absent row has epoch 0.
type Epoch uint64

// Claim is one state of the claim on an instance: who owns it, since which epoch. With an Owner it is the right to
// advance the instance; with Nobody it is what an observer saw of an unclaimed row.
type Claim struct {
	Instance InstanceID
	Owner    Owner
	Epoch    Epoch
}

// String shows the claim as instance@owner:epoch.
func (c Claim) String() string { return fmt.Sprintf("%s@%v:%d", c.Instance, c.Owner, c.Epoch) }

// Ticket is a position in the store's commit order. It covers every commit up to it. Zero covers none and is
// always durable. Tickets of different stores, or of different incarnations of one, are unrelated.
type Ticket uint64

// Status is what an instance row stands for.
type Status uint8

// The statuses of a row. Running includes parked: the store does not tell them apart, the open waits do.
const (
	Absent    Status = iota // no row
	Void                    // a fenced spawn; the row only carries the epoch
	Running                 // the flow has not ended
	Completed               // ended as modelled
	Failed                  // ended by an incident or an administrator
)

var statusNames = [...]string{"absent", "void", "running", "completed", "failed"}

// String returns the status in lower case.
func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status(%d)", uint8(s))
}

// Terminal reports whether the instance has ended.
func (s Status) Terminal() bool { return s == Completed || s == Failed }

// Head is what may be read of an instance without holding its claim.
type Head struct {
	Claim
	Status Status
	Since  time.Time // when the claim was taken, by the store's clock; zero when nobody owns it
	Result []byte    // what a terminal instance answers
}

// Instance is everything the store keeps of an instance. Only the holder of its claim reads it.
type Instance struct {
	Head
	Deployment string // content hash of the deployment that the instance is pinned to
	Flow       string
	Snapshot   []byte
	Generation uint64 // highest wait generation ever opened
	Emitted    uint64 // emissions ever written to the outbox
	Waits      []Wait // open waits, by generation
}

// Wait is one thing that an instance is parked for. Its generation is never reused within the instance. With a
// Channel and Key it is a correlation target: the alias row (channel, key) → (instance, generation) lives exactly
// as long as the wait. With a Due time the same holds for its timer.
type Wait struct {
	Generation uint64
	Element    string    // id of the model element
	Channel    string    // empty: not correlated
	Key        string    // correlation key; only with Channel
	Due        time.Time // zero: no timer
	Data       []byte    // what the flow engine keeps with the wait
}

// Alias is the row that a correlation key resolves to.
type Alias struct {
	Channel    string
	Key        string
	Instance   InstanceID
	Generation uint64
}

// Timer is the due row of one wait.
type Timer struct {
	Due        time.Time
	Instance   InstanceID
	Generation uint64
}

// Delivery names one message on one channel. It takes effect at most once.
type Delivery struct {
	Channel string
	ID      string
}

// Receipt is what the inbox remembers of a delivery that took effect.
type Receipt struct {
	Delivery
	Cause    string
	Instance InstanceID
	Reply    []byte    // what a duplicate is answered
	Expires  time.Time // zero: kept for ever
}

// Record says that a step committed. It outlives the instance row, and is what an unknown outcome is decided by:
// (cause, instance, owner, epoch) with the owner and the epoch that the step's claim asserted.
type Record struct {
	Cause string
	Claim
}

// Emission is one outbox row. Its id (instance, sequence) is the same in every attempt to send it; sequences of an
// instance rise in commit order without gaps.
type Emission struct {
	Instance InstanceID
	Sequence uint64
	Target   string // relay or channel name
	Payload  []byte

	// Until is when the reservation of who has it ends, by its own clock; zero without one. The store neither keeps nor returns it.
	Until time.Time
}

// Row is one small row in a named space: a deduplicator's key, a file's committed length.
type Row struct {
	Space   string
	Key     string
	Value   []byte
	Expires time.Time // zero: kept for ever
	Delete  bool      // the row is removed instead
}

// Pin says what a running instance is pinned to.
type Pin struct {
	Instance   InstanceID
	Deployment string
	Flow       string
}

// Step is one transaction of L6. All of it commits, or nothing of it.
//
// A commit releases the claim and raises the epoch; a step that goes on takes a new claim. Within the transaction
// the claim, the inbox key and every generation are asserted first; waits are closed
// before others are opened, so that a step may move a correlation key from one wait to the next.
type Step struct {
	// Cause identifies what made the step run: a delivery, a timer's wait, an outbox row, an administrative request.
	Cause string
	// Claim must be held. With Spawn its Owner is only recorded, and its Epoch is that of the absent (0) or void row
	// that the attempt has read.
	Claim Claim
	Spawn bool

	Status     Status // Running, Completed or Failed; a terminal status closes every wait
	Deployment string // written by a spawn; pinned afterwards
	Flow       string
	Snapshot   []byte
	Result     []byte

	Close []uint64 // generations; closing one that is not open is ErrConflict
	Open  []Wait   // generations above Instance.Generation, rising

	// Expect is a row that must have this very value, or ErrSuperseded: what the step rests on beyond its instance. Nil: nothing.
	Expect *Row

	Inbox  *Receipt   // with a Delivery; Cause and Instance are filled in
	Outbox []Emission // Target and Payload; the commit numbers them
	Rows   []Row

	// Forget removes the records of earlier steps of the same owner that have been decided.
	Forget []Record
}

// Record returns the record that the step writes.
func (s *Step) Record() Record { return Record{Cause: s.Cause, Claim: s.Claim} }
