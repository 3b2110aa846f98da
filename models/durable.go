package models

// Durable is the reference of a store that loses commits only from the end, and never one that was acknowledged.
type Durable struct {
	Visible      []int // commits in order
	Acknowledged int   // how many of them, counted from the first, are covered by an acknowledgement
}

// Commit adds a commit that is visible and not acknowledged.
func (d *Durable) Commit(n int) { d.Visible = append(d.Visible, n) }

// Acknowledge covers every commit so far.
func (d *Durable) Acknowledge() { d.Acknowledged = len(d.Visible) }

// Crash tells whether what is left may be left, and goes on from there.
func (d *Durable) Crash(left []int) bool {
	if len(left) < d.Acknowledged || len(left) > len(d.Visible) {
		return false
	}
	for i, n := range left {
		if d.Visible[i] != n {
			return false
		}
	}
	d.Visible = append([]int(nil), left...)
	d.Acknowledge() // what a restart has shown does not go away again
	return true
}
