package crashfs_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/millrace-dev/millrace/core/store/pebble/crashfs"
	"github.com/millrace-dev/millrace/sim"
)

func TestMain(m *testing.M) { sim.Main(m) }

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write creates a file with blocks of the given letters, and syncs the first of them.
func write(t *testing.T, f *crashfs.FS, name, synced, unsynced string) {
	t.Helper()
	file, err := f.Create(name, vfs.WriteCategoryUnspecified)
	ok(t, err)
	for _, part := range []struct {
		letters string
		sync    bool
	}{{synced, true}, {unsynced, false}} {
		for _, letter := range part.letters {
			_, err := file.Write([]byte(strings.Repeat(string(letter), 4096)))
			ok(t, err)
		}
		if part.sync {
			ok(t, file.Sync())
		}
	}
	ok(t, file.Close())
}

func syncDir(t *testing.T, f *crashfs.FS, name string) {
	t.Helper()
	d, err := f.OpenDir(name)
	ok(t, err)
	ok(t, d.Sync())
	ok(t, d.Close())
}

// letters reads a file back as the letters of its blocks; a lost block in between is a dot.
func letters(t *testing.T, f *crashfs.FS, name string) string {
	t.Helper()
	file, err := f.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "absent"
	}
	ok(t, err)
	data, err := io.ReadAll(file)
	ok(t, err)
	ok(t, file.Close())
	var out strings.Builder
	for at := 0; at < len(data); at += 4096 {
		out.WriteString(strings.ReplaceAll(string(data[at]), "\x00", "."))
	}
	return out.String()
}

// disk has a file of each kind: with a synced and an unsynced part, not yet in its directory, and removed; an unsynced
// removal is always undone.
func disk(t *testing.T) *crashfs.FS {
	t.Helper()
	f := crashfs.New()
	ok(t, f.MkdirAll("/d", 0o755))
	write(t, f, "/d/removed", "r", "")
	write(t, f, "/d/a", "ab", "cd")
	syncDir(t, f, "/d")
	syncDir(t, f, "/")
	write(t, f, "/d/new", "n", "")
	ok(t, f.Remove("/d/removed"))
	return f
}

func TestCrashDrawsEachUnsyncedThingInOrder(t *testing.T) {
	for _, c := range []struct {
		kept   []string
		a, new string
	}{
		{nil, "ab", "absent"},
		{[]string{"/d/a:2", "/d/a:3", "/d/new"}, "abcd", "n"},
		{[]string{"/d/a:3"}, "ab.d", "absent"},
		{[]string{"/d/new"}, "ab", "n"},
	} {
		var asked []string
		next, err := disk(t).Crash(func(what string) bool {
			asked = append(asked, what)
			return slices.Contains(c.kept, what)
		})
		ok(t, err)
		got := fmt.Sprint(letters(t, next, "/d/a"), letters(t, next, "/d/new"), letters(t, next, "/d/removed"))
		if want := fmt.Sprint(c.a, c.new, "r"); got != want {
			t.Errorf("kept %q: %s, want %s", c.kept, got, want)
		}
		if want := []string{"/d/a:2", "/d/a:3", "/d/new"}; !slices.Equal(asked, want) {
			t.Errorf("drawn %q, want %q", asked, want)
		}
	}
}

// What survived a crash is durable, and a disk that did nothing else loses nothing in the next one.
func TestSecondCrashLosesNothing(t *testing.T) {
	once, err := disk(t).Crash(func(string) bool { return true })
	ok(t, err)
	twice, err := once.Crash(nil)
	ok(t, err)
	for _, name := range []string{"/d/a", "/d/new", "/d/removed"} {
		if a, b := letters(t, once, name), letters(t, twice, name); a != b {
			t.Errorf("%s: %s after one crash, %s after two", name, a, b)
		}
	}
}
