package harness

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Status is how one test function ended.
type Status string

// The statuses. Crashed is a test that started and never reported an end.
const (
	Passed  Status = "PASS"
	Failed  Status = "FAIL"
	Skipped Status = "SKIP"
	Crashed Status = "CRASH"
)

// Outcome is how one top-level test function ended.
type Outcome struct {
	Dir     string  `json:"package"`
	Test    string  `json:"test"`
	Status  Status  `json:"status"`
	Seconds float64 `json:"seconds"`
	Output  string  `json:"output,omitempty"` // the end of what it printed, unless it passed
}

// Order is one run of a test binary.
type Order struct {
	Dir     string // package folder, where the binary runs
	Binary  string
	Run     string // pattern of tests; empty for all
	Skip    string // pattern of tests left out; empty for none
	Env     []string
	Args    []string
	Log     string        // file that keeps the whole output; empty for none
	Timeout time.Duration // of the whole binary; required
	Ended   func(Outcome) // called as each test ends; may be nil
}

// Result is what a run of a test binary did.
type Result struct {
	Outcomes []Outcome
	TimedOut bool
	Exit     int    // of the process
	Output   string // its end, for a message when nothing else explains the failure
}

// OK reports whether the process ended well and no test failed, crashed or was skipped.
func (r Result) OK() bool {
	for _, o := range r.Outcomes {
		if o.Status != Passed {
			return false
		}
	}
	return r.Exit == 0 && !r.TimedOut
}

// Run runs a test binary with -count=1 and follows it. An error means that it could not be run at all.
func (l *Lab) Run(ctx context.Context, order Order) (Result, error) {
	bounded, cancel := context.WithTimeout(ctx, order.Timeout+10*time.Second)
	defer cancel()
	args := []string{"-test.v=test2json", "-test.count=1", "-test.timeout=" + order.Timeout.String()}
	if order.Run != "" {
		args = append(args, "-test.run="+order.Run)
	}
	if order.Skip != "" {
		args = append(args, "-test.skip="+order.Skip)
	}
	scratch, err := scratchFolder()
	if err != nil {
		return Result{}, fmt.Errorf("run tests of %s: %w", order.Dir, err)
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // what a server of a killed test still holds, it removes itself
	cmd := l.Command(bounded, order.Dir, order.Binary, append(args, order.Args...)...)
	cmd.Env = append(append(os.Environ(), "TMPDIR="+scratch), order.Env...)
	read, write := io.Pipe()
	cmd.Stdout, cmd.Stderr = write, write
	f := follower{dir: order.Dir, ended: order.Ended, log: io.Discard}
	if order.Log != "" {
		file, err := os.Create(order.Log)
		if err != nil {
			return Result{}, fmt.Errorf("run tests of %s: %w", order.Dir, err)
		}
		defer file.Close() //nolint:errcheck // a log; its loss is seen when it is read
		f.log = file
	}
	if err := cmd.Start(); err != nil {
		return Result{}, fmt.Errorf("run tests of %s: %w", order.Dir, err)
	}
	followed := make(chan error, 1)
	go func() { followed <- f.follow(read) }()
	waited := cmd.Wait()
	if err := errors.Join(write.Close(), <-followed); err != nil {
		return Result{}, fmt.Errorf("follow tests of %s: %w", order.Dir, err)
	}
	return f.result(bounded, waited)
}

// scratchFolder makes a folder for the temporary files of one test binary. A test that is killed, or ends its process, cannot remove its own;
// whole runs must leave nothing behind. Everybody may write there, as in the folder that it stands for: PostgreSQL runs as another user.
func scratchFolder() (string, error) {
	dir, err := os.MkdirTemp("", "verify")
	if err != nil {
		return "", err
	}
	return dir, os.Chmod(dir, 0o777|os.ModeSticky)
}

// follower reads the output of one test binary.
type follower struct {
	dir      string
	ended    func(Outcome)
	log      io.Writer
	outcomes []Outcome
	running  string   // the top-level test that runs
	lines    []string // what it printed, bounded
	last     []string // what the process printed, bounded
}

const keptLines = 120

func (f *follower) follow(r io.Reader) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			if _, failed := io.WriteString(f.log, strings.ReplaceAll(line, "\x16", "")); failed != nil {
				// Keep reading: a writer that nobody reads would hang the test process.
				f.log = io.Discard
			}
			f.line(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// line handles one line. The test binary marks its own framing with the byte 0x16, so a test that
// prints "--- PASS" deceives nobody.
func (f *follower) line(line string) {
	line = strings.TrimRight(line, "\n")
	text, frame, framed := strings.Cut(line, "\x16")
	if text != "" || !framed {
		f.lines = keep(f.lines, text)
		f.last = keep(f.last, text)
	}
	if framed {
		f.frame(frame)
	}
}

func keep(lines []string, line string) []string {
	if len(lines) >= 2*keptLines {
		lines = append(lines[:0], lines[keptLines:]...)
	}
	return append(lines, line)
}

func (f *follower) frame(frame string) {
	if test, ok := strings.CutPrefix(frame, "=== RUN   "); ok {
		if !strings.Contains(test, "/") {
			f.running, f.lines = test, nil
		}
		return
	}
	f.last = keep(f.last, frame)
	for _, status := range []Status{Passed, Failed, Skipped} {
		rest, ok := strings.CutPrefix(frame, "--- "+string(status)+": ")
		if !ok {
			continue
		}
		test, seconds, _ := strings.Cut(rest, " (")
		if strings.Contains(test, "/") {
			return
		}
		o := Outcome{Dir: f.dir, Test: test, Status: status}
		// A number that does not parse is a time unknown, which 0 says well enough.
		o.Seconds, _ = strconv.ParseFloat(strings.TrimSuffix(seconds, "s)"), 64)
		f.end(o)
	}
}

func (f *follower) end(o Outcome) {
	if o.Status != Passed {
		o.Output = Tail(strings.Join(f.lines, "\n"), keptLines)
	}
	f.outcomes = append(f.outcomes, o)
	f.running, f.lines = "", nil
	if f.ended != nil {
		f.ended(o)
	}
}

func (f *follower) result(ctx context.Context, waited error) (Result, error) {
	if f.running != "" {
		f.end(Outcome{Dir: f.dir, Test: f.running, Status: Crashed})
	}
	last := strings.Join(f.last, "\n")
	r := Result{Outcomes: f.outcomes, Output: Tail(last, keptLines)}
	r.TimedOut = errors.Is(ctx.Err(), context.DeadlineExceeded) || strings.Contains(last, "panic: test timed out after")
	var exit *exec.ExitError
	switch {
	case errors.As(waited, &exit):
		r.Exit = exit.ExitCode()
	case waited != nil:
		return r, fmt.Errorf("run tests of %s: %w", f.dir, waited)
	}
	return r, nil
}
