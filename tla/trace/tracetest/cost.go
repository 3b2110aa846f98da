package tracetest

import (
	"syscall"
	"testing"
	"time"
)

// Cost measures what the events of a benchmark cost the processor, from now until the function that it returns is called with
// their number: on a machine that does other things, too, the clock tells little. It reports cpu-ns/event.
func Cost(b *testing.B) (end func(events int)) {
	b.Helper()
	before := cpuTime(b)
	return func(events int) {
		b.ReportMetric(float64(cpuTime(b)-before)/float64(events), "cpu-ns/event")
	}
}

// cpuTime is what the process has used so far.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
