package main

import (
	"context"
	"os"

	"github.com/millrace-dev/millrace/tla/tlacmd"
)

// runTLA hands its arguments to the specification checker, whose exit statuses tell violations apart.
func runTLA(_ context.Context, args []string) int { return tlacmd.Main(args, os.Stdout, os.Stderr) }
