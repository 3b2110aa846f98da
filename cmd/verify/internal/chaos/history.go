package chaos

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// Kind is what a client asked for.
type Kind string

// The kinds of operations. Each is about one key, and keys are judged apart.
const (
	Open  Kind = "open"  // starts the instance of the key; answered when it has ended
	Step  Kind = "step"  // a message to it
	Read  Kind = "read"  // what it has done so far, read under its claim
	Stamp Kind = "stamp" // a worker completes its external task
)

// Outcome is what the client was told.
type Outcome string

// The outcomes. Lost is every answer that says nothing: no answer at all, and those that ask for another attempt. Such an
// operation may have taken effect, may still, or never will.
const (
	Lost      Outcome = "lost"
	Done      Outcome = "done"      // it took effect
	Duplicate Outcome = "duplicate" // it had taken effect before
	Unmatched Outcome = "unmatched" // nothing waits for the message
	Seen      Outcome = "seen"      // what was read is in Log
	Gone      Outcome = "gone"      // there is no such running instance
	Refused   Outcome = "refused"   // the task is not held any more
	Unsent    Outcome = "unsent"    // nobody listened: nothing can have happened
)

// Operation is one call and its return.
type Operation struct {
	Client  int      `json:"client"`
	Kind    Kind     `json:"kind"`
	Key     string   `json:"key"`
	ID      string   `json:"id,omitempty"`   // of a delivery, or of a lock
	Last    bool     `json:"last,omitempty"` // the step after which no other is taken
	Replica int      `json:"replica"`
	Call    int64    `json:"call"`   // position among all calls and returns
	Return  int64    `json:"return"` // 0: lost, it may take effect at any time after Call
	Outcome Outcome  `json:"outcome"`
	Log     []string `json:"log,omitempty"` // Seen

	Instance string        `json:"instance,omitempty"`
	At       time.Duration `json:"at"`             // of the call, since the run began
	Took     time.Duration `json:"took"`           // until the answer, or until it was given up
	Said     string        `json:"said,omitempty"` // the answer of one that is lost
}

// acknowledged says that the client knows that the effect is there.
func (o Operation) acknowledged() bool { return o.Outcome == Done || o.Outcome == Duplicate }

// History is the calls and returns of all clients in one order. It is safe for any number of tasks.
type History struct {
	started time.Time

	mu  sync.Mutex // guards the rest
	now int64
	ops []Operation
}

// NewHistory begins a history now.
func NewHistory() *History { return &History{started: time.Now()} }

// Begin records a call and returns what records its return.
func (h *History) Begin() (end func(Operation)) {
	h.mu.Lock()
	h.now++
	call := h.now
	h.mu.Unlock()
	at := time.Since(h.started)
	return func(op Operation) {
		took := time.Since(h.started) - at
		h.mu.Lock()
		defer h.mu.Unlock()
		h.now++
		op.Call, op.At, op.Took = call, at, took
		if op.Outcome != Lost {
			op.Return = h.now
		}
		h.ops = append(h.ops, op)
	}
}

// Mark returns the present position: what is called later has a higher one.
func (h *History) Mark() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now++
	return h.now
}

// Operations returns what was recorded, in the order of the calls.
func (h *History) Operations() []Operation {
	h.mu.Lock()
	defer h.mu.Unlock()
	ops := slices.Clone(h.ops)
	slices.SortFunc(ops, func(a, b Operation) int { return int(a.Call - b.Call) })
	return ops
}

// writeLines writes values as lines of JSON.
func writeLines[T any](path string, values []T) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	out := json.NewEncoder(file)
	for _, v := range values {
		if err = out.Encode(v); err != nil {
			break
		}
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// byKey groups operations, keys in the order of their first call.
func byKey(ops []Operation) (keys []string, of map[string][]Operation) {
	of = map[string][]Operation{}
	for _, op := range ops {
		if of[op.Key] == nil {
			keys = append(keys, op.Key)
		}
		of[op.Key] = append(of[op.Key], op)
	}
	return keys, of
}
