// Package node is an edge: it may use the runtime.
package node

import "time"

// Answer is imported from below, which is wrong there.
const Answer = 42

// Started is allowed here.
var Started = time.Now()
