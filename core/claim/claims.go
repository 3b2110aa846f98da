package claim

import (
	"errors"
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Claims (L3) takes claims for one owner: a lane of one incarnation of one replica. An administrative request is no owner of
// its own: it runs on the lane of its instance, under the lane's owner, and the lane keeps it apart from everything else that it runs.
//
// It owns the question "may I advance this instance?" and nothing else. It never waits for a claim: whoever holds one
// may be waiting for the very caller. It never re-enters a claim that names its own owner, and it never leaves one
// behind: a hold ends with the commit, which frees the claim in its own transaction, or by being freed.
//
//	         ┌────────refused: claimed, moved, not running────────┐
//	         │                                                    │
//	(none) ──Take──▶ deciding ──────────────▶ held ──Commit──▶ spent
//	                    │  ▲                   │ │                ▲
//	                    └──┘ outcome unknown   │ └─Commit refused─┤
//	                                           └──────Free────────┘
//
// Invariants
//
//	I1  A claim (instance, epoch) is granted once. While no sweep is early, one holder at most acts on an instance.
//	I2  The epoch of a row rises with every change of its owner, taking and freeing alike, and never falls.
//	I3  A commit happens only while the row carries the whole claim it was prepared under, owner and epoch.
//	I4  The commit frees the claim itself: no state shows a step committed and its claim still held.
//	I5  After a hold ended, however it ended, the row does not carry its claim, as soon as the store answers.
//	I6  An owner names one lane of one incarnation of one replica.
//	I7  A sweep frees the claims that it listed, all of them, and none that was taken since.
//
//	Orders         Take: read the epoch → compare and set → read the instance. Nothing is read before it is ours.
//	Linearization  Take, Commit, Free: the store's commit. A refused Take: its read of the row, or the comparison.
//	Waits          Never for another holder. For the store, Take and Commit within scope, Free for FreeAttempts;
//	               after a lost answer for Backoff.
//	Hot path       One read and one unsynced commit to take; freeing is part of the step's commit.
//
// Spec tla/claim/Claim.tla · Model models/claim.go · Checks TestSimL3*, TestExhaustL3*, TestModelL3*,
// TestLinearL3* · Mutants L3.*
type Claims struct {
	s           sched.Scheduler
	store       store.Claims
	steps       Steps
	owner       store.Owner
	outstanding sched.Cell[int] // holds that have not ended; owned by the owner's one task
}

// Steps is what a hold commits with: a step.Committer of the same owner, and the store to load from.
type Steps interface {
	Load(scope *sched.Scope, c store.Claim) (store.Instance, store.Ticket, error)
	Commit(scope *sched.Scope, st *store.Step) error
}

// ErrClaimed means that somebody holds the claim, or moved it meanwhile. The request is retried by the mechanism that
// brought it: a broker redelivers, a timer is deferred, an administrator is answered 409. It is definite.
var ErrClaimed = fmt.Errorf("claim: instance is claimed: %w", store.ErrConflict)

// Backoff is the pause between two attempts at an answer that got lost, and FreeAttempts bounds them for a Free. What
// could not be freed within them is left to the sweep.
const (
	Backoff      = 10 * time.Millisecond
	FreeAttempts = 100
)

// New returns the claims of owner. The owner must be nobody else's: its incarnation comes from store.Incarnate.
func New(s sched.Scheduler, st store.Claims, steps Steps, owner store.Owner) *Claims {
	if owner.Nobody() {
		panic("claim: nobody cannot take claims")
	}
	c := &Claims{s: s, store: st, steps: steps, owner: owner, outstanding: sched.NewCell(s, "claim/outstanding", 0)}
	s.Own("L3", c, c.checkInvariants)
	return c
}

// Owner returns who takes these claims.
func (c *Claims) Owner() store.Owner { return c.owner }

// With takes the claim of id, calls f with the hold, and ends the hold however f ends: by a commit, an error, without
// a commit, by a panic, with scope ended. It refuses with ErrClaimed, or store.ErrNotFound when there is no
// running instance, without having read anything of it.
func (c *Claims) With(scope *sched.Scope, id store.InstanceID, f func(h *Hold) error) (err error) {
	h, err := c.Take(scope, id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Free()) }()
	return f(h)
}

