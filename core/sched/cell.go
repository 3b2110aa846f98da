package sched

// Cell is plain memory whose guard lies elsewhere: a lock, a hand-off, ownership by one task. The simulator
// checks by happens-before that no two accesses race; the real runtime pays one branch. An access is no
// scheduling point: whether two accesses race depends on the synchronization between them alone.
type Cell[T any] struct {
	h *Hook
	v T
}

// NewCell returns a cell with value v.
func NewCell[T any](s Scheduler, name string, v T) Cell[T] {
	return Cell[T]{h: s.object(KindCell, name, 0), v: v}
}

// View returns the memory for reading.
func (c *Cell[T]) View() *T {
	if c.h != nil {
		c.h.B.Access(c.h, false)
	}
	return &c.v
}

// Edit returns the memory for writing. Changing a map or a slice in place is a write.
func (c *Cell[T]) Edit() *T {
	if c.h != nil {
		c.h.B.Access(c.h, true)
	}
	return &c.v
}

// Peek returns the memory without recording an access. For invariants only.
func (c *Cell[T]) Peek() *T { return &c.v }
