// Command detect runs programs with plain memory, outside of any Cell, under Go's race detector and the simulator's
// schedules. `verify race` builds it; a build without the detector refuses to run.
//
// It prints one line a program: name, verdict or "silent". Standard error has the reports.
package main

import (
	"fmt"
	"os"

	"github.com/millrace-dev/millrace/sim"
)

func main() {
	if !sim.Detecting() {
		fmt.Fprintln(os.Stderr, "detect: built or started without the detector: run `go run ./cmd/verify race`")
		os.Exit(2)
	}
	for _, p := range all {
		for _, strategy := range []string{"random", "pct3"} {
			r, err := sim.Explore(p.name, strategy, p.body, sim.Runs(40))
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			verdict := "silent"
			if r.Failure != nil {
				verdict = r.Failure.Verdict()
			}
			fmt.Fprintf(os.Stdout, "%s\t%s\t%d\t%s\n", p.name, strategy, r.Executions, verdict)
		}
	}
}