// Take takes the claim of id. The hold must be ended with Commit or Free. See With, which does it.
func (c *Claims) Take(scope *sched.Scope, id store.InstanceID) (*Hold, error) {
	head, _, err := c.store.Head(scope, id)
	if err != nil {
		return nil, fmt.Errorf("take claim of %q: %w", id, err)
	}
	if !head.Owner.Nobody() {
		return nil, fmt.Errorf("take claim of %q, held by %v since %v: %w", id, head.Owner, head.Since, ErrClaimed)
	}
	c.emit("Ask", c.after(head.Claim))
	taken, _, err := c.store.Take(scope, id, head.Epoch, c.owner)
	switch {
	case err == nil:
		return c.hold(taken), nil
	case errors.Is(err, store.ErrUnknown):
		c.emit("LoseTake", c.after(head.Claim))
		return c.decide(scope, head.Claim)
	}
	c.emit("Refused", c.after(head.Claim))
	if errors.Is(err, store.ErrConflict) {
		err = errors.Join(ErrClaimed, err)
	}
	return nil, fmt.Errorf("take claim of %q: %w", id, err)
}

// decide finds out what became of a Take from the free claim seen. Either the row carries ours, then we hold it; or it
// still carries seen, then the Take is shut out by moving the epoch past it; or it has moved on, and the Take never
// happens. Without a decision by the end of scope the claim may be taken in our name: the sweep frees it.
func (c *Claims) decide(scope *sched.Scope, seen store.Claim) (*Hold, error) {
	ours := c.after(seen)
	for {
		head, _, err := c.store.Head(scope, seen.Instance)
		switch {
		case err == nil && head.Claim == ours:
			return c.hold(ours), nil
		case err == nil && head.Claim != seen:
			c.emit("Lost", ours)
			return nil, fmt.Errorf("take claim of %q, lost to %v: %w", seen.Instance, head.Claim, ErrClaimed)
		}
		c.emit("FenceTake", ours)
		// What becomes of the fence does not matter: the next read tells.
		if _, _, err = c.store.Release(scope, seen); err == nil {
			continue
		}
		if err := c.pause(scope, err); err != nil {
			return nil, fmt.Errorf("take claim of %q: %w: %w", seen.Instance, store.ErrUnknown, err)
		}
	}
}

// pause waits before the next attempt after err. It gives up when the store will not answer again.
func (c *Claims) pause(scope *sched.Scope, err error) error {
	if errors.Is(err, store.ErrHalted) || errors.Is(err, store.ErrClosed) {
		return err
	}
	return c.s.Sleep(scope, "claim/retry", Backoff)
}

func (c *Claims) hold(taken store.Claim) *Hold {
	c.emit("Granted", taken)
	*c.outstanding.Edit()++
	return &Hold{claims: c, claim: taken}
}

// after returns the claim that a take from the free claim seen leads to.
func (c *Claims) after(seen store.Claim) store.Claim {
	return store.Claim{Instance: seen.Instance, Owner: c.owner, Epoch: seen.Epoch + 1}
}

// emit reports an action of the specification under the claim on.
func (c *Claims) emit(action string, on store.Claim) {
	if c.s.Traced() {
		c.s.Emit(c, action, on)
	}
}

// checkInvariants is the owner's own part of I5; the row's part is judged where the rows are.
func (c *Claims) checkInvariants() error {
	if n := *c.outstanding.Peek(); n < 0 {
		return sched.Broken("L3.I5", "%v gave %d holds back twice", c.owner, -n)
	}
	return nil
}

// Outstanding returns the number of holds that have not ended. Between two requests of a lane it is zero.
func (c *Claims) Outstanding() int { return *c.outstanding.View() }
