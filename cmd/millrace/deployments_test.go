package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/graph"
)

// archiveOf writes a zip of one file.
func archiveOf(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "one.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	to, err := w.Create(name)
	if err == nil {
		_, err = to.Write([]byte(text))
	}
	if err := errors.Join(err, w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// What is counted is named in the singular where it is one.
func TestOneThingIsNotPlural(t *testing.T) {
	var out bytes.Buffer
	showPlan(&out, planAnswer{Applied: true, Active: "old", Identity: "new", Keeps: []deploymentAnswer{{Instances: 1, Deployment: "a"}, {Instances: 2, Deployment: "b"}}})
	for _, want := range []string{"  1 instance goes on with a\n", "  2 instances go on with b\n", "before   old\n", "\nactive   new\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

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
	out := ask(statusOK, []string{"changed", "approve.bpmn:", "before   sha256:"}, "apply", archive)
	if strings.Count(out, "active ") != 1 {
		t.Errorf("two deployments are called active:\n%s", out)
	}
	ask(statusOK, []string{"active", "draining"}, "deployments")
	ask(statusOK, []string{"active   sha256:"}, "rollback")
	ask(statusOK, []string{"nothing differs"}, "apply", ordersFolder)
	ask(statusRefused, []string{"no single deployment"}, "rollback", "ffffffffffff")
	ask(statusRefused, []string{"restart the node with the new package", "nothing has changed"}, "apply", folder(t, dividing))
	ask(statusRefused, []string{"itemz", "is refused"}, "apply", folder(t, broken))
	folded := archiveOf(t, "pkg/millrace.yaml", broken)
	ask(statusRefused, []string{folded + ": pkg/millrace.yaml:", "itemz", "is refused: 3 faults\n"}, "apply", folded)
	ask(statusRefused, []string{"usage: millrace rollback"}, "rollback", "a", "b")
	ask(statusRefused, []string{"usage: millrace deployments"}, "deployments", "a")
	ask(statusRefused, []string{"nor a zip archive"}, "apply", "no-such-thing")
}
