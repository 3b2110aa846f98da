package timer

import (
	"errors"
	"fmt"
	"time"
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
	maxLanes   = 1024
	maxBatch   = 4096
	maxBackoff = time.Hour
)

// Validate returns every field that is out of its range, joined.
func (o Options) Validate() error {
	o = o.withDefaults()
	var faults []error
	number := func(name string, value, most int) {
		if value < 1 || value > most {
			faults = append(faults, fmt.Errorf("timer option %s: %d is not in 1 … %d", name, value, most))
		}
	}
	span := func(name string, value time.Duration) {
		if value < time.Millisecond || value > maxBackoff {
			faults = append(faults, fmt.Errorf("timer option %s: %v is not in 1ms … %v", name, value, maxBackoff))
		}
	}
	number("Lanes", o.Lanes, maxLanes)
	number("Batch", o.Batch, maxBatch)
	span("Backoff", o.Backoff)
	span("MaxBackoff", o.MaxBackoff)
	span("Poll", o.Poll)
	return errors.Join(faults...)
}

func (o Options) withDefaults() Options {
	setDefault(&o.Lanes, 1)
	setDefault(&o.Batch, 64)
	setDefault(&o.Backoff, 10*time.Millisecond)
	setDefault(&o.MaxBackoff, 5*time.Second)
	setDefault(&o.Poll, 15*time.Second)
	return o
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
