// Command tool imports what it likes, but no checker.
package main

import (
	"example.org/m/core/node"
	"example.org/m/sim" // want import
)

func main() {
	sim.Run()
	_ = node.Answer
}
