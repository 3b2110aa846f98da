package models

// Inbox is the reference of L7: the deliveries that took effect, by channel and id, with the attempt that was first.
type Inbox struct{ First map[[2]string]int }

// NewInbox returns an inbox that has seen nothing.
func NewInbox() Inbox { return Inbox{First: map[[2]string]int{}} }

// Attempt brings a delivery. refused is an attempt that does not commit. It returns whether the attempt is acknowledged,
// and the attempt whose effect it is told.
func (b *Inbox) Attempt(channel, id string, attempt int, refused bool) (acknowledged bool, first int) {
	key := [2]string{channel, id}
	if first, seen := b.First[key]; seen {
		return true, first
	}
	if refused {
		return false, 0
	}
	b.First[key] = attempt
	return true, attempt
}
