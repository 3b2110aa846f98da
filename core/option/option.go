// Package option is what the options of components have in common: a zero field means its default, every other value lies in a
// documented range, and whoever gives one that does not is told all of its faults at once.
package option

import (
	"errors"
	"fmt"
	"time"
)

// Default sets a field that was left out.
func Default[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Ranges collects the fields of one component that are out of their range.
type Ranges struct {
	of     string
	faults []error
}

// Of returns the ranges of a component, which faults name.
func Of(component string) *Ranges { return &Ranges{of: component} }

// Number wants 1 … most.
func (r *Ranges) Number(name string, value, most int) {
	if value < 1 || value > most {
		r.faults = append(r.faults, fmt.Errorf("%s option %s: %d is not in 1 … %d", r.of, name, value, most))
	}
}

// Span wants 1 ms … most.
func (r *Ranges) Span(name string, value, most time.Duration) {
	if value < time.Millisecond || value > most {
		r.faults = append(r.faults, fmt.Errorf("%s option %s: %v is not in 1ms … %v", r.of, name, value, most))
	}
}

// Join returns every fault, joined with others of the component.
func (r *Ranges) Join(others ...error) error { return errors.Join(append(r.faults, others...)...) }
