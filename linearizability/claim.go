package linearizability

import (
	"github.com/anishathalye/porcupine"
	"github.com/millrace-dev/millrace/models"
)

// ClaimOp is an operation on the claim of a row (L3).
type ClaimOp uint8

// The operations.
const (
	ClaimHead ClaimOp = iota
	ClaimTake
	ClaimRelease
	ClaimCommit
	ClaimRenew
)

// ClaimInput is a call on one running row. Owner and Epoch are the claim that is taken from (Take: the epoch seen, and
// who takes), renewed, released or committed under.
type ClaimInput struct {
	Op    ClaimOp
	Owner int
	Epoch uint64
}

// ClaimOutput is its return. With Lost nobody knows whether the call took effect, then or at any later time.
type ClaimOutput struct {
	Lost  bool
	Done  bool // the row was as compared, and was changed
	Owner int  // with Epoch: what ClaimHead read
	Epoch uint64
}

// ClaimModel is the sequential specification: one row that begins running, free, at the epoch. A lost call has taken
// effect, or not.
func ClaimModel(epoch uint64) porcupine.Model {
	m := porcupine.NondeterministicModel{
		Init: func() []any {
			return []any{models.Claim{Status: models.ClaimRunning, Epoch: epoch}}
		},
		Step: func(state, input, output any) []any {
			row, in, out := state.(models.Claim), input.(ClaimInput), output.(ClaimOutput)
			if in.Op == ClaimHead {
				return keepIf(out.Lost || row.Owner == out.Owner && row.Epoch == out.Epoch, row)
			}
			next := row
			done := claimStep(&next, in)
			switch {
			case out.Lost && done:
				return []any{row, next}
			case out.Lost:
				return []any{row}
			}
			return keepIf(done == out.Done, next)
		},
		Equal: func(a, b any) bool { return a == b },
	}
	return m.ToModel()
}

func claimStep(row *models.Claim, in ClaimInput) bool {
	switch in.Op {
	case ClaimTake:
		return row.Take(in.Epoch, in.Owner) == models.ClaimDone
	case ClaimRelease:
		return row.Release(in.Owner, in.Epoch)
	case ClaimCommit:
		return row.Commit(in.Owner, in.Epoch, false) == models.ClaimDone
	case ClaimRenew:
		return row.Renew(in.Owner, in.Epoch) == models.ClaimDone
	case ClaimHead:
	}
	return false
}

func keepIf(ok bool, row models.Claim) []any {
	if !ok {
		return nil
	}
	return []any{row}
}
