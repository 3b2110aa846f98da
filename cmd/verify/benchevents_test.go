package main

import (
	"errors"
	"testing"
)

func TestBenchmarkFigure(t *testing.T) {
	const text = "goos: linux\nBenchmarkEvent-2   20000   5321 ns/op   4100.5 cpu-ns/event   12 B/op\nPASS\n"
	if n, err := benchmarkFigure(text, eventUnit); n != 4100.5 || err != nil {
		t.Errorf("%v, %v", n, err)
	}
	if _, err := benchmarkFigure("PASS\n", eventUnit); !errors.Is(err, errNothing) {
		t.Errorf("output without a benchmark: %v", err)
	}
}
