package sim

import (
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

// Faults bounds how many faults one execution takes: the default is 3. Zero switches them off.
func Faults(n int) Option { return func(o *options) { o.faults = max(n, 0) } }

// defaultFaults is small: what needs four faults at once is rarely what fails first, and a search must end.
const defaultFaults = 3

// faulty is a world's account of faults.
type faulty struct {
	taken   []string // "place kind", in order; also what the check does to nodes
	drawn   int      // of them, by Fault
	after   []int    // for each that a drawn value decided: its place in World.data
	stopped bool
}

// Fault draws whether something goes wrong here, and which of kinds: 0 for nothing, else 1 and its index. It is a choice like
// any other: explored, recorded, replayed; shrinking prefers nothing. After StopFaults, or when the execution has taken all
// that it may, nothing goes wrong and nothing is drawn.
func (w *World) Fault(place string, kinds ...string) int {
	f := &w.faults
	if f.stopped || f.drawn >= w.opts.faults {
		w.touchFaults(modeRead)
		return 0
	}
	v := w.draw(uint64(len(kinds)) + 1)
	w.touchFaults(modeWrite)
	w.hash = mix(w.hash, uint64(sched.OpChoose)<<56|uint64(uint32(w.current.id)), v)
	if v == 0 {
		return 0
	}
	f.drawn++
	w.took(place + " " + kinds[v-1])
	return int(v)
}

// touchFaults notes that a step depends on the account of faults, or changes it: whether a fault may be drawn is the same for all tasks.
func (w *World) touchFaults(mode uint32) {
	if w.footprints && w.opts.faults > 0 {
		w.foot = w.foot.add(footFault<<2 | mode)
	}
}

// took counts a fault and notes it in the trace.
func (w *World) took(what string) {
	w.faults.taken = append(w.faults.taken, what)
	w.note("fault: " + what)
	if n := len(w.data) - 1; n >= 0 && w.schedule[len(w.schedule)-1] == dataChoice {
		w.faults.after = append(w.faults.after, n)
	}
}

// StopFaults ends the faults of this execution: from here on progress may be demanded.
func (w *World) StopFaults() {
	w.faults.stopped = true
	w.touchFaults(modeWrite)
	w.note("faults stop")
}

// Pause keeps every task of the node from going on until Resume, wherever it is: a long collection, a machine that was
// suspended. Its locks stay taken and its timers fire meanwhile. It is a step of the calling task, which must not belong to the
// node.
func (n *Node) Pause() {
	if n.step("pause") && !n.paused {
		n.paused = true
		for _, t := range n.w.tasks {
			if t.node == n && t.state < ended {
				n.w.hold(t)
			}
		}
	}
}

// Resume lets the node's tasks go on.
func (n *Node) Resume() {
	if n.step("resume") && n.paused {
		n.paused = false
		for _, t := range n.w.tasks {
			if t.held && t.node == n {
				n.w.unhold(t)
			}
		}
	}
}

// JumpClock moves the clock that the node's tasks read, forwards or back. Timers measure durations and stay as they are.
func (n *Node) JumpClock(d time.Duration) {
	if n.step("jump the clock of") {
		n.skew += d
	}
}

// step is a scheduling point of somebody outside, who does something to the node. It reports false when the node is down.
func (n *Node) step(what string) bool {
	w := n.w
	if w.current.node == n {
		panic("sim: a node cannot " + what + " itself: do it from a task outside of it")
	}
	(*backend)(w).Point(nil, sched.OpExternal)
	if w.footprints {
		w.foot = w.foot.add(footExternal<<2 | modeWrite)
		w.foot = w.foot.add((footNode+n.index)<<2 | modeWrite)
		w.touchClock(true)
	}
	if n.down {
		return false
	}
	w.took(what + " node " + n.name)
	return true
}

// hold keeps t from being chosen.
func (w *World) hold(t *task) {
	t.held = true
	if g := t.group; g != nil {
		o := w.objectOf(t.h)
		g.remove(t)
		t.heldIn = g
		w.changed(o)
		return
	}
	if t.index >= 0 {
		w.delist(t)
	}
}

func (w *World) unhold(t *task) {
	t.held = false
	g := t.heldIn
	t.heldIn = nil
	switch {
	case t.state >= ended:
	case g != nil:
		g.add(t)
		w.changed(w.objectOf(t.h))
	case t.state == waiting:
		for i := range t.arms {
			if t.arms[i].W == nil {
				w.changed(w.objectOf(t.arms[i].H)) // it may be a partner again
			}
		}
		w.reconsider(t)
	default:
		w.enlist(t)
	}
}
