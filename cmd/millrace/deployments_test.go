package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/graph"
)

// copyOrders writes the example with a change of its flow, as a folder and as a zip.
func copyOrders(t *testing.T) (dir, archive string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"millrace.yaml", "approve.bpmn"} {
		data, err := os.ReadFile(filepath.Join(ordersFolder, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), append(data, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	pkg, faults := graph.Load(os.DirFS(dir))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	data, err := pkg.Archive()
	archive = filepath.Join(t.TempDir(), "orders.zip")
	if err == nil {
		err = os.WriteFile(archive, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, archive
}

// The commands on a node in a process of its own: a plan, an activation from a zip, the list, a rollback, and what is refused.
func TestDeploymentsOfARunningNode(t *testing.T) {
	n := child(t, ordersFolder)
	dir, archive := copyOrders(t)
	at := []string{"--node", n.Address}
	ask := func(want int, parts []string, command string, args ...string) string {
		t.Helper()
		status, out, errs := call(t, append(append([]string{command}, at...), args...)...)
		for _, part := range parts {
			if !strings.Contains(out+errs, part) {
				t.Errorf("%s %v does not say %q:\n%s%s", command, args, part, out, errs)
			}
		}
		if status != want {
			t.Errorf("%s %v: status %d, want %d\n%s%s", command, args, status, want, out, errs)
		}
		return out
	}
	ask(statusOK, []string{"changed", "flow", "approve"}, "apply", "--plan", dir)
	if out := ask(statusOK, []string{"active"}, "deployments"); strings.Count(out, "\n") != 1 {
		t.Errorf("a plan has made a deployment:\n%s", out)
	}
	ask(statusOK, []string{"changed", "approve.bpmn:"}, "apply", archive)
	ask(statusOK, []string{"active", "draining"}, "deployments")
	ask(statusOK, []string{"active   sha256:"}, "rollback")
	ask(statusOK, []string{"nothing differs"}, "apply", ordersFolder)
	ask(statusFailed, []string{"no single deployment"}, "rollback", "ffffffffffff")
	ask(statusRefused, []string{"restart the node with the new package", "nothing has changed"}, "apply", folder(t, dividing))
	ask(statusRefused, []string{"itemz", "is refused"}, "apply", folder(t, broken))
	ask(statusRefused, []string{"usage: millrace rollback"}, "rollback", "a", "b")
	ask(statusRefused, []string{"usage: millrace deployments"}, "deployments", "a")
	ask(statusRefused, []string{"nor a zip archive"}, "apply", "no-such-thing")
}
