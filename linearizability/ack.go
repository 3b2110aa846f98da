package linearizability

import "github.com/anishathalye/porcupine"

// AckOp is an operation on an acknowledgement tree (A1).
type AckOp uint8

// The operations.
const (
	AckAttach AckOp = iota
	AckResolve
	AckFail
	AckOutcome
)

// AckInput is a call. Shares have numbers below 64: those that the tree began with, then those attached.
type AckInput struct {
	Op    AckOp
	Share int // resolved or failed; the first one of an Attach
	N     int // attached
}

// AckState is what AckOutcome returns, and with the set of resolved shares the state of the model.
type AckState struct {
	Decided, Failed bool
	unresolved      int
	resolved        uint64
}

// AckModel is the sequential specification of a tree that begins with n shares. A resolution that counts is
// atomic. One that does not count says only that another one of the same share has begun, so it constrains
// nothing; that two of one share both count is what the model forbids.
func AckModel(n int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return AckState{Decided: n == 0, unresolved: n} },
		Step: func(state, input, output any) (bool, any) {
			s, in := state.(AckState), input.(AckInput)
			switch in.Op {
			case AckAttach:
				return s.attach(in, output.(bool))
			case AckOutcome:
				out := output.(AckState)
				return s.Decided == out.Decided && s.Failed == out.Failed, s
			default:
			}
			if !output.(bool) {
				return true, s
			}
			return s.resolve(in.Share, in.Op == AckFail)
		},
	}
}

func (s AckState) attach(in AckInput, owned bool) (bool, any) {
	if owned == s.Decided {
		return false, s
	}
	if owned {
		s.unresolved += in.N
		return true, s
	}
	for i := range in.N {
		s.resolved |= 1 << (in.Share + i)
	}
	return true, s
}

func (s AckState) resolve(share int, failed bool) (bool, any) {
	if s.resolved&(1<<share) != 0 {
		return false, s
	}
	s.resolved |= 1 << share
	s.unresolved--
	if !s.Decided && (failed || s.unresolved == 0) {
		s.Decided, s.Failed = true, failed
	}
	return true, s
}
