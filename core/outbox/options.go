package outbox

import (
	"time"

	"github.com/millrace-dev/millrace/core/option"
)

// Options of a sender. A zero field means its default.
type Options struct {
	// Workers is how many instances are served at once, 1 … 256. Default 4.
	Workers int
	// Batch is how many rows one look at the store reads, and how many runs wait for a worker at most.
	// 1 … 4096. Default 128.
	Batch int
	// Timeout is how long the receiver may take to acknowledge one emission. 1 ms … 1 h. Default 30 s.
	Timeout time.Duration
	// Backoff is the delay of an instance after a failed send; each further one doubles it up to MaxBackoff.
	// 1 ms … 1 h. Defaults 50 ms and 10 s.
	Backoff, MaxBackoff time.Duration
	// Poll is the longest time between two looks at the store, which is how long a row that another
	// replica wrote may stay unnoticed. 1 ms … 1 h. Default 5 s.
	Poll time.Duration
}

const (
	maxWorkers = 256
	maxBatch   = 4096
	maxSpan    = time.Hour
)

// Validate returns every field that is out of its range, joined.
func (o Options) Validate() error {
	o = o.withDefaults()
	r := option.Of("outbox")
	r.Number("Workers", o.Workers, maxWorkers)
	r.Number("Batch", o.Batch, maxBatch)
	r.Span("Timeout", o.Timeout, maxSpan)
	r.Span("Backoff", o.Backoff, maxSpan)
	r.Span("MaxBackoff", o.MaxBackoff, maxSpan)
	r.Span("Poll", o.Poll, maxSpan)
	return r.Join()
}

func (o Options) withDefaults() Options {
	option.Default(&o.Workers, 4)
	option.Default(&o.Batch, 128)
	option.Default(&o.Timeout, 30*time.Second)
	option.Default(&o.Backoff, 50*time.Millisecond)
	option.Default(&o.MaxBackoff, 10*time.Second)
	option.Default(&o.Poll, 5*time.Second)
	return o
}
