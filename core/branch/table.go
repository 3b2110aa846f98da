package branch

import (
	"errors"
	"fmt"
	"time"

	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
)

// ErrBusy refuses a work whose branch has its queue full.
var ErrBusy = errors.New("branch: too much work is queued for this branch")

// Options bound a table. Every field has a range; the zero value of TTL is useful.
type Options struct {
	// TTL is how long a branch without work and holds stays. Zero: until its place is needed.
	TTL time.Duration
	// Max is the largest number of branches, 1 to MaxBranches.
	Max int
	// Queue is how many works of one branch may wait, 1 to relay.MaxCapacity.
	Queue int
}

// MaxBranches is the largest Max.
const MaxBranches = 1 << 20

// Validate reports every field that is out of its range.
func (o Options) Validate() error {
	var faults []error
	if o.TTL < 0 {
		faults = append(faults, fmt.Errorf("ttl %v is negative", o.TTL))
	}
	if o.Max < 1 || o.Max > MaxBranches {
		faults = append(faults, fmt.Errorf("max %d, want 1 to %d", o.Max, MaxBranches))
	}
	if o.Queue < 1 || o.Queue > relay.MaxCapacity {
		faults = append(faults, fmt.Errorf("queue %d, want 1 to %d", o.Queue, relay.MaxCapacity))
	}
	return errors.Join(faults...)
}

// Plan says what lanes do. Its functions are called by workers, one at a time for each branch, but End, which the
// table's task calls, and Drop, which may come from any task that has brought a work after the workers had left.
type Plan[R, W any] struct {
	// Open makes the runtime of a new branch, before its first work. It may wait: other branches do not notice.
	Open func(scope *sched.Scope, l *Lane[R, W]) R
	// Run does one work to its end.
	Run func(scope *sched.Scope, l *Lane[R, W], r R, w W)
	// Drop is told of a work that will not be run, because the scope of the workers has ended with cause; r is the
	// runtime that Open made, or nothing if there was no work before. It must not wait. It may be nil.
	Drop func(l *Lane[R, W], r R, w W, cause error)
	// End takes leave of the runtime of an evicted branch. It must not wait. It may be nil.
	End func(key string, r R)
}

// Table (E1) is the set of live branches. It belongs to one task, which admits and evicts; any number of workers run
// the lanes. See [Lane] for the states, the orders and the invariants.
type Table[R, W any] struct {
	s    sched.Scheduler
	opts Options
	plan Plan[R, W]

	// The table's task only.
	lanes  sched.Cell[map[string]*Lane[R, W]]
	newest *Lane[R, W] // by last admission
	oldest *Lane[R, W]

	ready   *sched.Chan[*Lane[R, W]] // room for every lane: sending never waits
	waiting sched.Bool               // the table's task waits for an idle lane
	idled   sched.Notify
	over    sched.WriteOnce[error] // why the workers leave, and what is queued is dropped
}

// NewTable returns a table without branches. Options that do not validate are a programming fault.
func NewTable[R, W any](s sched.Scheduler, name string, opts Options, plan Plan[R, W]) *Table[R, W] {
	if err := opts.Validate(); err != nil {
		panic(fmt.Sprintf("branch: table %s: %v", name, err))
	}
	t := &Table[R, W]{
		s: s, opts: opts, plan: plan,
		lanes:   sched.NewCell(s, name+" lanes", map[string]*Lane[R, W]{}),
		ready:   sched.NewChan[*Lane[R, W]](s, name+" ready", opts.Max),
		waiting: sched.NewBool(s, name+" waiting", false),
		idled:   sched.NewNotify(s, name+" idled"),
		over:    sched.NewWriteOnce[error](s, name+" over"),
	}
	s.Own("E1", t, t.check)
	return t
}

// Admit queues w for the branch and creates the branch if need be. It waits for room in the branch's queue, and
// for a branch to fall idle when there are Max of them; the error wraps the cause of scope's end.
func (t *Table[R, W]) Admit(scope *sched.Scope, key string, w W) error {
	l, err := t.lane(scope, key)
	if err == nil {
		err = l.queue.Push(scope, w)
	}
	if err != nil {
		return fmt.Errorf("admit to branch %q: %w", key, err)
	}
	l.raise(0)
	return nil
}

// TryAdmit is Admit, but refuses with ErrBusy when the branch's queue is full: one branch then never holds up
// another.
func (t *Table[R, W]) TryAdmit(scope *sched.Scope, key string, w W) error {
	l, err := t.lane(scope, key)
	if err != nil {
		return fmt.Errorf("admit to branch %q: %w", key, err)
	}
	if ok, _ := l.queue.TryPush(w); !ok {
		return fmt.Errorf("admit to branch %q: %w", key, ErrBusy)
	}
	l.raise(0)
	return nil
}

// lane returns the lane of key as the most recently used one.
func (t *Table[R, W]) lane(scope *sched.Scope, key string) (*Lane[R, W], error) {
	l := (*t.lanes.View())[key]
	if l == nil {
		if err := t.makeRoom(scope); err != nil {
			return nil, err
		}
		l = t.create(key)
	} else {
		t.unlink(l)
	}
	l.used = t.s.Now()
	t.pushNewest(l)
	return l, nil
}

func (t *Table[R, W]) create(key string) *Lane[R, W] {
	l := &Lane[R, W]{
		table: t, key: key,
		word:    sched.NewUint64(t.s, "branch word", 0),
		queue:   relay.NewQueue[W](t.s, "branch queue", t.opts.Queue),
		runtime: sched.NewCell(t.s, "branch runtime", runtime[R]{}),
	}
	t.s.Own("E1", l, nil) // the table's invariant judges it
	(*t.lanes.Edit())[key] = l
	return l
}

