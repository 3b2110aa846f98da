package graph

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var rewrite = flag.Bool("rewrite", false, "rewrite expectations and docs/package.md with what was seen")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
