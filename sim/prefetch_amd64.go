package sim

// prefetch asks the processor for the memory of a task and for that of a stack. It reads neither: what moved or ended since costs
// nothing but the request.
//
//go:noescape
func prefetch(t *task, sp uintptr)
