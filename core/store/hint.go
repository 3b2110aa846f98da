package store

import (
	"strings"

	"github.com/millrace-dev/millrace/core/sched"
)

// Hint says what there is to look at.
type Hint uint8

// The hints.
const (
	HintTimers    Hint = 1 << iota // waits with a due time were opened
	HintEmissions                  // outbox rows were written
	HintTasks                      // external tasks are offered
	HintMail                       // a message was kept
	HintEnds                       // instances have ended for which deliveries may be held

	HintAll = HintTimers | HintEmissions | HintTasks | HintMail | HintEnds
)

// hintLetters are those of the hints, in their order.
const hintLetters = "teomd"

// String is a letter for each hint.
func (h Hint) String() string {
	var b strings.Builder
	for i := range len(hintLetters) {
		if h&(1<<i) != 0 {
			b.WriteByte(hintLetters[i])
		}
	}
	return b.String()
}

// ParseHint reads what String wrote; letters of a later version mean nothing here.
func ParseHint(text string) (h Hint) {
	for i := range len(text) {
		if n := strings.IndexByte(hintLetters, text[i]); n >= 0 {
			h |= 1 << n
		}
	}
	return h
}

// Hinter carries hints between the replicas of a store. Any may be lost, so whoever waits for what it is about also looks by itself.
type Hinter interface {
	// Hint tells the other replicas, soon. It never waits.
	Hint(kinds Hint)

	// NextHint waits for what others have told since the last call, until scope ends. Whatever was missed while there was no connection
	// counts as told. One task calls it.
	NextHint(scope *sched.Scope) (Hint, error)
}
