package engine

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/millrace-dev/millrace/core/claim"
	"github.com/millrace-dev/millrace/core/correlate"
	"github.com/millrace-dev/millrace/core/deploy"
	"github.com/millrace-dev/millrace/core/inbox"
	"github.com/millrace-dev/millrace/core/lane"
	"github.com/millrace-dev/millrace/core/mail"
	"github.com/millrace-dev/millrace/core/outbox"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/settle"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/core/task"
	"github.com/millrace-dev/millrace/core/timer"
)

// Engine is a running execution plane (L13), and with others over one store a replica of it (L17). Its methods may be called by any
// number of tasks.
//
// Checks TestSimL13*, TestDeadlockL13*, TestSimL17* · Mutants L13.*, L17.*
type Engine struct {
	s        sched.Scheduler
	options  Options
	store    store.Store
	hinter   store.Hinter // nil: there is none, or nobody to tell
	handlers map[string]Handler
	compile  func(deployment string, source []byte) (Package, error)

	flip       *deploy.Flip[*definitions]
	routed     sched.Publication[routes] // of the view that somebody saw last
	changed    sched.Notify              // the deployments changed, or drained was raised
	drained    sched.Bool                // something of a deployment that drains has ended since it was looked at
	following  sched.Semaphore           // one task follows another replica
	ends       sched.Notify              // other replicas say that instances have ended
	router     *lane.Router[*request, reply]
	lanes      []*laneState
	inbox      *inbox.Inbox
	correlator *correlate.Correlator
	timers     *timer.Timers
	outbox     *outbox.Sender
	horizon    *outbox.Horizon // of the task that calls Forgettable
	sendOut    outbox.Send     // what does not go to other instances
	fits       func(target string, payload []byte) error
	settlement *settle.Registry
	sweeping   *claim.Lease   // of a shared store: who runs the sweeper
	sweeper    *claim.Sweeper // of a shared store: the claims of replicas that died
	board      *task.Board
	box        *mail.Box

	// work joins the lanes' loops; around joins the timers and the sender, which bring work.
	work, around *sched.Scope
	// leases joins the lease of the role, which ends after what works under it.
	leases *sched.Scope
}

// laneState is what one lane works with. Only its own task touches it.
type laneState struct {
	id        int
	owner     store.Owner
	claims    *claim.Claims
	committer *step.Committer
	respawns  int // messages kept so far

	// The view that the last step rested on, as the store has it: it is the same for most.
	expected *view
	row      *store.Row
}

// New puts an engine together and starts it. It takes an incarnation from the store and, unless the store is shared, frees
// the claims of earlier incarnations. The engine's tasks run in a scope of their own below scope; Close ends them. The
// store stays the caller's, and must outlive the engine.
func New(s sched.Scheduler, scope *sched.Scope, o Options, p Parts) (*Engine, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("start engine: %w", err)
	}
	o = o.withDefaults()
	e := &Engine{
		s: s, options: o, store: p.Store, hinter: p.Hints, handlers: maps.Clone(p.Handlers), compile: p.Compile,
		inbox: inbox.New(s, p.Store), correlator: correlate.New(s, p.Store), settlement: settle.New(s, o.SettleCapacity),
		sendOut: p.Send, fits: p.Fits, board: task.NewBoard(s, o.TaskPoll),
		changed: sched.NewNotify(s, "deployments changed"), drained: sched.NewBool(s, "draining instance ended", false),
		following: sched.NewSemaphore(s, "following deployments", 1),
		ends:      sched.NewNotify(s, "ends elsewhere"),
	}
	if err := e.makeOwners(scope, p); err != nil {
		return nil, fmt.Errorf("start engine: %w", err)
	}
	e.work, e.around = scope.Child("engine lanes"), scope.Child("engine timers and outbox")
	e.leases = scope.Child("engine role")
	e.router.Start(e.work)
	if e.sweeping != nil {
		s.Go(e.leases, "lease of "+roleSweep, func() { e.sweeping.Run(e.leases) })
	}
	e.timers.Start(e.around)
	e.outbox.Start(e.around)
	e.box.Start(e.around)
	if e.sweeper != nil {
		s.Go(e.around, "claim sweeper", func() { e.sweeper.Run(e.around, e.sweeping.Held) })
	}
	if e.hinter != nil {
		s.Go(e.around, "hints", func() { e.hear(e.around) })
		s.Go(e.around, "ends elsewhere", func() { e.compareEnds(e.around) })
	}
	s.Go(e.around, "deployments", func() { e.keepDeployments(e.around) })
	return e, nil
}

func (e *Engine) makeOwners(scope *sched.Scope, p Parts) error {
	if err := e.makeFlip(scope, p); err != nil {
		return err
	}
	incarnation, err := p.Store.Incarnate(scope)
	if err != nil {
		return err
	}
	if e.options.Shared {
		if e.sweeper, err = claim.NewSweeper(e.s, e.options.Sweep, p.Store); err != nil {
			return err
		}
	} else {
		if _, err := claim.Sweep(e.s, scope, p.Store, e.s.Now().Add(always)); err != nil {
			return err
		}
	}
	for id := range e.options.Lanes {
		owner := store.Owner{Replica: e.options.Replica, Lane: uint32(id), Incarnation: incarnation}
		committer := step.NewCommitter(e.s, p.Store, owner)
		e.lanes = append(e.lanes, &laneState{id: id, owner: owner, committer: committer, claims: claim.New(e.s, p.Store, committer, owner)})
	}
	if e.router, err = lane.NewRouter(e.s, lane.Options{Lanes: e.options.Lanes, Queue: e.options.Queue}, e.observed); err != nil {
		return err
	}
	timers := e.options.Timers
	timers.Lanes = e.options.Lanes
	owner := func(id store.InstanceID) int { return e.router.Owner(string(id)) }
	if e.timers, err = timer.New(e.s, timers, dueTimers{e}, owner, e.fire); err != nil {
		return err
	}
	if e.box, err = mail.New(e.s, e.options.Mail, p.Store, e.bring); err != nil {
		return err
	}
	e.horizon = outbox.NewHorizon(e.s, p.Store)
	e.outbox, err = outbox.New(e.s, e.options.Outbox, emissions{p.Store, e}, e.sendHeld)
	return errors.Join(err, e.makeRole(incarnation))
}

// always is longer ago than any claim was taken, counted from a clock that may be behind the store's.
const always = 100 * 365 * 24 * time.Hour

// Close stops the engine: no request is accepted any more, those that were run to their end, held deliveries are told that
// they were not settled, and every task has ended when it returns. It waits for handlers and for the store.
func (e *Engine) Close() {
	e.around.Close()
	e.giveBack()
	e.leases.Close()
	e.router.Close()
	e.work.Join()
	e.flip.Ended(lane.ErrStopped)
	e.work.Close()
	e.settlement.Close()
}

// CloseWithin is Close for a store that may not answer any more: after the time the lanes are told to end for the reason. A step
// that is undecided then stays so, and its request is not answered.
func (e *Engine) CloseWithin(patience time.Duration, why error) {
	watch := e.s.NewScope("engine close")
	e.s.Go(watch, "engine close", func() {
		if e.s.Sleep(watch, "engine close", patience) == nil {
			e.work.Cancel(why)
		}
	})
	e.Close()
	watch.Close()
}

// Lanes returns the number of lanes.
func (e *Engine) Lanes() int { return e.router.Lanes() }

// Queued returns how many requests wait for a lane.
func (e *Engine) Queued(id int) int { return e.router.Queued(id) }

// Held returns how many on-complete deliveries are held.
func (e *Engine) Held() int { return e.settlement.Held() }
