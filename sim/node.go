package sim

import (
	"container/heap"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

// Node is one incarnation of a process in the world: a group of tasks and timers that can crash together.
// Tasks belong to the node of the task that started them.
type Node struct {
	w       *World
	name    string
	down    bool
	paused  bool
	skew    time.Duration // of the clock that its tasks read
	index   uint32        // among all incarnations of the world
	Attempt int           // incarnation, counted from 1
}

// Node returns the next incarnation of the named node.
func (w *World) Node(name string) *Node {
	attempt := 1
	for _, earlier := range w.nodes {
		if earlier == name {
			attempt++
		}
	}
	w.nodes = append(w.nodes, name)
	w.incarnations++
	if w.footprints {
		w.foot = w.foot.add(footAlloc<<2 | modeWrite)
	}
	return &Node{w: w, name: name, index: w.incarnations, Attempt: attempt}
}

// Name returns the node's name.
func (n *Node) Name() string { return n.name }

// Scheduler returns the world's scheduler.
func (n *Node) Scheduler() sched.Scheduler { return n.w.Scheduler() }

// Go starts a task of the check on the node. A node's owners are made by its tasks, so that their invariants end
// with it.
func (n *Node) Go(name string, f func()) { n.w.start(n.name+"/"+name, f, n) }

// Crash stops every task of the node for ever, wherever it is: no deferred function runs, no lock is released,
// no timer fires. It is a step of the calling task, which must not belong to the node. A second crash does nothing.
func (n *Node) Crash() {
	w := n.w
	if !n.step("crash") {
		return
	}
	n.down = true
	for _, t := range w.tasks {
		if t.node == n && t.state != ended && t.state != dead {
			w.kill(t)
		}
	}
	n.disarm()
	kept := w.invariants[:0]
	for _, x := range w.invariants {
		if x.node != n {
			kept = append(kept, x)
		}
	}
	w.invariants = kept
}

// kill makes t unable to go on. Its stack is unwound when the execution has ended.
func (w *World) kill(t *task) {
	switch {
	case t.heldIn != nil:
		t.heldIn = nil
	case t.group != nil:
		o := w.objectOf(t.h)
		t.group.remove(t)
		w.changed(o) // also for those who would have met it
	case t.state == waiting && !t.granted:
		w.leaveArms(t)
	}
	if t.index >= 0 {
		w.delist(t)
	}
	if t.state == fresh {
		t.co = nil
	}
	t.state = dead
	w.dead++
	w.live--
	if t.counted {
		(*backend)(w).Outcome(w.joined, sched.OpWGAdd, ^uint64(0))
	}
	if t.mine {
		w.checkTasks--
		if w.checkTasks == 0 {
			w.closeScope()
		}
	}
}

func (n *Node) disarm() {
	w := n.w
	for i := 0; i < len(w.timers); {
		if t := w.timers[i]; t.node == n {
			heap.Remove(&w.timers, i)
			t.o.timer = nil
			i = 0
			continue
		}
		i++
	}
}
