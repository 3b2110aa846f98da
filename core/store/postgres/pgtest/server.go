package pgtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// ErrMissing means that no server is installed.
var ErrMissing = errors.New("pgtest: PostgreSQL is not installed: install the Debian package postgresql, or put postgres and initdb on the PATH")

// Server is a running server.
type Server struct {
	dir   string
	shell *exec.Cmd
	stdin io.WriteCloser
	log   chan string // the last lines of the server, once it has ended
}

// Options of a server.
type Options struct {
	// Sync makes commits durable, as production must. Without it the server is faster, and a loss of power destroys its data.
	Sync bool
	// Settings are further settings of the server, name=value.
	Settings []string
}

// supervise runs the server until its standard input ends, which it does when the process that started it has ended, however that
// happened. Then it stops the server and removes the directory. Each line before that says that the server was killed, and starts it again.
const supervise = `dir=$1; shift; "$@" & p=$!; exec 2>/dev/null; while read -r _; do wait $p; "$@" & p=$!; done; kill -INT $p; wait $p; rm -rf "$dir"; true`

// Start makes an empty cluster and starts a server on it. Stop ends it.
func Start(o Options) (*Server, error) {
	s, err := start(o)
	if err != nil {
		return nil, fmt.Errorf("start a private PostgreSQL: %w", err)
	}
	return s, nil
}

func start(o Options) (*Server, error) {
	bin, err := find()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	who, err := servant(dir)
	if err == nil {
		err = initialize(bin, dir, who)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s := &Server{dir: dir, log: make(chan string, 1)}
	if err := s.launch(bin, who, o); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// find returns the folder of the server's programs: the newest of Debian's, else that of the PATH.
func find() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // another name is version 0
		return n
	}
	if len(found) > 0 {
		slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
		return filepath.Dir(found[0]), nil
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", ErrMissing
}

// Installed reports whether there is a server to start.
func Installed() bool {
	_, err := find()
	return err == nil
}

// servant returns whom the server runs as: it refuses to run as root. The directory becomes theirs.
func servant(dir string) (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, err
		}
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, os.Chown(dir, int(uid), int(gid))
}

func initialize(bin, dir string, who *syscall.SysProcAttr) error {
	c := exec.Command(filepath.Join(bin, "initdb"), "-D", filepath.Join(dir, "data"), "-U", "millrace", "-A", "trust",
		"--no-locale", "-E", "UTF8", "--no-sync", "--no-instructions")
	c.SysProcAttr, c.Dir = who, dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// launch starts the server and returns when it accepts connections.
func (s *Server) launch(bin string, who *syscall.SysProcAttr, o Options) error {
	sync := "off"
	if o.Sync {
		sync = "on"
	}
	args := []string{"-c", supervise, "sh", s.dir, filepath.Join(bin, "postgres"), "-D", filepath.Join(s.dir, "data"), "-k", s.dir, "-h", ""}
	for _, setting := range append([]string{"fsync=" + sync, "max_connections=100", "log_min_messages=warning"}, o.Settings...) {
		args = append(args, "-c", setting)
	}
	s.shell = exec.Command("sh", args...)
	s.shell.SysProcAttr, s.shell.Dir = who, s.dir
	stdin, err := s.shell.StdinPipe()
	if err != nil {
		return err
	}
	s.stdin = stdin
	// A pipe of our own: the shell closes its end of it, so it ends with the server and not with the shell.
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	s.shell.Stderr = write
	if err := s.shell.Start(); err != nil {
		return errors.Join(err, read.Close(), write.Close())
	}
	ready := make(chan struct{})
	go s.watch(read, ready)
	if err := write.Close(); err != nil {
		return err
	}
	select {
	case <-ready:
		return nil
	case log := <-s.log:
		return errors.Join(fmt.Errorf("the server ended:\n%s", log), s.stdin.Close(), s.shell.Wait())
	}
}

// watch reads what the server says.
func (s *Server) watch(log io.ReadCloser, ready chan struct{}) {
	defer func() { _ = log.Close() }() // it was read to its end
	var last []string
	up := false
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if line := lines.Text(); !up && strings.Contains(line, "ready to accept connections") {
			up = true
			close(ready)
		} else if last = append(last, line); len(last) > 50 {
			last = last[1:]
		}
	}
	s.log <- strings.Join(last, "\n")
}

// URL is what to connect with.
func (s *Server) URL() string {
	return "host=" + s.dir + " user=millrace dbname=postgres sslmode=disable"
}

// Stop ends the server and removes its data.
func (s *Server) Stop() error {
	err := errors.Join(s.stdin.Close(), s.shell.Wait())
	if err == nil {
		<-s.log
		err = os.RemoveAll(s.dir) // the server's user may not remove it from a folder that is only ours
	}
	if err != nil {
		return fmt.Errorf("stop PostgreSQL: %w", err)
	}
	return nil
}
