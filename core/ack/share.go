package ack

import "github.com/millrace-dev/millrace/core/sched"

// Share is one part of a tree. It is resolved once, by whoever comes first; what comes later changes nothing and
// learns so. Shares lie in the slice that Attach returned: pass pointers.
//
//	held ──Ack, Fail──▶ resolved        unowned: attached too late, stays so
type Share struct {
	tree  *Tree
	state sched.Uint32
}

const (
	held uint32 = iota
	resolved
	unowned
)

// Ack resolves the share positively and reports whether this call did it.
func (sh *Share) Ack() bool { return sh.resolve(nil) }

// Fail resolves the share negatively with a cause, which must not be nil, and reports whether this call did it.
func (sh *Share) Fail(cause error) bool {
	if cause == nil {
		panic("ack: a share fails without a cause")
	}
	return sh.resolve(cause)
}

func (sh *Share) resolve(err error) bool {
	if !sh.take() {
		return false
	}
	if sh.tree.s.Traced() {
		sh.tree.emit("Take", sh, err != nil)
	}
	sh.tree.resolve(err)
	return true
}

// take is the one point at which a share is resolved.
func (sh *Share) take() bool { return sh.state.CompareAndSwap(held, resolved) }

// Owned reports whether resolving the share can still change anything.
func (sh *Share) Owned() bool { return sh.state.Load() == held }

// Attach adds n shares to the share's tree; see [Tree.Attach]. The share itself stays as it is: whoever hands
// work on attaches first and resolves its own share afterwards.
func (sh *Share) Attach(n int) []Share { return sh.tree.Attach(n) }

// Duplicates reports that n rows of what the share stands for were processed before. Call it before the share is
// resolved: the receiver then counts them.
func (sh *Share) Duplicates(n int) {
	if n > 0 {
		sh.tree.duplicates.Add(int64(n))
	}
}

// Tree returns the share's tree.
func (sh *Share) Tree() *Tree { return sh.tree }
