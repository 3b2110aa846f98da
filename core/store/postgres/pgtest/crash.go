package pgtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// crashTime bounds how long the processes of a server that was killed may take to be gone.
const crashTime = 10 * time.Second

var errLives = errors.New("a process of it does not end")

// Crash kills the server with all its processes, as if the machine had lost them, and starts it again on what is on the disk. It does not wait
// until the server accepts connections: it first has to recover.
func (s *Server) Crash() error {
	if err := s.crash(); err != nil {
		return fmt.Errorf("crash PostgreSQL: %w", err)
	}
	return nil
}

func (s *Server) crash() error {
	text, err := os.ReadFile(filepath.Join(s.dir, "data", "postmaster.pid"))
	if err != nil {
		return err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	server, err := strconv.Atoi(string(line))
	if err != nil {
		return err
	}
	// Stopped it makes no more processes, so those that are listed are all.
	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil {
		return err
	}
	all, err := children(server)
	all = append(all, server)
	for _, pid := range all {
		if killed := syscall.Kill(pid, syscall.SIGKILL); killed != nil && !errors.Is(killed, syscall.ESRCH) {
			err = errors.Join(err, killed)
		}
	}
	if err != nil {
		return err
	}
	// A server does not start while somebody uses the memory of the one before.
	for until := time.Now().Add(crashTime); len(all) > 0; {
		if _, alive := parent(all[0]); !alive {
			all = all[1:]
			continue
		}
		if time.Now().After(until) {
			return fmt.Errorf("process %d: %w", all[0], errLives)
		}
		time.Sleep(time.Millisecond)
	}
	_, err = s.stdin.Write([]byte("again\n"))
	return err
}

// children lists the processes whose parent is the one.
func children(of int) ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var out []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue // no process
		}
		if p, alive := parent(pid); alive && p == of {
			out = append(out, pid)
		}
	}
	return out, nil
}

// parent returns a process's parent, and whether the process lives: one that nobody has waited for yet does not.
func parent(pid int) (ppid int, alive bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// pid (name) state ppid …; the name may hold anything.
	_, rest, _ := strings.Cut(string(text[max(0, bytes.LastIndexByte(text, ')')):]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 2 || fields[0] == "Z" || fields[0] == "X" {
		return 0, false
	}
	ppid, err = strconv.Atoi(fields[1])
	return ppid, err == nil
}
