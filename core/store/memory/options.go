package memory

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

// Options say which faults an engine may draw. The zero value draws none and takes no time.
type Options struct {
	// Latency is the most that an operation takes, drawn in Steps of it. Range 0 to an hour.
	Latency time.Duration

	// Refuse makes one in Refuse operations fail with store.ErrUnavailable before anything happened. 0 is never, 1
	// is always. Range 0 to 1000.
	Refuse int

	// Lose makes one in Lose commits end with store.ErrUnknown. What became of it is drawn: it landed, it never
	// will, or, with a Scope, it is still on its way. 0 is never. Range 0 to 1000.
	Lose int

	// Halt makes one in Halt syncs fail. The engine then acknowledges nothing until Crash. 0 is never. Range 0 to 1000.
	Halt int

	// Only restricts faults and latency to operations with these names (take, release, commit, head, recorded, …).
	// Empty means all.
	Only []string

	// Budget is the most faults drawn in total; afterwards everything works. 0 is no limit. Progress is demanded
	// only with a Budget. Range 0 to 1000000.
	Budget int

	// Scope is where commits that are on their way live. Nil: none is.
	Scope *sched.Scope
}

const (
	maxRate    = 1000
	maxBudget  = 1_000_000
	maxLatency = time.Hour
	// latencySteps bounds the draw, so that a search sees few alternatives.
	latencySteps = 4
)

// Validate joins every fault of the options.
func (o Options) Validate() error {
	var faults []error
	check := func(name string, value, most int) {
		if value < 0 || value > most {
			faults = append(faults, fmt.Errorf("%s: %d is not in 0..%d", name, value, most))
		}
	}
	check("refuse", o.Refuse, maxRate)
	check("lose", o.Lose, maxRate)
	check("halt", o.Halt, maxRate)
	check("budget", o.Budget, maxBudget)
	if o.Latency < 0 || o.Latency > maxLatency {
		faults = append(faults, fmt.Errorf("latency: %v is not in 0..%v", o.Latency, maxLatency))
	}
	return errors.Join(faults...)
}

func (o *Options) covers(name string) bool { return len(o.Only) == 0 || slices.Contains(o.Only, name) }
