package pgtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of /proc's times on Linux.
const tick = 10 * time.Millisecond

// CPU returns the user and system time that the server has used, its sessions included, those that have ended too. It reads /proc.
func (s *Server) CPU() (time.Duration, error) {
	text, err := os.ReadFile(filepath.Join(s.dir, "data", "postmaster.pid"))
	if err != nil {
		return 0, fmt.Errorf("read the server's process id: %w", err)
	}
	pid, _, _ := strings.Cut(string(text), "\n")
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	var all time.Duration
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile: its parent has its time
		}
		parent, own, children, ok := parseStat(string(text))
		if !ok {
			return 0, fmt.Errorf("read %s: %q", path, text)
		}
		switch {
		case filepath.Dir(path) == "/proc/"+pid:
			all += own + children
		case parent == pid:
			all += own
		}
	}
	return all, nil
}

// parseStat takes the parent, the times of the process and those of its ended children from a line of /proc/…/stat. The name, in
// parentheses, may hold anything.
func parseStat(line string) (parent string, own, children time.Duration, ok bool) {
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	if len(fields) < 15 {
		return "", 0, 0, false
	}
	var times [4]time.Duration // utime, stime, cutime, cstime
	for i := range times {
		n, err := strconv.ParseInt(fields[11+i], 10, 64)
		if err != nil {
			return "", 0, 0, false
		}
		times[i] = time.Duration(n) * tick
	}
	return fields[1], times[0] + times[1], times[2] + times[3], true
}
