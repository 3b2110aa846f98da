package sim

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/petermattis/goid"
)

// exitStuck is the status of a process that ended because a task blocked for real.
const exitStuck = 3

// watchdog ends the process when an execution stands still in wall time: a task blocks on something that is not a
// primitive of core/sched, and a coroutine that blocks cannot be unwound.
type watchdog struct{ quit, gone chan struct{} }

func watch(w *World) watchdog {
	d := watchdog{make(chan struct{}), make(chan struct{})}
	go func() {
		defer close(d.gone)
		tick := time.NewTicker(w.opts.stall / 10)
		defer tick.Stop()
		last, since := w.beat.Load(), time.Now()
		for {
			select {
			case <-d.quit:
				return
			case <-tick.C:
			}
			if now := w.beat.Load(); now != last {
				last, since = now, time.Now()
			} else if time.Since(since) > w.opts.stall {
				w.stalled("a task blocks on something that the simulator does not control")
			}
		}
	}()
	return d
}

func (d watchdog) end() {
	close(d.quit)
	<-d.gone
}

// stalled writes the folder and ends the process. It reads the world while a task may still run: its process ends here
// either way.
func (w *World) stalled(why string) {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	w.abandon("blocking", fmt.Sprintf("%s for %s\n%s", why, w.opts.stall, stacks))
}

// foreign is the verdict when a goroutine that is no task uses a primitive. The world's state is no longer
// its own, so the process ends.
func (w *World) foreign(t *task) {
	w.abandon("foreign", fmt.Sprintf("goroutine %d used a primitive while task %d %q (goroutine %d) was running\n%s",
		goid.Get(), t.id, t.name, t.co.goid, stackText(callers(3))))
}

// exit is os.Exit, replaced by the simulator's own tests.
var exit = os.Exit

func (w *World) abandon(kind, message string) {
	w.failed = true
	w.verdict = verdict{kind: kind, message: message, step: w.steps}
	f := w.failure("watchdog", 0, 0)
	folder, err := writeFolder(w.check, w.opts.at, w.opts, f)
	if err != nil {
		folder = err.Error()
	}
	fmt.Fprintf(os.Stderr, "check %s: %s\n%s\n", w.check, f.Verdict(), message)
	fmt.Fprintf(os.Stderr, "replay: ./just replay %s\n", scheduleFile(folder))
	exit(exitStuck)
}
