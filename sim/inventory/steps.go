package inventory

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// The variables by which a check is told to write the steps of one execution and to do nothing else. The first names the
// file, the second the execution as "CHECK STRATEGY INDEX".
const (
	StepsVar   = "MILLRACE_STEPS"
	StepsOfVar = "MILLRACE_STEPS_OF"
)

// Step is one operation of an execution: what its trace hash covers, and where it stands in the code.
type Step struct {
	Number int    `json:"number"`
	Task   int32  `json:"task"`
	Name   string `json:"name"` // of the task
	Op     string `json:"op"`
	Object string `json:"object"`
	Result int64  `json:"result"`
	At     string `json:"at,omitempty"`
}

// String returns the step as one line.
func (s Step) String() string {
	return fmt.Sprintf("task %d %q %s %s = %d (%s)", s.Task, s.Name, s.Op, s.Object, s.Result, s.At)
}

// WriteSteps writes the steps of one execution, one a line.
func WriteSteps(path string, steps []Step) error {
	var text []byte
	for _, s := range steps {
		line, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("encode step %d: %w", s.Number, err)
		}
		text = append(append(text, line...), '\n')
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return fmt.Errorf("write steps: %w", err)
	}
	return nil
}

// ReadSteps reads what WriteSteps wrote.
func ReadSteps(path string) ([]Step, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read steps: %w", err)
	}
	var steps []Step
	for line := range strings.Lines(string(text)) {
		var s Step
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			return steps, fmt.Errorf("read steps %s:%d: %w", path, len(steps)+1, err)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// FirstDifference says at which step two executions of one schedule part, with what either did there; "" when they do
// not.
func FirstDifference(one, two []Step) string {
	for i := range max(len(one), len(two)) {
		switch {
		case i >= len(one):
			return fmt.Sprintf("step %d: one has ended, the other: %v", two[i].Number, two[i])
		case i >= len(two):
			return fmt.Sprintf("step %d: one: %v, the other has ended", one[i].Number, one[i])
		case one[i] != two[i]:
			return fmt.Sprintf("step %d: one: %v, the other: %v", one[i].Number, one[i], two[i])
		}
	}
	return ""
}
