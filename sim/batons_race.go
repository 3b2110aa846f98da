//go:build race

package sim

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"github.com/petermattis/goid"
)

// batons is set by `verify race`. Every hand-over orders what the detector sees, also where the program does not, and
// so hides each race from it. Here tasks are goroutines that pass a baton over channels while the detector looks away, and
// the simulator itself is built without instrumentation. What remains for the detector is the memory of the program, and
// the order that its own synchronization gives. Where the simulator stands in for a primitive (a permit, a rendezvous, a
// timer, the start and the end of a task) it draws the edge by hand.
//
// Two things make the detector see more order than there is: a timer's function runs on the goroutine of whoever let it
// fire, and the end of the check is ordered after the task that began it.
//
// Neither invariants nor the specifications that listen to events are evaluated: from any task they read what others guard, or write what they
// keep themselves. The detector can be told to overlook synchronization, but no access; it reports one race of an access and no second, and an
// access that raced is not remembered. So to leave out the reports about them would hide others. The same seeds without the detector evaluate them.
var batons = os.Getenv("MILLRACE_RACE") == "batons"

// baton wakes the goroutine that is parked in a slot.
type baton struct{ wake chan struct{} }

// nursery starts goroutines. The go statement orders the starter before the started: here that is nobody of the program.
type nursery struct{ births chan func() }

func (n *nursery) run() {
	for f := range n.births {
		go f()
	}
}

// raceState is a world's part of this build.
type raceState struct {
	nursery *nursery
	used    []*coroutine // have run a task of this execution, and run no other in it: that would order the two
	found   int          // reports when the execution began
	read    int64        // of the detector's log
}

func (c *coroutine) startWithBaton() {
	w := c.w
	if w.detector.nursery == nil {
		w.detector.nursery = &nursery{births: make(chan func())}
		go w.detector.nursery.run()
	}
	c.idle.wake = make(chan struct{}, 1)
	ready := make(chan struct{})
	quietly(func() {
		w.detector.nursery.births <- func() {
			c.goid = goid.Get()
			defer c.passOn()
			quietly(func() {
				close(ready)
				<-c.idle.wake
			})
			c.loop()
		}
		<-ready
	})
}

// passOn wakes whoever waits for the end of c: the one that told it to end, or the driver when a task called Goexit.
func (c *coroutine) passOn() {
	c.gone = true
	to := c.end
	if to == nil {
		to = &c.w.driver
	}
	quietly(func() { to.wake <- struct{}{} })
}

// endsAt says who waits for the end of c.
func (c *coroutine) endsAt(s *slot) {
	if s.wake == nil {
		s.wake = make(chan struct{}, 1)
	}
	c.end = s
}

// handBaton is park over channels.
func (from *slot) handBaton(to *slot) {
	if from.wake == nil {
		from.wake = make(chan struct{}, 1)
	}
	quietly(func() {
		to.wake <- struct{}{}
		<-from.wake
	})
}

// quietly runs f while the detector takes no notice of synchronization.
func quietly(f func()) {
	runtime.RaceDisable()
	f()
	runtime.RaceEnable()
}

func raceRelease(p unsafe.Pointer) {
	if batons {
		runtime.RaceReleaseMerge(p)
	}
}

func raceAcquire(p unsafe.Pointer) {
	if batons {
		runtime.RaceAcquire(p)
	}
}

func (w *World) raceBegins() {
	if batons {
		w.detector.found, w.detector.read = runtime.RaceErrors(), 0
		if log := raceLog(); log != "" {
			if info, err := os.Stat(log); err == nil { // else nothing was reported yet
				w.detector.read = info.Size()
			}
		}
	}
}

// raceFound turns a report of the detector into the verdict.
func (w *World) raceFound() bool {
	if !batons || w.failed || runtime.RaceErrors() == w.detector.found {
		return false
	}
	w.detector.found = runtime.RaceErrors()
	report := relevant(w.raceReport())
	if report == "" {
		return false
	}
	w.fail("race", "memory", "Go's race detector reports, on memory that is in no Cell:\n"+report)
	return true
}

// relevant leaves out accesses by the check itself: what it notes down beside the program is ordered by nothing, on
// purpose.
func relevant(text string) string {
	const border = "==================\n"
	var kept []string
	for block := range strings.SplitSeq(text, border) {
		if strings.Contains(block, "DATA RACE") && !ofCheck(block) {
			kept = append(kept, block)
		}
	}
	return strings.Join(kept[max(0, len(kept)-1):], border) // another world's may come first
}

// ofCheck reports whether the innermost line of one of the two accesses, outside of the runtime, is a check's, or the
// simulator's: the runtime's own copying is instrumented everywhere.
func ofCheck(block string) bool {
	lines := strings.Split(block, "\n")
	for i, line := range lines {
		access := strings.Contains(line, " at 0x") && strings.HasSuffix(line, ":")
		if !access {
			continue
		}
		for j := i + 1; j+1 < len(lines) && strings.HasPrefix(lines[j], "  "); j += 2 {
			if strings.HasPrefix(lines[j], "  runtime.") || strings.HasPrefix(lines[j], "  internal/") {
				continue
			}
			if strings.Contains(lines[j+1], "_test.go:") || strings.Contains(lines[j], "millrace/sim.") {
				return true
			}
			break
		}
	}
	return false
}

// raceReport reads what the detector has written since the last time, when GORACE sends it to a file.
func (w *World) raceReport() string {
	log := raceLog()
	if log == "" {
		return "WARNING: DATA RACE, see standard error"
	}
	text, err := readFrom(log, w.detector.read)
	if err != nil {
		return "WARNING: DATA RACE, whose report cannot be read: " + err.Error()
	}
	w.detector.read += int64(len(text))
	return text
}

// raceLog is the file that GORACE sends reports to, "" for standard error.
func raceLog() string {
	for option := range strings.FieldsSeq(os.Getenv("GORACE")) {
		if path, ok := strings.CutPrefix(option, "log_path="); ok {
			return fmt.Sprintf("%s.%d", path, os.Getpid())
		}
	}
	return ""
}

// readFrom returns what a file has from a place on.
func readFrom(path string, at int64) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	if _, err := file.Seek(at, io.SeekStart); err != nil {
		return "", err
	}
	text, err := io.ReadAll(file)
	return string(text), err
}

// retire keeps c for the next execution.
func (w *World) retire(c *coroutine) { w.detector.used = append(w.detector.used, c) }

// drained ends the nursery with its world.
func (w *World) drained() {
	if w.detector.nursery != nil {
		close(w.detector.nursery.births)
		w.detector.nursery = nil
	}
}

// raceEnds orders everything in this execution before the next.
func (w *World) raceEnds() {
	if !batons {
		return
	}
	w.raceUnwinds()
	w.pool = append(w.pool, w.detector.used...)
	w.detector.used = w.detector.used[:0]
}

// raceUnwinds orders a deferred function that runs after the end of the execution behind all of it.
func (w *World) raceUnwinds() {
	if batons {
		for _, t := range w.tasks {
			raceAcquire(unsafe.Pointer(t))
		}
	}
}
