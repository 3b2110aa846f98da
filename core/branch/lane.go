package branch

import (
	"time"

	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
)

// Lane (E1) is one branch: its queue, its runtime, and one word that says whether anybody has a use for it.
//
//	        Admit: queued 0→1, into the ready list           worker: runs one work
//	Idle ─────────────────────────────────────────▶ Ready ──────────────────────────▶ Running
//	 ▲ ▲                                              ▲        still queued              │
//	 │ └── Complete of a hold posts work, as Admit ───┘◀─────────────────────────────────┤
//	 └────────────────────────────── nothing queued ──────────────────────────────────────┘
//	Idle, no hold ──evict: detach──▶ Detached ──take the runtime──▶ ended
//
// Word: detached bit, number of holds, number of works queued (the running one included).
//
// Invariants
//
//	I1  one work of a branch runs at a time, in the order of admission: a lane is in the ready list or with a
//	    worker exactly while it has works queued, and once.
//	I2  a detached lane has no work and no hold, and never gets one: it is out of the table in the same step.
//	I3  the table never has more lanes than Max.
//	I4  the runtime is touched by the worker that runs the lane, and by the evictor after it detached the lane.
//	I5  a work that was admitted is run or dropped, once.
//
//	Orders        evict: detach → take the runtime. evict: detach → out of the table, in one step. worker:
//	              the word is lowered to nothing → waiting is read. table: waiting is raised → the words are
//	              read. worker that leaves: over is set → the ready list is emptied. Admit, Complete: into the
//	              ready list → over is read.
//	Linearization Admit at its push; evict at its compare-and-swap of the word.
//	Waits         Admit: for a lane to fall idle when the table is full, and for room in the branch's own
//	              queue (TryAdmit refuses instead), both bounded by its scope. Workers: for a ready lane.
//	Hot path      Admit: one look-up in the table's own map, one push, one add; a worker: one receive, one
//	              add.
//
// Model models/branches.go · Checks TestSimE1*, TestExhaustE1*, TestModelE1
// Mutants E1.take-first, E1.evict-held, E1.look-before-waiting, E1.schedule-always, E1.leave-the-queue,
// E1.over-before-ready, E1.sweep-no-requeue, E1.used-not-touched
type Lane[R, W any] struct {
	table *Table[R, W]
	key   string
	word  sched.Uint64
	queue *relay.Queue[W]

	runtime sched.Cell[runtime[R]]

	// The table's: touched by its task only.
	used         time.Time
	newer, older *Lane[R, W]
}

type runtime[R any] struct {
	value R
	open  bool
}

const (
	queuedOne   uint64 = 1
	queuedMask  uint64 = 1<<32 - 1
	holdOne     uint64 = 1 << 32
	detachedBit uint64 = 1 << 63
)

// Key returns the branch's key.
func (l *Lane[R, W]) Key() string { return l.key }

// Hold keeps the branch alive until Complete: something outside still works for it and will come back. Only the
// worker that runs the lane takes holds.
func (l *Lane[R, W]) Hold() { l.word.Add(holdOne) }

// Complete queues w, above the branch's bound, and ends one hold in the same step. Any task may call it; it does
// not wait.
func (l *Lane[R, W]) Complete(w W) {
	if !l.queue.Post(w) {
		panic("branch: a held lane has a closed queue")
	}
	l.raise(holdOne)
}

// raise counts a queued work, ends holds worth of holds in the same step, and makes the lane ready when it had
// nothing queued before.
func (l *Lane[R, W]) raise(holds uint64) {
	word := l.word.Add(queuedOne - holds)
	if l.table.s.Traced() {
		l.table.s.Check("E1", func() error { return attached(l.key, word) })
	}
	if word&queuedMask != 1 {
		return
	}
	l.table.schedule(l)
	if cause, over := l.table.over.Get(); over {
		l.table.drop(cause) // the workers may have left before this lane was ready
	}
}

func attached(key string, word uint64) error {
	if word&detachedBit != 0 {
		return sched.Broken("E1.I2", "work for branch %q after it was detached: word %x", key, word)
	}
	return nil
}

// oldest takes the oldest work of a lane that is ready.
func (l *Lane[R, W]) oldest() W {
	w, err := l.queue.Receive(nil, nil) // waits at most for the link of a work that was counted after a later one
	if err != nil {
		panic("branch: a ready lane has no work: " + err.Error())
	}
	return w
}

// drop takes leave of the oldest work of the lane without running it.
func (l *Lane[R, W]) drop(cause error) {
	w := l.oldest()
	if l.table.plan.Drop != nil {
		l.table.plan.Drop(l, l.runtime.Edit().value, w, cause)
	}
	l.finish()
}

// step runs the oldest work of the lane.
func (l *Lane[R, W]) step(scope *sched.Scope) {
	w := l.oldest()
	r := l.runtime.Edit()
	if !r.open {
		r.value, r.open = l.table.plan.Open(scope, l), true
	}
	l.table.plan.Run(scope, l, r.value, w)
	l.finish()
}

// finish counts the work off. The lane stays ready while more is queued.
func (l *Lane[R, W]) finish() {
	word := l.word.Add(^uint64(0))
	switch {
	case word&queuedMask != 0:
		l.table.schedule(l)
	case word == 0 && l.table.waiting.Load():
		l.table.idled.One()
	}
}

// detach makes the lane unusable, unless somebody has a use for it.
func (l *Lane[R, W]) detach() bool { return l.word.CompareAndSwap(0, detachedBit) }
