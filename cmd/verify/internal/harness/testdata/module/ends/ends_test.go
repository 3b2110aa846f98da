package ends

import (
	"fmt"
	"os"
	"testing"
)

func TestPasses(t *testing.T) {
	t.TempDir()
	for os.Getenv("FIXTURE") == "hang" {
	}
	t.Run("sub", func(t *testing.T) { t.Log("sub") })
}

func TestFails(t *testing.T) {
	t.Run("sub", func(t *testing.T) { t.Errorf("the environment is %s", os.Getenv("FIXTURE")) })
}

func TestSkips(t *testing.T) { t.Skip("a fixture that skips") }

func TestPrintsFrames(t *testing.T) {
	fmt.Print("--- FAIL: TestPasses (0.00s)\n=== RUN   TestNone\nno newline at the end")
}

func TestLeftOut(t *testing.T) { t.Error("left out") }

func TestEnds(t *testing.T) { os.Exit(3) }
