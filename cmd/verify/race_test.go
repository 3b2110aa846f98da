package main

import (
	"errors"
	"testing"
)

func TestJudgeDetected(t *testing.T) {
	for _, c := range []struct {
		text string
		rows int
		ok   bool
	}{
		{"planted map\trandom\t1\trace memory\nmutex\trandom\t40\tsilent\n", 2, true},
		{"planted map\trandom\t40\tsilent\n", 1, false},
		{"mutex\trandom\t3\trace memory\n", 1, false},
		{"planted map\trandom\t1\tdeadlock m\n", 1, false},
		{"mutex\trandom\n", 0, false},
		{"", 0, false},
	} {
		rows, err := judgeDetected(c.text)
		if len(rows) != c.rows || (err == nil) != c.ok || err != nil && !errors.Is(err, errDetector) {
			t.Errorf("%q: %d rows, %v", c.text, len(rows), err)
		}
	}
}
