package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/cmd/verify/internal/catalog"
	"github.com/millrace-dev/millrace/cmd/verify/internal/harness"
)

// fixture makes a module of its own: testdata/fixture with a copy of package inventory, so that it
// builds without the network. Changes replace texts: file, old, new.
func fixture(t *testing.T, changes ...[3]string) (site, *bytes.Buffer) {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(filepath.Join("testdata", "fixture"))); err != nil {
		t.Fatal(err)
	}
	copyInventory(t, root)
	for _, c := range changes {
		path := filepath.Join(root, c[0])
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(text), c[1]) != 1 {
			t.Fatalf("change of %s: %q is not there once", c[0], c[1])
		}
		text = []byte(strings.Replace(string(text), c[1], c[2], 1))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cat, err := catalog.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	return site{&harness.Lab{Root: root, Out: filepath.Join(root, "out"), Stdout: &out, Cores: 2}, cat}, &out
}

func copyInventory(t *testing.T, root string) {
	t.Helper()
	from := filepath.Join("..", "..", "sim", "inventory")
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(root, "sim", "inventory")
	if err := os.MkdirAll(to, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, e.Name()), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

const (
	gateFile      = "core/gate/gate.go"
	checkFile     = "core/gate/check_test.go"
	inventoryFile = "core/gate/inventory_test.go"
)
