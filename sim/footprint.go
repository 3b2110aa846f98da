package sim

import "github.com/millrace-dev/millrace/core/sched"

// footprint is what a step touched: object<<2 | mode, sorted by insertion; steps are small.
type footprint []uint32

const (
	modeRead uint32 = iota
	modeAdd         // commutes with other adds
	modeWrite
	modeTake // commutes with other takes
)

// Objects of the simulator itself in footprints.
const (
	footClock uint32 = iota
	footAlloc
	footExternal
	footFault
)

const (
	footNode  uint32 = 1 << 8  // + index of the node: a step of its tasks reads it, its crash writes it
	footOwner uint32 = 1 << 16 // + index of the owner; 0: the check, when it has an invariant of its own
	footTask  uint32 = 1 << 18 // + mark of a task: who leads its rendezvous writes it
)

const footObject uint32 = 1 << 20

func (f footprint) add(x uint32) footprint {
	for _, y := range f {
		if y == x {
			return f
		}
	}
	return append(f, x)
}

func (f footprint) union(g footprint) footprint {
	for _, x := range g {
		f = f.add(x)
	}
	return f
}

func (f footprint) conflicts(g footprint) bool {
	for _, x := range f {
		for _, y := range g {
			if x>>2 != y>>2 {
				continue
			}
			a, b := x&3, y&3
			if a == modeWrite || b == modeWrite || a != b {
				return true
			}
		}
	}
	return false
}

func (w *World) touchMode(o *object, mode uint32) {
	w.foot = w.foot.add((footObject+o.hook.ID)<<2 | mode)
	if mode != modeRead {
		w.touchOwner(o)
	}
}

// touchOwner makes a change visible to the invariants that may read it: that of the object's owner, and those of the
// check, which may read everything.
func (w *World) touchOwner(o *object) {
	if o.owner > 0 {
		w.foot = w.foot.add((footOwner+uint32(o.owner))<<2 | modeWrite)
	}
	if w.watched {
		w.foot = w.foot.add(footOwner<<2 | modeWrite)
	}
}

func (w *World) touch(h *sched.Hook, write bool) {
	mode := modeRead
	if write {
		mode = modeWrite
	}
	w.touchMode(w.objectOf(h), mode)
}

func (w *World) touchClock(write bool) {
	mode := modeRead
	if write {
		mode = modeWrite
	}
	w.foot = w.foot.add(footClock<<2 | mode)
}

// touchArms notes what a select depends on: whether each arm was ready, and on unbuffered channels that the task is
// nobody's partner any more.
func (w *World) touchArms(t *task) {
	for i := range t.arms {
		o := w.objectOf(t.arms[i].H)
		w.touch(t.arms[i].H, o.unbuffered())
	}
}

// tread adds an operation to the footprint of the running step.
func (w *World) tread(h *sched.Hook, op sched.Op, result uint64) {
	o := w.objectOf(h)
	switch op {
	case sched.OpRead, sched.OpWrite:
		w.treadCell(o, op == sched.OpWrite)
		return
	case sched.OpChoose:
		return // explored by value
	case sched.OpSend, sched.OpRecv:
		if t := w.current; t.met { // its partner's step did it
			t.met = false
			w.foot = w.foot.add((footTask + t.mark) << 2) // a read
			return
		}
	case sched.OpExternal:
		w.foot = w.foot.add(footExternal<<2 | modeWrite)
		return
	case sched.OpWGAdd:
		w.touchMode(o, w.modeOfAdd(h, int64(result)))
		return
	case sched.OpLoad, sched.OpGet, sched.OpLen, sched.OpDone, sched.OpWGWait, sched.OpSubscribe:
		w.touchMode(o, modeRead)
		return
	default:
	}
	w.touchMode(o, w.modeOf(o, op, result))
}

// modeOfAdd is the mode of a change to a wait group. Ends of tasks commute with their starts. A check's own Add and Done do not: in
// the other order the Done may find nothing to take and panic.
func (w *World) modeOfAdd(h *sched.Hook, n int64) uint32 {
	if n < 0 && w.current.h == h && w.current.op == sched.OpWGAdd {
		return modeTake
	}
	return modeAdd
}

// modeOf is the mode of an operation whose effect depends on what it did: what failed or found nothing to do only read, and
// what read locks do commutes.
func (w *World) modeOf(o *object, op sched.Op, result uint64) uint32 {
	failed := result == 0
	switch op {
	case sched.OpCAS, sched.OpTryLock, sched.OpAcquire, sched.OpOnce, sched.OpSend, sched.OpCancel:
	case sched.OpRegister, sched.OpSet: // a Notify with a stored permit loses it
		failed = failed && o.hook.Kind != sched.KindNotify
	case sched.OpRecv: // 0: closed and empty, 2: nothing there
		failed = result != 1
	case sched.OpRLock, sched.OpTryRLock, sched.OpRUnlock:
		if !failed {
			return modeAdd
		}
	default:
		failed = false
	}
	if failed {
		return modeRead
	}
	return modeWrite
}

// treadCell: accesses to a Cell are ordered by the operations around them, or else they race and the execution
// fails. Without vector clocks nobody would notice, so there they count like any other. Invariants see writes.
func (w *World) treadCell(o *object, write bool) {
	switch {
	case !w.clocksOn && write:
		w.touchMode(o, modeWrite)
	case !w.clocksOn:
		w.touchMode(o, modeRead)
	case write:
		w.touchOwner(o)
	}
}
