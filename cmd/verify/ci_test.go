package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What continuous integration runs fails when one of its two steps does, and runs the second one also then.
func TestCIFailsWithItsSteps(t *testing.T) {
	script, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	for failing, passes := range map[string]bool{"none": true, "test": false, "qualify": false} {
		root := t.TempDir()
		write(t, filepath.Join(root, ".ci", "run"), string(script))
		write(t, filepath.Join(root, "just"), "#!/usr/bin/env bash\necho \"ran $1\"\n[ \"$1\" != "+failing+" ]\n")
		out, err := exec.CommandContext(t.Context(), "bash", filepath.Join(root, ".ci", "run")).CombinedOutput()
		if (err == nil) != passes {
			t.Errorf("with %s failing it ends with %v\n%s", failing, err, out)
		}
		for _, step := range []string{"ran test", "ran qualify"} {
			if !strings.Contains(string(out), step) {
				t.Errorf("with %s failing %q is not in\n%s", failing, step, out)
			}
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
