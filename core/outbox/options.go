package outbox

import (
	"errors"
	"fmt"
	"time"
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

// Validate returns every field that is out of its range, joined.
func (o Options) Validate() error {
	o = o.withDefaults()
	var faults []error
	number := func(name string, value, most int) {
		if value < 1 || value > most {
			faults = append(faults, fmt.Errorf("outbox option %s: %d is not in 1 … %d", name, value, most))
		}
	}
	span := func(name string, value time.Duration) {
		if value < time.Millisecond || value > time.Hour {
			faults = append(faults, fmt.Errorf("outbox option %s: %v is not in 1ms … 1h", name, value))
		}
	}
	number("Workers", o.Workers, 256)
	number("Batch", o.Batch, 4096)
	span("Timeout", o.Timeout)
	span("Backoff", o.Backoff)
	span("MaxBackoff", o.MaxBackoff)
	span("Poll", o.Poll)
	return errors.Join(faults...)
}

func (o Options) withDefaults() Options {
	setDefault(&o.Workers, 4)
	setDefault(&o.Batch, 128)
	setDefault(&o.Timeout, 30*time.Second)
	setDefault(&o.Backoff, 50*time.Millisecond)
	setDefault(&o.MaxBackoff, 10*time.Second)
	setDefault(&o.Poll, 5*time.Second)
	return o
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
