package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/millrace-dev/millrace/sim/inventory"
)

// schedule is the part of a failure's schedule.json that this program reads.
type schedule struct {
	Check     string            `json:"check"`
	Test      string            `json:"test"`
	Package   string            `json:"package"`
	Strategy  string            `json:"strategy"`
	Seed      uint64            `json:"seed"`
	Execution int               `json:"execution"`
	Commit    string            `json:"commit"`
	GoVersion string            `json:"goversion"`
	Options   json.RawMessage   `json:"options"`
	Choices   json.RawMessage   `json:"choices"`
	Faults    []string          `json:"faults"`
	Verdict   inventory.Verdict `json:"verdict"`
	Hash      string            `json:"hash"`

	file string // absolute path
}

// trace is where the trace of a schedule lies in a failure's folder: trace.txt beside schedule.json, else that of the same name.
func (r schedule) trace() string {
	dir, name := filepath.Split(r.file)
	if name == "schedule.json" {
		return dir + "trace.txt"
	}
	return dir + strings.TrimSuffix(name, filepath.Ext(name)) + ".txt"
}

var errSchedule = errors.New("not a recorded schedule")

// readSchedule reads a schedule.json, or that of a failure folder.
func readSchedule(path string) (schedule, error) {
	file, err := filepath.Abs(path)
	if err != nil {
		return schedule{}, fmt.Errorf("read schedule %s: %w", path, err)
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		file = filepath.Join(file, "schedule.json")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return schedule{}, fmt.Errorf("%w: read schedule: %w", errUsage, err)
	}
	rec := schedule{file: file}
	if err := json.Unmarshal(text, &rec); err != nil {
		return schedule{}, fmt.Errorf("%w: read schedule %s: %w: %w", errUsage, path, errSchedule, err)
	}
	if rec.Check == "" || rec.Test == "" || rec.Package == "" || len(rec.Choices) == 0 {
		return schedule{}, fmt.Errorf("%w: read schedule %s: %w: check, test, package or choices are missing", errUsage, path, errSchedule)
	}
	return rec, nil
}
