package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// The newest folders stay, whatever their names.
func TestOldFoldersMakeRoom(t *testing.T) {
	dir := t.TempDir()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 6 {
		folder := filepath.Join(dir, fmt.Sprint(9-i))
		if err := os.MkdirAll(filepath.Join(folder, "inside"), 0o755); err != nil {
			t.Fatal(err)
		}
		at := begin.Add(time.Duration(i) * time.Minute)
		if err := os.Chtimes(folder, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []int{6, 3} {
		if err := makeRoom(dir, n); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if err != nil || !slices.Equal(left, []string{"4", "5", "6"}) {
		t.Errorf("left %v, %v", left, err)
	}
	if err := makeRoom(filepath.Join(dir, "absent"), 1); err != nil {
		t.Errorf("a folder that is not there yet: %v", err)
	}
}
