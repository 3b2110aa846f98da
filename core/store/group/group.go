package group

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Store (S3) is a store whose commits of steps are grouped across lanes (group commit of L6).
//
// It owns which steps share a transaction, and what each member is told of its outcome. It never waits for company: a leader
// takes what waits when it is free, so a lone step commits at once, and under load the transaction before is what gathers the
// next group. It never decides an unknown outcome: each member's own committer does, by its own fence.
//
//	Commit ──▶ queued ──leader──▶ sent together ──landed──▶ all: committed
//	                                │    │ unknown ──▶ all: unknown, each decides for itself
//	                                │ definite: rolled back
//	                                └──▶ sent again, each by itself ──▶ each: its own outcome
//
// Invariants
//
//	I1  A member is told "committed" only if a transaction that it was in committed.
//	I2  A member is sent again only after a definite rollback, under the claim that it has.
//	I3  Only who is refused by itself fails: the others of its group do not.
//	I4  The steps of one transaction are of different instances, at most Options.Most.
//
//	Orders         every member's own claim is asserted in the transaction → it commits → all are told.
//	Linearization  A member's: that of the transaction which took it.
//	Waits          Commit: for room in the queue, within its scope; then for its outcome, which the store bounds. A leader: for
//	               a step, and for the store.
//	Hot path       Two channel operations a step.
//
// Spec tla/group/Group.tla · Checks TestSimS3*, TestTraceS3* · Mutants S3.*
type Store struct {
	store.Store
	s       sched.Scheduler
	groups  store.Groups
	options Options
	queue   *sched.Chan[*member]
	closing *sched.Scope
}

// Options of a group store. A zero field means its default.
type Options struct {
	// Most is how many steps share a transaction at most. 1 … store.MaxGroup. Default 64.
	Most int
	// Leaders is how many transactions are under way at most. 1 … 64. Default 1: what comes while a transaction is under way makes the next
	// one larger, which costs the server less than another one beside it.
	Leaders int
}

// Validate returns every field that is out of its range, joined.
func (o Options) Validate() error {
	o = o.withDefaults()
	var faults []error
	if o.Most < 1 || o.Most > store.MaxGroup {
		faults = append(faults, fmt.Errorf("group option Most: %d is not in 1 … %d", o.Most, store.MaxGroup))
	}
	if o.Leaders < 1 || o.Leaders > 64 {
		faults = append(faults, fmt.Errorf("group option Leaders: %d is not in 1 … 64", o.Leaders))
	}
	return errors.Join(faults...)
}

func (o Options) withDefaults() Options {
	if o.Most == 0 {
		o.Most = 64
	}
	if o.Leaders == 0 {
		o.Leaders = 1
	}
	return o
}

// member is a step on its way.
type member struct {
	step   *store.Step
	answer *sched.Chan[answer] // has room for the one answer, so that a leader never waits
}

type answer struct {
	ticket store.Ticket
	err    error
}

// New returns a store over st, which must implement store.Groups. Its leaders run as tasks of scope until it ends or Stop; the
// store below stays the caller's.
func New(s sched.Scheduler, scope *sched.Scope, o Options, st store.Store) (*Store, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("group commits: %w", err)
	}
	groups, ok := st.(store.Groups)
	if !ok {
		return nil, fmt.Errorf("group commits of %T: %w: it commits one step at a time", st, store.ErrInvalid)
	}
	o = o.withDefaults()
	g := &Store{
		Store: st, s: s, groups: groups, options: o,
		queue: sched.NewChan[*member](s, "group queue", o.Most), closing: scope.Child("group commit"),
	}
	s.Own("S3", g, nil)
	for i := range o.Leaders {
		s.Go(scope, fmt.Sprintf("group leader %d", i), func() { g.lead(i) })
	}
	return g, nil
}

// Stop refuses later commits and answers those that wait. No commit may be under way.
func (g *Store) Stop() { g.closing.Close() }

