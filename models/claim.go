package models

// ClaimStatus is what a row stands for in the reference of L3.
type ClaimStatus uint8

// The statuses.
const (
	ClaimAbsent ClaimStatus = iota
	ClaimVoid
	ClaimRunning
	ClaimEnded
)

// ClaimAnswer is how an operation on a row ends.
type ClaimAnswer uint8

// The answers.
const (
	ClaimDone ClaimAnswer = iota
	ClaimConflict
	ClaimFenced
	ClaimDuplicate
	ClaimNotFound
)

// Claim is the reference of L3: the claim of one row. Owners are numbers; 0 is nobody.
type Claim struct {
	Status ClaimStatus
	Owner  int
	Epoch  uint64
}

// Take gives the row to me if nobody holds it at the epoch that was seen.
func (c *Claim) Take(seen uint64, me int) ClaimAnswer {
	if c.Status != ClaimRunning {
		return ClaimNotFound
	}
	if c.Owner != 0 || c.Epoch != seen {
		return ClaimConflict
	}
	c.Owner, c.Epoch = me, c.Epoch+1
	return ClaimDone
}

// Renew moves the claim (owner, epoch) to the owner's next one. Nobody renews nothing.
func (c *Claim) Renew(owner int, epoch uint64) ClaimAnswer {
	if c.Owner != owner || c.Epoch != epoch {
		return ClaimConflict
	}
	c.Epoch++
	return ClaimDone
}

// Release frees the claim (owner, epoch), which may be nobody's, and reports whether the row still carried it.
func (c *Claim) Release(owner int, epoch uint64) bool {
	if c.Owner != owner || c.Epoch != epoch {
		return false
	}
	if c.Status == ClaimAbsent {
		c.Status = ClaimVoid
	}
	c.free()
	return true
}

// Commit ends a step under the claim (owner, epoch).
func (c *Claim) Commit(owner int, epoch uint64, ends bool) ClaimAnswer {
	if c.Owner != owner || c.Epoch != epoch {
		return ClaimFenced
	}
	if ends {
		c.Status = ClaimEnded
	}
	c.free()
	return ClaimDone
}

// Spawn creates the row that was seen absent or void at the epoch.
func (c *Claim) Spawn(seen uint64) ClaimAnswer {
	switch {
	case c.Status == ClaimRunning || c.Status == ClaimEnded:
		return ClaimDuplicate
	case c.Epoch != seen:
		return ClaimFenced
	}
	c.Status = ClaimRunning
	c.free()
	return ClaimDone
}

func (c *Claim) free() { c.Owner, c.Epoch = 0, c.Epoch+1 }
