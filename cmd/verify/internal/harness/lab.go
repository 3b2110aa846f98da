// Package harness builds and runs test binaries for the commands of cmd/verify: it compiles each
// package once, runs its tests with an environment, follows their outcome line by line, keeps logs and
// records under out/, and shows progress and tables.
package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Lab is where commands run.
type Lab struct {
	Root     string    // of the module
	Out      string    // for everything that runs leave behind
	Stdout   io.Writer // for people
	Terminal bool      // Stdout is a terminal: progress lines may overwrite themselves
	Cores    int
	Flags    []string // of every build

	built map[string]string // test binaries by package folder: one process builds each once
}

// NewLab returns the lab of the module at root that talks to stdout.
func NewLab(root string, stdout *os.File) *Lab {
	info, err := stdout.Stat()
	return &Lab{
		Root: root, Out: filepath.Join(root, "out"), Stdout: stdout, Cores: runtime.NumCPU(),
		Terminal: err == nil && info.Mode()&os.ModeCharDevice != 0,
	}
}

// Printf writes to the people who watch. A terminal that went away is no reason to stop a run.
func (l *Lab) Printf(format string, args ...any) {
	fmt.Fprintf(l.Stdout, format, args...)
}

// Path returns a path under the output folder and creates the folders above it.
func (l *Lab) Path(elements ...string) (string, error) {
	file := filepath.Join(append([]string{l.Out}, elements...)...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", fmt.Errorf("make output folder: %w", err)
	}
	return file, nil
}

// Lock waits until no other process holds the lock of that name under the output folder, and returns what
// gives it back. The operating system gives back what a killed process held.
func (l *Lab) Lock(elements ...string) (func(), error) {
	path, err := l.Path(elements...)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return func() { file.Close() }, nil //nolint:errcheck // closing gives the lock back in any case
}

// WriteJSON writes value as the file of that name under the output folder.
func (l *Lab) WriteJSON(name string, value any) error {
	file, err := l.Path(name)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// Command prepares a command of the tree whose whole process group ends with ctx: the go command's
// children outlive a kill of the go command alone.
func (l *Lab) Command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = filepath.Join(l.Root, dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// ErrBuild means that the go command refused to build.
var ErrBuild = errors.New("build failed")

// Apart returns a lab of the same tree that keeps what it leaves in a folder of its own, and builds everything itself, with flags.
func (l *Lab) Apart(folder string, flags ...string) *Lab {
	apart := *l
	apart.Out, apart.Flags, apart.built = filepath.Join(l.Out, folder), flags, nil
	return &apart
}

// Compile builds the test binary of each package folder, unless this lab has built it already, and returns
// the binaries by folder. What did not build is missing from them and described by the error; the others
// are usable. It is not for concurrent use.
func (l *Lab) Compile(ctx context.Context, dirs []string) (map[string]string, error) {
	if l.built == nil {
		l.built = map[string]string{}
	}
	missing := slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool { return l.built[dir] != "" })
	binaries, err := l.compile(ctx, missing)
	maps.Copy(l.built, binaries)
	for _, dir := range dirs {
		if l.built[dir] != "" {
			binaries[dir] = l.built[dir]
		}
	}
	return binaries, err
}

func (l *Lab) compile(ctx context.Context, dirs []string) (map[string]string, error) {
	binaries := map[string]string{}
	target := func(dir string) string { return filepath.Join(l.Out, "bin", Slug(dir)+".test") }
	// A folder of its own: other processes may build in this tree at the same time.
	if err := os.MkdirAll(filepath.Join(l.Out, "bin"), 0o755); err != nil {
		return binaries, fmt.Errorf("compile tests: %w", err)
	}
	folder, err := os.MkdirTemp(filepath.Join(l.Out, "bin"), "batch")
	if err != nil {
		return binaries, fmt.Errorf("compile tests: %w", err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // out/ is disposable
	// One go command for as many packages as possible uses all cores. It names binaries by the last
	// path element, so it takes one package of each such name.
	var batch []string
	bases := map[string]bool{}
	for _, dir := range dirs {
		if base := path.Base(dir); !bases[base] && dir != "." {
			bases[base] = true
			batch = append(batch, dir)
		}
	}
	all := folder + string(filepath.Separator)
	if len(batch) > 1 && l.build(ctx, all, "", batch) == nil {
		for _, dir := range batch {
			if os.Rename(all+path.Base(dir)+".test", target(dir)) == nil {
				binaries[dir] = target(dir)
			}
		}
	}
	var failed []error
	for _, dir := range dirs {
		if binaries[dir] != "" || ctx.Err() != nil {
			continue
		}
		if err := l.build(ctx, target(dir), "", []string{dir}); err != nil {
			failed = append(failed, err)
			continue
		}
		binaries[dir] = target(dir)
	}
	return binaries, errors.Join(append(failed, ctx.Err())...)
}

// CompileOverlay builds the test binary of one package folder with an overlay.
func (l *Lab) CompileOverlay(ctx context.Context, dir, overlay, binary string) error {
	return l.build(ctx, binary, overlay, []string{dir})
}

func (l *Lab) build(ctx context.Context, output, overlay string, dirs []string) error {
	// Without debugging information linking takes a third less; stacks do not need it.
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", output}
	args = append(args, l.Flags...)
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	for _, dir := range dirs {
		args = append(args, "./"+dir)
	}
	text, err := l.Command(ctx, ".", "go", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: go %s: %w\n%s", ErrBuild, strings.Join(args, " "), err, Tail(string(text), 60))
	}
	return nil
}

// Slug turns a package folder into one path element.
func Slug(dir string) string { return strings.NewReplacer("/", "_", ".", "_").Replace(dir) }

// Tail returns the last lines of a text.
func Tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(all) > lines {
		all = append([]string{fmt.Sprintf("… %d lines before", len(all)-lines)}, all[len(all)-lines:]...)
	}
	return strings.Join(all, "\n")
}
