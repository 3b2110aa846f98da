package source_test

import "github.com/millrace-dev/millrace/sim/inventory"

// No owner is here, so these checks stand beside the owners'.
var (
	_ = inventory.Planted("source/sequential-and-bounded", "attempts of a sequential intake follow each other and end in time")
	_ = inventory.Planted("source/lines-repeat-what-failed", "a failed attempt is repeated with growing waits and the same ids")
	_ = inventory.Planted("source/lines-crash-anywhere", "a stream goes on behind its committed position; dead letters come once")
)
