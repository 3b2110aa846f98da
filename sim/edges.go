package sim

import "github.com/millrace-dev/millrace/core/sched"

// happensBefore returns the edges of a trace as pairs of rows: to each operation, the last ones of other tasks that it is ordered after and
// that its task's earlier operation was not. What follows from another of them is left out. Without vector clocks it
// links operations on the same object.
func happensBefore(events []event) [][2]int {
	var edges [][2]int
	rows := map[int32][]int{} // of each task
	last := map[string]int{}  // object → row of the last operation on it
	for i := range events {
		e := &events[i]
		if e.op == sched.OpEvent {
			continue
		}
		switch from, ok := last[e.object]; {
		case e.clock != nil:
			edges = append(edges, learnedFrom(events, rows, i)...)
		case ok && e.object != "" && events[from].task != e.task && e.edge:
			edges = append(edges, [2]int{from, i})
		}
		last[e.object] = i
		rows[e.task] = append(rows[e.task], i)
	}
	return edges
}

func learnedFrom(events []event, rows map[int32][]int, i int) [][2]int {
	e := &events[i]
	var earlier []uint32
	if own := rows[e.task]; len(own) > 0 {
		earlier = events[own[len(own)-1]].clock
	}
	var sources []int
	for id, known := range e.clock {
		if int32(id) == e.task || known <= clockAt(earlier, int32(id)) {
			continue
		}
		theirs := rows[int32(id)]
		for k := len(theirs) - 1; k >= 0; k-- {
			if events[theirs[k]].tick <= known {
				sources = append(sources, theirs[k])
				break
			}
		}
	}
	var edges [][2]int
	for _, s := range sources {
		if !implied(events, sources, s) {
			edges = append(edges, [2]int{s, i})
		}
	}
	return edges
}

// implied reports whether another source is itself ordered after s.
func implied(events []event, sources []int, s int) bool {
	for _, other := range sources {
		if other != s && clockAt(events[other].clock, events[s].task) >= events[s].tick {
			return true
		}
	}
	return false
}

// mayWait reports whether an operation can make its task wait for others.
func mayWait(op sched.Op) bool {
	switch op {
	case sched.OpLock, sched.OpRLock, sched.OpIntend, sched.OpWait, sched.OpWGWait, sched.OpAcquire, sched.OpSend, sched.OpRecv, sched.OpDone:
		return true
	default:
		return false
	}
}

// traceWaits ends a trace with what everybody waits for.
func (w *World) traceWaits() {
	for _, t := range w.tasks {
		if w.tracing && t.state == waiting {
			w.trace = append(w.trace, event{
				step: w.steps, task: t.id, name: t.name, op: sched.OpEvent, now: w.now, where: t.where, since: t.since,
				note: "waits to " + t.op.String() + " " + objectName(t.h),
			})
		}
	}
}

// waited returns how many rows above row i its task spent waiting for what the row shows.
func waited(events []event, i int) int {
	e, first := &events[i], i
	if mayWait(e.op) || e.op == sched.OpEvent && e.since > 0 {
		for first > 0 && events[first-1].step > e.since {
			first--
		}
	}
	return i - first
}