// Commit implements [store.Steps].
func (g *Store) Commit(scope *sched.Scope, st *store.Step) (store.Ticket, error) {
	if err := st.Validate(); err != nil {
		return 0, fmt.Errorf("commit %v: %w", st.Claim, err)
	}
	if g.closing.Err() != nil { // the queue may have room still
		return 0, fmt.Errorf("commit %s of %v: %w", st.Cause, st.Claim, store.ErrClosed)
	}
	m := &member{step: st, answer: sched.NewChan[answer](g.s, "group answer", 1)}
	switch sched.Select3(g.queue.OnSend(m), g.closing.Done(), scope.Done()).Index {
	case 1:
		return 0, fmt.Errorf("commit %s of %v: %w", st.Cause, st.Claim, store.ErrClosed)
	case 2:
		return 0, fmt.Errorf("commit %s of %v: %w", st.Cause, st.Claim, scope.Err())
	}
	g.emit("Commit", st)
	got := sched.Select2(m.answer.OnReceive(), g.closing.Done())
	if got.Index == 1 {
		// A leader may have it still.
		return 0, fmt.Errorf("commit %s of %v: %w: group commit ended", st.Cause, st.Claim, store.ErrUnknown)
	}
	if a := got.A; a.err != nil {
		return a.ticket, fmt.Errorf("commit %s of %v: %w", st.Cause, st.Claim, a.err)
	}
	return got.A.ticket, nil
}

// lead is the task of one leader: it takes what waits, again and again.
func (g *Store) lead(leader int) {
	var kept []*member // of an instance that the group before had a step of
	for {
		group := kept
		if len(group) == 0 {
			first, _, err := g.queue.ReceiveWithin(g.closing)
			if err != nil {
				return
			}
			group = append(group, first)
		}
		for len(group) < g.options.Most {
			m, _, ready := g.queue.TryReceive()
			if !ready {
				break
			}
			group = append(group, m)
		}
		group, kept = apart(group)
		g.commit(leader, group)
	}
}

// apart keeps the later steps of an instance for the next transaction: attempts at one spawn may meet here.
func apart(all []*member) (group, kept []*member) {
	taken := make(map[store.InstanceID]bool, len(all))
	for _, m := range all {
		if id := m.step.Claim.Instance; taken[id] {
			kept = append(kept, m)
		} else {
			taken[id] = true
			group = append(group, m)
		}
	}
	return group, kept
}

// commit sends a group, and tells each member its outcome.
func (g *Store) commit(leader int, group []*member) {
	if g.s.Traced() {
		g.s.Emit(g, "Gather", leader, steps(group))
	}
	if len(group) > 1 {
		ticket, err := g.together(group)
		g.outcome("RolledBack", leader, err)
		if err == nil || !store.Definite(err) {
			for _, m := range group {
				m.answer.Send(answer{ticket, err})
			}
			return
		}
	}
	for _, m := range group {
		if g.s.Traced() {
			g.s.Emit(g, "Alone", leader, m.step)
		}
		ticket, err := g.Store.Commit(nil, m.step)
		g.outcome("Failed", leader, err)
		m.answer.Send(answer{ticket, err})
	}
}

// together sends the steps of a group as one transaction.
func (g *Store) together(group []*member) (store.Ticket, error) {
	return g.groups.CommitAll(nil, steps(group))
}

func steps(group []*member) []*store.Step {
	all := make([]*store.Step, 0, len(group))
	for _, m := range group {
		all = append(all, m.step)
	}
	return all
}

// emit reports an action of the specification on one step.
func (g *Store) emit(action string, st *store.Step) {
	if g.s.Traced() {
		g.s.Emit(g, action, st)
	}
}

// outcome reports what a leader learned of the transaction that it sent.
func (g *Store) outcome(refused string, leader int, err error) {
	switch {
	case !g.s.Traced():
	case err == nil:
		g.s.Emit(g, "Committed", leader)
	case store.Definite(err):
		g.s.Emit(g, refused, leader)
	default:
		g.s.Emit(g, "Unknown", leader)
	}
}
