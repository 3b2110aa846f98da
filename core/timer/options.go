package timer

import (
	"time"

	"github.com/millrace-dev/millrace/core/option"
)

// Options of the timers. A zero field means its default.
type Options struct {
	// Lanes is the number of lanes, at least 1; each has a task here, so that a busy lane delays only its own
	// timers. Default 1.
	Lanes int
	// Batch is how many timers wait for one lane here at most, 1 … 4096. Default 64.
	Batch int
	// Backoff is the first delay after a refusal; each further one doubles it up to MaxBackoff. 1 ms … 1 h.
	// Defaults 10 ms and 5 s.
	Backoff, MaxBackoff time.Duration
	// Poll is the longest time between two looks at the store, which is how long a timer that another replica
	// armed may stay unnoticed. 1 ms … 1 h. Default 15 s.
	Poll time.Duration
}

const (
	maxLanes = 1024
	maxBatch = 4096
	maxSpan  = time.Hour
)

// Validate returns every field that is out of its range, joined.
func (o Options) Validate() error {
	o = o.withDefaults()
	r := option.Of("timer")
	r.Number("Lanes", o.Lanes, maxLanes)
	r.Number("Batch", o.Batch, maxBatch)
	r.Span("Backoff", o.Backoff, maxSpan)
	r.Span("MaxBackoff", o.MaxBackoff, maxSpan)
	r.Span("Poll", o.Poll, maxSpan)
	return r.Join()
}

func (o Options) withDefaults() Options {
	option.Default(&o.Lanes, 1)
	option.Default(&o.Batch, 64)
	option.Default(&o.Backoff, 10*time.Millisecond)
	option.Default(&o.MaxBackoff, 5*time.Second)
	option.Default(&o.Poll, 15*time.Second)
	return o
}
