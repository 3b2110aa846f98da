package sim

import (
	"container/heap"
	"time"
	"unsafe"

	"github.com/millrace-dev/millrace/core/sched"
)

// epoch is where virtual time begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// timer is one armed timer.
type timer struct {
	o    *object
	when time.Duration
	seq  int // arming order decides among equal times
	node *Node
	fire func()
	at   int // in the heap
}

// timers is a heap by time, then arming order.
type timers []*timer

func (h timers) Len() int { return len(h) }
func (h timers) Less(i, j int) bool {
	if h[i].when != h[j].when {
		return h[i].when < h[j].when
	}
	return h[i].seq < h[j].seq
}

func (h timers) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

// Push is heap's.
func (h *timers) Push(x any) {
	t := x.(*timer)
	t.at = len(*h)
	*h = append(*h, t)
}

// Pop is heap's.
func (h *timers) Pop() any {
	old := *h
	t := old[len(old)-1]
	*h = old[:len(old)-1]
	return t
}

// Now is virtual time.
func (b *backend) Now() time.Time {
	w := (*World)(b)
	if w.footprints {
		w.touchClock(false)
	}
	at := w.now
	if t := w.current; t != nil && t.node != nil {
		at += t.node.skew
	}
	return epoch.Add(at)
}

// Timer arms the timer of h.
func (b *backend) Timer(h *sched.Hook, d time.Duration, fire func()) {
	w := (*World)(b)
	if w.aborting {
		return
	}
	o := w.objectOf(h)
	if o.timer != nil {
		heap.Remove(&w.timers, o.timer.at)
	}
	w.timerSeq++
	o.timer = &timer{o: o, when: w.now + max(d, 0), seq: w.timerSeq, fire: fire, node: w.current.node}
	heap.Push(&w.timers, o.timer)
	raceRelease(unsafe.Pointer(o.timer))
	if w.footprints {
		w.touchClock(true)
	}
}

// StopTimer disarms the timer of h.
func (b *backend) StopTimer(h *sched.Hook) bool {
	w := (*World)(b)
	if w.aborting {
		return false
	}
	o := w.objectOf(h)
	if o.timer == nil {
		if w.footprints {
			w.touch(h, false) // before it fired, this would have disarmed it
		}
		return false
	}
	heap.Remove(&w.timers, o.timer.at)
	o.timer = nil
	if w.footprints {
		w.touchClock(true)
	}
	return true
}

// fireNext lets the earliest timer fire. Time never runs backwards, also after a timer was fired early.
func (w *World) fireNext() { w.fireTimer(w.timers[0]) }

func (w *World) fireTimer(t *timer) {
	heap.Remove(&w.timers, t.at)
	t.o.timer = nil
	w.fires++
	w.now = max(w.now, t.when)
	by := w.current
	w.current = &w.clockTask
	w.clockTask.node = t.node
	if w.clocksOn {
		w.clockTask.clock.set(&t.o.hb.all) // and nothing of the timers that fired before
	}
	raceAcquire(unsafe.Pointer(t))
	t.fire()
	w.current = by
	if w.footprints {
		w.touchClock(true)
		w.touch(&t.o.hook, true)
	}
}

// Fire lets the earliest armed timer, or timed scope, with that name fire now, early. It reports whether there was
// one.
func (w *World) Fire(name string) bool {
	(*backend)(w).Point(nil, sched.OpFire)
	var first *timer
	for _, t := range w.timers {
		if t.o.hook.Name == name && (first == nil || t.when < first.when || t.when == first.when && t.seq < first.seq) {
			first = t
		}
	}
	if first == nil {
		if w.footprints {
			w.touchClock(false)
		}
		return false
	}
	at := w.now
	w.fireTimer(first)
	w.now = at
	return true
}
