package sched

import "fmt"

// Violation is a broken invariant. Its id (for example "L3.I2") is data: a mutant counts as rejected only
// when the verdict carries the id that the inventory expects.
type Violation struct {
	ID     string
	Detail string
}

// Error returns the id and the detail.
func (v *Violation) Error() string { return v.ID + ": " + v.Detail }

// Broken returns a *Violation as an error.
func Broken(id, format string, args ...any) error {
	return &Violation{ID: id, Detail: fmt.Sprintf(format, args...)}
}