// makeRoom evicts the branch that was used least recently among the idle ones, and waits for one if none is.
func (t *Table[R, W]) makeRoom(scope *sched.Scope) error {
	if t.Len() < t.opts.Max {
		return nil
	}
	return t.await(scope, t.evictOldest)
}

// await repeats f until it reports success; between two attempts some lane fell idle.
func (t *Table[R, W]) await(scope *sched.Scope, f func() bool) error {
	if f() {
		return nil
	}
	t.waiting.Store(true)
	defer t.waiting.Store(false)
	for !f() {
		if err := t.idled.Wait(scope); err != nil {
			return fmt.Errorf("wait for an idle branch: %w", err)
		}
	}
	return nil
}

func (t *Table[R, W]) evictOldest() bool {
	for l := t.oldest; l != nil; l = l.newer {
		if t.evict(l) {
			return true
		}
	}
	return false
}

// evict ends an idle branch: detach → take the runtime.
func (t *Table[R, W]) evict(l *Lane[R, W]) bool {
	if !l.detach() {
		return false
	}
	delete(*t.lanes.Edit(), l.key)
	t.unlink(l)
	t.takeRuntime(l)
	return true
}

func (t *Table[R, W]) takeRuntime(l *Lane[R, W]) {
	r := *l.runtime.View()
	*l.runtime.Edit() = runtime[R]{}
	if r.open && t.plan.End != nil {
		t.plan.End(l.key, r.value)
	}
}

// Sweep evicts the branches whose time is over and returns when the next one is due; ok is false when none will be.
// A branch that is in use begins a new time.
func (t *Table[R, W]) Sweep() (next time.Time, ok bool) {
	now := t.s.Now()
	for range t.Len() {
		l := t.oldest
		if t.opts.TTL == 0 || l == nil {
			break
		}
		if due := l.used.Add(t.opts.TTL); due.After(now) {
			return due, true
		}
		if !t.evict(l) {
			t.unlink(l)
			l.used = now
			t.pushNewest(l)
		}
	}
	if t.opts.TTL == 0 || t.oldest == nil {
		return time.Time{}, false
	}
	return t.oldest.used.Add(t.opts.TTL), true
}

// Close waits until every branch is idle, ends them all, and lets the workers go. The table's task calls it last;
// when scope ends first the workers stay, and end with their own scope.
func (t *Table[R, W]) Close(scope *sched.Scope) error {
	for t.oldest != nil {
		if err := t.await(scope, t.evictOldest); err != nil {
			return fmt.Errorf("close branches: %w", err)
		}
	}
	t.ready.Close()
	return nil
}

// Work runs ready lanes until the table is closed or scope ends. Any number of tasks may do so, with one scope: when it
// ends, what is queued then or later is dropped, so that nobody waits for it.
func (t *Table[R, W]) Work(scope *sched.Scope) {
	for {
		got := sched.Select2(t.ready.OnReceive(), scope.Done())
		switch {
		case got.Index == 1:
			cause := scope.Err()
			t.over.Set(cause)
			t.drop(cause)
			return
		case !got.OK:
			return
		}
		got.A.step(scope)
	}
}

// drop takes the ready lanes and drops their works. Who takes a lane out of the list has it alone, as a worker does.
func (t *Table[R, W]) drop(cause error) {
	for {
		l, ok, ready := t.ready.TryReceive()
		if !ready || !ok {
			return
		}
		l.drop(cause)
	}
}

// Len returns the number of branches. Only the table's task calls it.
func (t *Table[R, W]) Len() int { return len(*t.lanes.View()) }

// schedule puts a lane into the ready list. A lane is in it once, so there is room.
func (t *Table[R, W]) schedule(l *Lane[R, W]) {
	if !t.ready.TrySend(l) {
		t.s.Check("E1", func() error { return sched.Broken("E1.I1", "branch %q is ready twice", l.key) })
		panic("branch: a lane is ready twice")
	}
}

func (t *Table[R, W]) pushNewest(l *Lane[R, W]) {
	l.older, l.newer = t.newest, nil
	if t.newest == nil {
		t.oldest = l
	} else {
		t.newest.newer = l
	}
	t.newest = l
}

func (t *Table[R, W]) unlink(l *Lane[R, W]) {
	if l.older == nil {
		t.oldest = l.newer
	} else {
		l.older.newer = l.newer
	}
	if l.newer == nil {
		t.newest = l.older
	} else {
		l.newer.older = l.older
	}
	l.older, l.newer = nil, nil
}

// check walks the lanes of the table, which are few in a simulation.
func (t *Table[R, W]) check() error {
	lanes := *t.lanes.Peek()
	if len(lanes) > t.opts.Max {
		return sched.Broken("E1.I3", "%d branches, at most %d", len(lanes), t.opts.Max)
	}
	ready := 0
	for l := t.oldest; l != nil; l = l.newer {
		word := l.word.Peek()
		if word&detachedBit != 0 {
			return sched.Broken("E1.I2", "branch %q is detached and in the table: word %x", l.key, word)
		}
		if word&queuedMask != 0 {
			ready++
		}
	}
	if t.ready.PeekLen() > ready {
		return sched.Broken("E1.I1", "%d lanes in the ready list, %d have work", t.ready.PeekLen(), ready)
	}
	return nil
}
