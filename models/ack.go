package models

// AckShare is what a share of an acknowledgement tree can be.
type AckShare uint8

// The states of a share.
const (
	AckHeld AckShare = iota
	AckResolved
	AckUnowned
)

// Ack is the reference of A1: one tree and every share it ever gave out.
type Ack struct {
	Shares  []AckShare
	Decided bool
	Failed  bool
}

// NewAck returns a tree with n held shares. Without shares it has succeeded.
func NewAck(n int) Ack {
	return Ack{Shares: make([]AckShare, n), Decided: n == 0}
}

// Attach adds n shares, held while the tree is undecided and unowned afterwards; it reports which.
func (a *Ack) Attach(n int) (owned bool) {
	state := AckUnowned
	if !a.Decided {
		state = AckHeld
	}
	for range n {
		a.Shares = append(a.Shares, state)
	}
	return !a.Decided
}

// Resolve acknowledges or fails share i and reports whether this resolution counted.
func (a *Ack) Resolve(i int, failed bool) bool {
	if a.Shares[i] != AckHeld {
		return false
	}
	a.Shares[i] = AckResolved
	switch {
	case a.Decided:
	case failed:
		a.Decided, a.Failed = true, true
	case a.Unresolved() == 0:
		a.Decided = true
	}
	return true
}

// Unresolved counts the held shares.
func (a *Ack) Unresolved() int {
	n := 0
	for _, s := range a.Shares {
		if s == AckHeld {
			n++
		}
	}
	return n
}
