package sim

import (
	"unsafe"

	"github.com/millrace-dev/millrace/core/sched"
)

// state is where a task is in its life.
//
//	fresh ──first resume──▶ running ◀──▶ waiting ──▶ dead (its node crashed)
//	                           └──returns──▶ ended
type state uint8

const (
	fresh state = iota
	running
	waiting
	ended
	dead
)

// task is one simulated task. What every hand-over reads comes first and fits a cache line.
type task struct {
	id    int32
	state state
	op    sched.Op    // announced by the last point
	h     *sched.Hook // of that operation
	slot  slot        // where it is parked, once it has begun
	sp    uintptr     // of its stack there, for foresee
	index int         // in World.ready, or -1
	co    *coroutine

	name    string
	f       func()
	mine    bool // a task of the check, not of an owner
	counted bool // in World.joined
	node    *Node
	scope   *object

	group   *group // where it waits for one operation, or nil
	place   int    // in group.tasks
	arms    []sched.Arm
	slotted any    // its operand in a rendezvous
	held    bool   // its node is paused
	heldIn  *group // where it waits meanwhile
	granted bool
	met     bool // its operation was done by a partner's step; only for footprints
	grant   sched.Grant
	partner *task // with batons: the one it has just met

	clock  vclock
	where  []uintptr    // stack at the last point, when tracing
	tick   uint32       // of its own clock at that point, when tracing
	since  int          // step of that point, when tracing
	stand  uint64       // its stack at the last point, while an Eventually waits
	stores *storeBuffer // under TSO, those that have not reached memory
	key    uint64       // the same in every execution: path of births
	kids   int
	prio   int64    // PCT, POS, SURW
	streak int      // PCT: consecutive points
	left   int      // SURW: operations to come
	mark   uint32   // in footprints
	_      [24]byte // whole cache lines, so that the first one of a task is one
}

// begin counts the task's start as its first event.
func (w *World) begin(t *task) {
	raceAcquire(unsafe.Pointer(t))
	w.hash = mix(w.hash, uint64(sched.OpStart)<<56|uint64(t.id), 0)
	if w.slow {
		t.tick = t.clock.at(t.id)
		w.observe(t, nil, sched.OpStart, 0)
	}
}

// finish ends the current task and chooses the next.
func (w *World) finish(t *task) *task {
	raceRelease(unsafe.Pointer(t))
	t.state = ended
	t.co = nil
	w.hash = mix(w.hash, uint64(sched.OpEnd)<<56|uint64(t.id), 0)
	if w.slow {
		w.observe(t, nil, sched.OpEnd, 0)
	}
	w.live--
	w.delist(t)
	if t.mine {
		w.checkTasks--
		if w.checkTasks == 0 {
			w.closeScope()
		}
	}
	if w.raceFound() || w.failed {
		return nil
	}
	if len(w.invariants) > 0 && !w.holdInvariants() {
		return nil
	}
	return w.pick()
}

// spawn makes a task a candidate. It is no scheduling point: the next point of the spawning task offers it.
func (w *World) spawn(name string, f func(), mine bool) *task {
	t := w.newTask()
	t.id, t.name, t.f, t.mine = int32(len(w.tasks)), name, f, mine
	t.state, t.op, t.h, t.index = fresh, sched.OpStart, nil, -1
	if w.current != nil {
		t.node = w.current.node
		if w.clocksOn {
			w.fork(w.current, t)
		}
	} else if w.clocksOn {
		t.clock.tick(t.id)
	}
	w.tasks = append(w.tasks, t)
	raceRelease(unsafe.Pointer(t))
	w.live++
	if mine {
		w.checkTasks++
	}
	w.enlist(t)
	if parent := w.current; parent != nil {
		t.key = mix(parent.key, uint64(parent.kids)+1, 0)
		parent.kids++
	}
	t.mark = uint32(t.id)
	if w.births != nil {
		w.births.born(w.current, t)
	}
	return t
}

func (w *World) newTask() *task {
	if n := len(w.tasks); n < len(w.spare) {
		t := w.spare[n]
		clock := t.clock.v[:0]
		*t = task{arms: t.arms[:0]}
		t.clock.v = clock
		return t
	}
	t := &task{}
	w.spare = append(w.spare, t)
	return t
}
