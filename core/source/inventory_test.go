package source_test

import "github.com/millrace-dev/millrace/sim/inventory"

// No owner is here, so these checks stand beside the owners'.
var (
	_ = inventory.Planted("source/sequential-and-bounded", "attempts of a sequential intake follow each other and end in time")
	_ = inventory.Planted("source/attempts-overlap", "attempts of an intake that is not sequential do not wait for each other")
	_ = inventory.Planted("source/lines-repeat-what-failed", "a failed attempt or commit is repeated with growing waits and the same ids")
	_ = inventory.Planted("source/lines-crash-anywhere", "a stream goes on behind its committed position; dead letters come once")
	_ = inventory.Planted("source/lines-of-a-broken-stream", "what came before a stream failed is delivered, and the stream's error is told")
	_ = inventory.Planted("source/lines-of-a-rewritten-stream", "a stream that does not begin with what was read of it is not read on, and begun anew only when told")
	_ = inventory.Planted("source/lines-end-with-their-cause", "a source ends with its scope or its fenced point at once, and then nothing counts as done")
)
