package store

import (
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

// Store keeps the state of a node. All methods may be called by any number of tasks. Each is one point in the
// store's order, may wait for the store (its latency, a sync) and ends early with the cause of scope only where it
// says so; a nil scope never ends. Results belong to the caller; arguments are not retained.
//
// Reads see every commit that is visible, durable or not, and return a ticket that covers what they saw. Writes
// return a ticket that covers them; but for Commit and Write they may return before they are durable.
type Store interface {
	Claims
	Steps
	Reads
	Outbox
	Reserver
	Spaces

	// Incarnate returns a number that no other call returns, in this life of the store or any other, and that is
	// durable. An owner that starts takes one.
	Incarnate(scope *sched.Scope) (uint64, error)

	// WaitDurable returns nil when everything that t covers is durable: when a sync that began after the last of
	// it succeeded. The error wraps the cause of scope's end, or ErrHalted; then nothing may leave the node that
	// rests on what t covers.
	WaitDurable(scope *sched.Scope, t Ticket) error

	// Visible returns a ticket that covers every commit visible now. A reply that rests on the absence of
	// something waits for it.
	Visible() Ticket

	// Close ends the store; operations that begin later are refused with ErrClosed.
	Close() error
}

// Claims is the part of a store that moves the claim of a row. Package claim (L3) is its only user but for the
// fences of package step.
type Claims interface {
	// Head reads the claim, the status and the result of a row; an absent row has status Absent and epoch 0.
	Head(scope *sched.Scope, id InstanceID) (Head, Ticket, error)

	// Take compares (nobody, seen) and sets (me, seen+1). ErrConflict: the row is claimed or its epoch is another;
	// ErrNotFound: there is no running row. It reads nothing else of the instance.
	Take(scope *sched.Scope, id InstanceID, seen Epoch, me Owner) (Claim, Ticket, error)

	// Renew compares the row's claim with c and sets (c.Owner, c.Epoch+1): its owner shows that it lives. ErrConflict: the
	// row carries another claim; ErrInvalid: c is nobody's. It is for what is held for long, a role: a step takes and commits.
	Renew(scope *sched.Scope, c Claim) (Claim, Ticket, error)

	// Release compares the row's claim with c and sets (nobody, c.Epoch+1); it reports whether the row was still
	// so. It is how a claim is freed, how the sweep frees what it observed, and how an undecided transaction is
	// fenced: with c of an absent row it writes a void row. Repeating it is harmless.
	Release(scope *sched.Scope, c Claim) (bool, Ticket, error)

	// Claimed lists the heads of claimed rows by id, after the given one, at most limit.
	Claimed(scope *sched.Scope, after InstanceID, limit int) ([]Head, Ticket, error)
}

// Steps is the part of a store that commits and decides steps (L6).
type Steps interface {
	// Load reads the whole instance under its claim. ErrFenced: the row's claim is not c any more.
	Load(scope *sched.Scope, c Claim) (Instance, Ticket, error)

	// Commit applies the step and returns when it is durable. Definite refusals: ErrFenced, ErrDuplicate (the
	// inbox key exists, or the instance to spawn does), ErrAlias, ErrConflict (a wait to close is not open),
	// ErrInvalid. ErrUnknown must be decided before its owner does anything else.
	Commit(scope *sched.Scope, s *Step) (Ticket, error)

	// Recorded reports whether the record exists, in exactly this form.
	Recorded(scope *sched.Scope, r Record) (bool, Ticket, error)

	// Vacate makes void the terminal row of an instance whose delivery the inbox has forgotten, at the next epoch, which it
	// returns: the delivery may start the instance anew there. Epochs and the numbers of emissions go on, so that nothing of
	// the old life stands for something of the new one. ErrConflict when the row has not ended, is claimed, or the inbox
	// remembers the delivery: then somebody has just started it anew.
	Vacate(scope *sched.Scope, id InstanceID, forgotten Delivery) (Epoch, Ticket, error)

	// Collect removes a terminal row that nobody owns and whose emissions have all left the outbox, and leaves its
	// records. ErrConflict when it is not so.
	Collect(scope *sched.Scope, id InstanceID) (Ticket, error)
}

// Groups is implemented by stores that commit steps of different instances in one transaction.
type Groups interface {
	// CommitAll applies all steps, each by the rules of Commit, and returns when they are durable; or none of them: any
	// member that is refused aborts the whole. After a definite error every member may be committed again, by itself, under
	// the claim it has; the error need not say whose fault it was. ErrUnknown must be decided for each member.
	CommitAll(scope *sched.Scope, steps []*Step) (Ticket, error)
}

// MaxGroup is how many steps one transaction takes at most.
const MaxGroup = 256

// Reads is the part of a store that routing, correlation, the inbox and the timers read. None needs a claim, so
// what they return is a hint until it was revalidated under one.
type Reads interface {
	// Resolve returns the alias row of a correlation key, or ErrNotFound with a ticket that covers the absence.
	Resolve(scope *sched.Scope, channel, key string) (Alias, Ticket, error)

	// Receipt returns what the inbox remembers of a delivery, or ErrNotFound with a ticket.
	Receipt(scope *sched.Scope, d Delivery) (Receipt, Ticket, error)

	// Pins lists running instances and their deployments by instance, after the given one, at most limit.
	Pins(scope *sched.Scope, after InstanceID, limit int) ([]Pin, Ticket, error)

	// PinOf returns what an instance is pinned to, ended or not, or ErrNotFound.
	PinOf(scope *sched.Scope, id InstanceID) (Pin, Ticket, error)

	// Heads lists the heads of all rows by id, after the given one, at most limit. Results are left out.
	Heads(scope *sched.Scope, after InstanceID, limit int) ([]Head, Ticket, error)

	// Timers lists timers after the given one with Due at or before until, by (due, instance, generation), at
	// most limit.
	Timers(scope *sched.Scope, after Timer, until time.Time, limit int) ([]Timer, Ticket, error)
}

// Outbox is the part of a store that the sender of emissions uses (L11).
type Outbox interface {
	// Emissions lists outbox rows after (instance, sequence) by instance and sequence: an instance's rows in
	// commit order. At most limit.
	Emissions(scope *sched.Scope, after Emission, limit int) ([]Emission, Ticket, error)

	// Delivered removes outbox rows that have been sent. Rows that are gone already do not matter.
	Delivered(scope *sched.Scope, sent []Emission) (Ticket, error)
}

// Spaces is the part of a store for the commit points of the record plane.
type Spaces interface {
	// Write applies all rows in one atomic commit and returns when it is durable.
	Write(scope *sched.Scope, rows []Row) (Ticket, error)

	// WriteIf is Write when the row that expect names has its very value, or with expect.Delete is absent. ErrSuperseded:
	// it is not so, and nothing was written.
	WriteIf(scope *sched.Scope, expect Row, rows []Row) (Ticket, error)

	// Row returns one row, or ErrNotFound with a ticket. An expired row is there until it is removed.
	Row(scope *sched.Scope, space, key string) (Row, Ticket, error)

	// Rows lists rows of a space by key, after the given one, at most limit.
	Rows(scope *sched.Scope, space, after string, limit int) ([]Row, Ticket, error)

	// Expire removes rows of a space that expired at or before now, oldest first, at most limit, and returns how
	// many entries it took; the space InboxSpace holds the receipts.
	Expire(scope *sched.Scope, space string, now time.Time, limit int) (int, Ticket, error)
}

// Reserver is the part of a store that keeps replicas apart. A reservation keeps replicas from working on the same rows and is no right to
// them: a crash of the store may lose it, it ends with its time whatever became of its holder, and what a row stands for is decided by
// the claim of its instance. Reserving never waits for anybody: a row that somebody is writing is left out.
type Reserver interface {
	// Reserve returns rows of a space by key, up to the key until, that nobody has reserved, at most limit, and reserves each for a time:
	// until it is over no other call returns the row.
	Reserve(scope *sched.Scope, space, until string, hold time.Duration, limit int) ([]Row, Ticket, error)

	// ReserveTimers lists what Timers lists, without what a replica other than by has reserved, and reserves it for by: for hold, by the
	// store's clock, or what is left of it but at least half. A reservation goes with its row.
	ReserveTimers(scope *sched.Scope, by string, after Timer, until time.Time, hold time.Duration, limit int) ([]Timer, Ticket, error)

	// ReserveEmissions does the same with the outbox rows of instances behind one, and returns the first rows of their list. What is
	// reserved is the first row of an instance, and with it those behind: an instance is with one replica at a time.
	ReserveEmissions(scope *sched.Scope, by string, after InstanceID, hold time.Duration, limit int) ([]Emission, Ticket, error)

	// GiveBack ends the reservations of timers that are due and of emissions that by has.
	GiveBack(scope *sched.Scope, by string) error
}

// InboxSpace is the space whose rows are the receipts of the inbox. Only Expire accepts it.
const InboxSpace = "inbox"

// The points are the names that adapters pass to a failpoint hook, in the order in which a commit reaches
// them. The crash command kills the process there.
const (
	PointBeforeApply = "store/before-apply" // asserted, nothing written
	PointAfterApply  = "store/after-apply"  // visible, not durable
	PointAfterSync   = "store/after-sync"   // durable, the caller does not know
)
