// Package orders is the example package of the demo, for commands that run it without a checkout.
package orders

import "embed"

// FS holds the package's files.
//
//go:embed millrace.yaml approve.bpmn
var FS embed.FS
