package engine

import (
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// hint tells other replicas what a step has left for anybody to look at. They would find it by looking, too, but later.
func (e *Engine) hint(kinds store.Hint) {
	if e.hinter != nil && kinds != 0 {
		e.hinter.Hint(kinds)
	}
}

// hear looks where other replicas say that there is something. It is a task of its own.
func (e *Engine) hear(scope *sched.Scope) {
	for {
		kinds, err := e.hinter.NextHint(scope)
		if err != nil {
			return // the scope has ended
		}
		if kinds&store.HintTimers != 0 {
			e.timers.Armed(e.s.Now())
		}
		if kinds&store.HintEmissions != 0 {
			e.outbox.Emitted()
		}
		if kinds&store.HintTasks != 0 {
			e.board.Announce()
		}
		if kinds&store.HintMail != 0 {
			e.box.LookAll()
		}
		if kinds&store.HintEnds != 0 {
			e.ends.One()
		}
	}
}

// compareEnds compares what is held here with durable state when other replicas say that instances have ended. It is a task of its own: the
// reads are one after the other, and what is told meanwhile is one more round.
func (e *Engine) compareEnds(scope *sched.Scope) {
	for {
		news := e.ends.Register()
		if news.Wait(scope) != nil {
			return
		}
		e.settlement.Compare(scope, e.durableEnd)
	}
}
