// Package sim checks production code.
package sim

import "example.org/m/core/fine" // want import

// Run runs.
func Run() { _ = fine.ErrFine }
