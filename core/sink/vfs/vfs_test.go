package vfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/millrace-dev/millrace/core/sink/vfs"
	"github.com/millrace-dev/millrace/sim"
)

func TestMain(m *testing.M) { sim.Main(m) }

// script does the same to any file system and returns the size at the end.
func script(t *testing.T, fs vfs.FS) {
	t.Helper()
	f, err := fs.Open("a.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = f.WriteAt([]byte("one\ntwo\n"), 0)
	must(err)
	must(f.Sync())
	must(f.Truncate(4))
	_, err = f.WriteAt([]byte("three\n"), 4)
	must(err)
	must(f.Sync())
	size, err := f.Size()
	must(err)
	must(f.Close())
	if size != 10 {
		t.Fatalf("size %d, want 10", size)
	}
}

func TestFileSystemsAgree(t *testing.T) {
	dir := t.TempDir()
	script(t, vfs.OS{Dir: dir})
	var crashable vfs.Crashable
	script(t, &crashable)
	disk, err := os.ReadFile(filepath.Join(dir, "a.ndjson"))
	if err != nil || string(disk) != "one\nthree\n" || string(crashable.Content("a.ndjson")) != string(disk) {
		t.Fatalf("%q and %q, %v", disk, crashable.Content("a.ndjson"), err)
	}
}

func TestNamesStayInTheirFolder(t *testing.T) {
	if _, err := (vfs.OS{Dir: t.TempDir()}).Open("../a"); err == nil {
		t.Fatal("a name led out of its folder")
	}
	dir := t.TempDir()
	f, err := vfs.OS{Dir: dir}.Open("deep/er/a")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := (vfs.OS{Dir: dir}).Open("deep/er/a/b"); err == nil {
		t.Fatal("a file was taken for a folder")
	}
}

// What cannot be written at an offset is refused before it is opened: nobody hears of the row that a pipe was given.
func TestOnlyRegularFilesOpen(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"device": os.DevNull, "link to a pipe": "pipe", "link": "regular"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"pipe", "folder", "device", "link to a pipe"} {
		if _, err := (vfs.OS{Dir: dir}).Open(name); !errors.Is(err, vfs.ErrIrregular) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f, err := vfs.OS{Dir: dir}.Open("link")
	if err != nil {
		t.Fatalf("a link to a file that is not there yet: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCrashLosesWhatWasNotSynced(t *testing.T) {
	for _, c := range []struct {
		keep []int // answers: the truncation, then the write
		want string
	}{
		{[]int{0, 0}, "abcdef"},
		{[]int{1, 0}, "ab"},
		{[]int{1, 2}, "abXX"},
		{[]int{1, 1}, "abXXXX"},
		{[]int{0, 2}, "abXXef"},
	} {
		var fs vfs.Crashable
		f, err := fs.Open("a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("abcdef"), 0); err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(2); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("XXXX"), 2); err != nil {
			t.Fatal(err)
		}
		answers := c.keep
		fs.Crash(func(string, int) int {
			answer := answers[0]
			answers = answers[1:]
			return answer
		})
		if got := string(fs.Content("a")); got != c.want {
			t.Errorf("kept %v: %q, want %q", c.keep, got, c.want)
		}
	}
}

func TestInjectedFailures(t *testing.T) {
	fs := vfs.Crashable{
		Fail: func(op, _ string) bool { return op != "truncate" },
		Torn: func(n int) int { return n / 2 },
	}
	f, err := fs.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := f.WriteAt([]byte("abcd"), 0); n != 2 || !errors.Is(err, vfs.ErrInjected) {
		t.Fatalf("wrote %d, %v", n, err)
	}
	if err := f.Sync(); !errors.Is(err, vfs.ErrInjected) || string(fs.Content("a")) != "ab" {
		t.Fatalf("%q, %v", fs.Content("a"), err)
	}
}

// A file system may report success after a failed sync and have dropped the data. The simulated one always does, until the
// file is opened anew.
func TestSyncAfterAFailedOneMakesNothingDurable(t *testing.T) {
	failing := true
	fs := vfs.Crashable{Fail: func(op, _ string) bool { return failing && op == "sync" }}
	lose := func(string, int) int { return 0 }
	f, err := fs.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if _, err := f.WriteAt([]byte(text), 0); err != nil {
			t.Fatal(err)
		}
	}
	write("lost")
	if err := f.Sync(); !errors.Is(err, vfs.ErrInjected) {
		t.Fatal(err)
	}
	failing = false
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if fs.Crash(lose); len(fs.Content("a")) > 0 {
		t.Fatalf("after the crash: %q", fs.Content("a"))
	}
	if f, err = fs.Open("a"); err != nil {
		t.Fatal(err)
	}
	write("kept")
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if fs.Crash(lose); string(fs.Content("a")) != "kept" {
		t.Fatalf("opened anew: %q", fs.Content("a"))
	}
}
