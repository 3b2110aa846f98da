package claim

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Sweeper (L4) frees the claims of owners that fell silent, for all replicas of a store.
//
// It owns when a claim counts as silent: when this sweeper has seen the very same claim, owner and epoch, for Age by its own
// clock. So the clocks of replicas and of the store need not agree, and an instance that is busy is left alone, however often it
// is found claimed. It never takes a claim, and never decides for the owner: whoever wakes finds itself fenced.
//
//	unseen ──Look──▶ watched ──the same claim after Age──▶ freed
//	                   │  the row has another claim, or none
//	                   └──▶ forgotten
//
// Invariants
//
//	I1  A claim is freed only after it was watched for Age.
//	I2  What is remembered is what the last look has seen, at most MaxWatched.
//
//	Orders         read the claim → Age passes → read the same claim → free exactly it.
//	Linearization  A free: the store's, which compares with what was observed.
//	Waits          Run: between two looks. Look: for the store.
//	Hot path       None: a lane never meets it.
//
// Spec tla/claims · Checks TestSimL4* · Mutants L4.*
type Sweeper struct {
	s       sched.Scheduler
	store   store.Claims
	options SweepOptions
	watched sched.Cell[watchedClaims] // of the one task that looks
}

// SweepOptions of a sweeper. A zero field means its default.
type SweepOptions struct {
	// Age is how long a claim is watched before it is freed. It must exceed the longest step: a shorter one is safe, but makes its
	// victim start over. 10 ms … 24 h. Default 30 s.
	Age time.Duration
	// Poll is the time between two looks. 1 ms … 1 h. Default a quarter of Age.
	Poll time.Duration
}

// MaxWatched bounds the claims that are remembered. One lane holds one claim, so more of them than this are not there.
const MaxWatched = 100_000

// Validate returns every field that is out of its range, joined.
func (o SweepOptions) Validate() error {
	o = o.withDefaults()
	var faults []error
	if o.Age < 10*time.Millisecond || o.Age > 24*time.Hour {
		faults = append(faults, fmt.Errorf("sweep option Age: %v is not in 10ms … 24h", o.Age))
	}
	if o.Poll < time.Millisecond || o.Poll > time.Hour {
		faults = append(faults, fmt.Errorf("sweep option Poll: %v is not in 1ms … 1h", o.Poll))
	}
	return errors.Join(faults...)
}

func (o SweepOptions) withDefaults() SweepOptions {
	if o.Age == 0 {
		o.Age = 30 * time.Second
	}
	if o.Poll == 0 {
		o.Poll = o.Age / 4
	}
	return o
}

// watchedClaims are in the order of their instances, as the store lists them.
type watchedClaims struct {
	list  []watchedClaim
	early error // the first claim that was freed before its time
}

type watchedClaim struct {
	claim store.Claim
	since time.Time // when this sweeper saw it first
}

// NewSweeper returns a sweeper over st. Run starts it.
func NewSweeper(s sched.Scheduler, o SweepOptions, st store.Claims) (*Sweeper, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("make claim sweeper: %w", err)
	}
	w := &Sweeper{s: s, store: st, options: o.withDefaults(), watched: sched.NewCell(s, "claim/watched", watchedClaims{})}
	s.Own("L4", w, w.checkInvariants)
	return w, nil
}

// Run looks again and again until scope ends, whenever may says so; nil always does. A store that does not answer is asked again.
func (w *Sweeper) Run(scope *sched.Scope, may func() bool) {
	for {
		if may == nil || may() {
			_, _ = w.Look(scope) // what could not be read or freed now is there at the next look
		}
		if w.s.Sleep(scope, "claim/sweep", w.options.Poll) != nil {
			return
		}
	}
}

// Look reads all claims, frees those that have been watched for Age, and returns how many it freed.
func (w *Sweeper) Look(scope *sched.Scope) (int, error) {
	heads, err := w.claimed(scope)
	if err != nil {
		return 0, fmt.Errorf("sweep claims: %w", err)
	}
	silent := w.watch(heads)
	freed := 0
	for _, c := range silent {
		done, _, err := w.store.Release(scope, c)
		if err != nil {
			return freed, fmt.Errorf("sweep %v: %w", c, err) // the next look watches it anew
		}
		if done {
			freed++
		}
	}
	return freed, nil
}

// watch takes note of what a look has read, and returns the claims that have been silent for Age.
func (w *Sweeper) watch(heads []store.Head) (silent []store.Claim) {
	now, book := w.s.Now(), w.watched.Edit()
	before := make(map[store.Claim]time.Time, len(book.list)) // only looked up
	for _, x := range book.list {
		before[x.claim] = x.since
	}
	book.list = book.list[:0:0]
	for _, h := range heads {
		since, known := before[h.Claim]
		if !known {
			since = now
		}
		if now.Sub(since) < w.options.Age {
			book.list = append(book.list, watchedClaim{h.Claim, since})
			continue
		}
		if !known {
			book.early = sched.Broken("L4.I1", "%v is freed when it is seen first", h.Claim)
		}
		if w.s.Traced() {
			w.s.Emit(nil, "Sweep", h.Claim)
		}
		silent = append(silent, h.Claim)
	}
	return silent
}

// claimed lists every claimed row, up to MaxWatched.
func (w *Sweeper) claimed(scope *sched.Scope) ([]store.Head, error) {
	var all []store.Head
	after := store.InstanceID("")
	for len(all) < MaxWatched {
		page, _, err := w.store.Claimed(scope, after, sweepPage)
		if err != nil {
			return nil, err
		}
		for _, h := range page {
			if !strings.HasPrefix(string(h.Instance), RolePrefix) { // roles have leases, with a time of their own
				all = append(all, h)
			}
		}
		if len(page) < sweepPage {
			break
		}
		after = page[len(page)-1].Instance
	}
	return all, nil
}

func (w *Sweeper) checkInvariants() error {
	book := w.watched.Peek()
	if len(book.list) > MaxWatched+sweepPage {
		return sched.Broken("L4.I2", "%d claims are watched", len(book.list))
	}
	return book.early
}
