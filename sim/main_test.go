package sim

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childVar names the child that a process of this test binary is to be, instead of running tests: for what ends its
// process.
const childVar = "MILLRACE_SIM_CHILD"

func TestMain(m *testing.M) {
	if child := children[os.Getenv(childVar)]; child != nil {
		child()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
