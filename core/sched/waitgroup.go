package sched

import "sync"

// WaitGroup waits until a counter is zero.
type WaitGroup struct {
	h  *Hook
	wg sync.WaitGroup
}

// NewWaitGroup returns a group whose counter is zero.
func NewWaitGroup(s Scheduler, name string) (g WaitGroup) {
	g.h = s.object(KindWaitGroup, name, 0)
	return
}

// Add changes the counter by n. It panics when the counter becomes negative.
func (g *WaitGroup) Add(n int) {
	if g.h != nil {
		g.add(n)
		return
	}
	g.wg.Add(n)
}

// Done lowers the counter by one.
func (g *WaitGroup) Done() {
	if g.h != nil {
		g.add(-1)
		return
	}
	g.wg.Done()
}

// Wait returns when the counter is zero.
func (g *WaitGroup) Wait() {
	if g.h != nil {
		g.wait()
		return
	}
	g.wg.Wait()
}

func (g *WaitGroup) add(n int) {
	g.h.B.Point(g.h, OpWGAdd)
	g.change(n)
}

// change moves the counter without a scheduling point: part of a larger step.
func (g *WaitGroup) change(n int) {
	g.wg.Add(n)
	if g.h != nil {
		g.h.B.Outcome(g.h, OpWGAdd, uint64(int64(n)))
	}
}

func (g *WaitGroup) wait() {
	g.h.B.Block(Arm{H: g.h, Op: OpWGWait})
	g.wg.Wait()
	g.h.B.Outcome(g.h, OpWGWait, 1)
}
