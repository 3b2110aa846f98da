package sim

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Schedule is a failure's schedule.json: everything that another process needs to run the execution again.
type Schedule struct {
	Check     string      `json:"check"`
	Test      string      `json:"test"`
	Package   string      `json:"package"`
	Strategy  string      `json:"strategy"`
	Seed      uint64      `json:"seed"`
	Execution int         `json:"execution"`
	Commit    string      `json:"commit"`
	GoVersion string      `json:"goversion"`
	Options   string      `json:"options"`
	Choices   string      `json:"choices"`
	Faults    []string    `json:"faults,omitempty"` // that went wrong on the way, by place and kind
	Verdict   FileVerdict `json:"verdict"`
	Hash      string      `json:"hash"`
}

// FileVerdict is a verdict as data.
type FileVerdict struct {
	Kind    string `json:"kind"`
	ID      string `json:"id"`
	Message string `json:"message"`
}

// ReadSchedule reads a schedule.json. Errors name the file and the field.
func ReadSchedule(path string) (Schedule, Choices, error) {
	var s Schedule
	text, err := os.ReadFile(path)
	if err != nil {
		return s, Choices{}, fmt.Errorf("read schedule: %w", err)
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, Choices{}, fmt.Errorf("read schedule %s: %w", path, err)
	}
	if s.Check == "" || s.Test == "" || s.Package == "" {
		return s, Choices{}, fmt.Errorf("read schedule %s: check, test and package must be set", path)
	}
	c, err := ParseChoices(s.Choices)
	if err != nil {
		return s, c, fmt.Errorf("read schedule %s: choices: %w", path, err)
	}
	return s, c, nil
}

// caller is the test that runs a check.
type caller struct{ test, pkg string }

// callerOf finds the test function and its package on the stack.
func callerOf(test string) caller {
	test, _, _ = strings.Cut(test, "/")
	var pcs [32]uintptr
	it := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := it.Next()
		slash := strings.LastIndexByte(f.Function, '/') + 1
		pkg, rest, _ := strings.Cut(f.Function[slash:], ".")
		if name, _, _ := strings.Cut(rest, "."); name == test {
			return caller{test, strings.TrimSuffix(f.Function[:slash]+pkg, "_test")}
		}
		if !more {
			return caller{test: test}
		}
	}
}

// moduleRoot walks up from the working directory to go.mod.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("no go.mod above the working directory")
		}
		dir = up
	}
}

func outFolder() (string, error) {
	if dir := os.Getenv("MILLRACE_OUT"); dir != "" {
		return dir, nil
	}
	root, err := moduleRoot()
	return filepath.Join(root, "out"), err
}

// writeFolder leaves a failure on disk and returns its folder: schedule.json (shrunk), original.json (as found),
// trace.txt and original.txt, timeline.html and the line that replays it.
func writeFolder(check string, c caller, o *options, f *Failure) (string, error) {
	out, err := outFolder()
	if err != nil {
		return "", fmt.Errorf("write failure of %s: %w", check, err)
	}
	name := fmt.Sprintf("%s-%s-%016x", strings.NewReplacer("/", "-", " ", "-").Replace(check), f.Strategy, f.Hash)
	dir := filepath.Join(out, "failures", name)
	if err := makeRoom(filepath.Dir(dir), maxFolders-1); err != nil {
		return "", fmt.Errorf("write failure of %s: %w", check, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("write failure of %s: %w", check, err)
	}
	err = writeSchedule(filepath.Join(dir, "schedule.json"), check, c, o, f)
	if err == nil && f.original != nil {
		err = errors.Join(writeSchedule(filepath.Join(dir, "original.json"), check, c, o, f.original),
			writeTraceFile(filepath.Join(dir, "original.txt"), f.original))
	}
	if err == nil {
		err = writeTraceFile(filepath.Join(dir, "trace.txt"), f)
	}
	if err == nil {
		err = writeTimeline(filepath.Join(dir, "timeline.html"), check, "./just replay "+scheduleFile(dir), f)
	}
	if err == nil {
		line := fmt.Sprintf("./just replay %s\n", scheduleFile(dir))
		err = os.WriteFile(filepath.Join(dir, "replay.txt"), []byte(line), 0o644)
	}
	if err != nil {
		return dir, fmt.Errorf("write failure of %s: %w", check, err)
	}
	return dir, nil
}

// maxFolders is how many folders stay in out/failures.
const maxFolders = 200

// makeRoom removes the oldest folders until at most n are left. Another process may do the same at the same time.
func makeRoom(dir string, n int) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("list failures: %w", err)
	}
	if len(entries) <= n {
		return nil
	}
	type folder struct {
		name string
		at   time.Time
	}
	var folders []folder
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // else it is gone already
			folders = append(folders, folder{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(folders, func(a, b folder) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.name, b.name)) })
	for _, f := range folders[:max(0, len(folders)-n)] {
		if err := os.RemoveAll(filepath.Join(dir, f.name)); err != nil {
			return fmt.Errorf("remove an old failure: %w", err)
		}
	}
	return nil
}

// writeSchedule writes the file that replays f.
func writeSchedule(path, check string, c caller, o *options, f *Failure) error {
	s := Schedule{
		Check: check, Test: c.test, Package: c.pkg, Strategy: f.Strategy, Seed: f.Seed, Execution: f.Execution,
		Commit: commit(), GoVersion: runtime.Version(), Options: o.String(), Choices: f.Choices.String(), Faults: f.Faults,
		Verdict: FileVerdict{f.Kind, f.ID, f.Message}, Hash: fmt.Sprintf("%016x", f.Hash),
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

func writeTraceFile(path string, f *Failure) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	v := verdict{f.Kind, f.ID, f.Message, f.Step}
	out := bufio.NewWriter(file) // a trace of a whole node has a hundred thousand lines
	return errors.Join(writeTrace(out, f.trace, v), out.Flush(), file.Close())
}

// scheduleFile is the schedule in a folder, relative to the module when it lies inside.
func scheduleFile(folder string) string {
	file := filepath.Join(folder, "schedule.json")
	if root, err := moduleRoot(); err == nil {
		if rel, err := filepath.Rel(root, file); err == nil && !strings.HasPrefix(rel, "..") {
			return rel
		}
	}
	return file
}

// commit is the checked-out commit, with "+" when files differ from it. A process asks once: git looks at every file.
var commit = sync.OnceValue(func() string {
	id, err := exec.Command("git", "describe", "--always", "--exclude=*", "--abbrev=12", "--dirty=+").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(id))
})
