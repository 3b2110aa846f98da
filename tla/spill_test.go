package tla_test

import (
	"os"
	"testing"

	"github.com/millrace-dev/millrace/tla"
	"github.com/millrace-dev/millrace/tla/check"
)

// TestFrontierWaitsInAFile bounds the frontier to one byte, so that every block goes to the file, and
// expects the same states, and no file afterwards.
func TestFrontierWaitsInAFile(t *testing.T) {
	dir := t.TempDir()
	for _, o := range []check.Options{{FrontierBytes: 1, SpillDir: dir}, {FrontierBytes: 1, SpillDir: dir, Mode: check.DepthFirst}} {
		r := tla.CheckSpec(t, tla.Spec{Module: "testdata/Wide.tla", Config: "testdata/Wide-ok.cfg", Options: o})
		if r.Distinct != 10240 {
			t.Errorf("%d distinct states", r.Distinct)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			t.Errorf("files left behind: %v %v", left, err)
		}
	}
	r, err := tla.Run(tla.Spec{
		Module: "testdata/Wide.tla", Config: "testdata/Wide-ok.cfg",
		Options: check.Options{FrontierBytes: 1, SpillDir: dir + "/missing"},
	})
	if err != nil || r.Verdict != check.Fault {
		t.Errorf("a missing folder is not reported: %v %v", r, err)
	}
}
