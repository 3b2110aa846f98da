package models

// Handoff is the reference of L15: the stage that an attempt at a delivery has reached, 0 when it has just arrived.
type Handoff struct{ Stage int }

// Enter moves the attempt to a stage, and reports whether it may: stages rise, so none runs twice.
func (h *Handoff) Enter(stage int) bool {
	if stage <= h.Stage {
		return false
	}
	h.Stage = stage
	return true
}

// Receive reports whether the lane that runs the step may have the attempt: it was resolved, and nothing after that was done.
func (h *Handoff) Receive(resolved int) bool { return h.Stage == resolved }
