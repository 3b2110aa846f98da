package graph

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// zipOf makes an archive of names and contents; change may alter each header.
func zipOf(t *testing.T, change func(*zip.FileHeader), files ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := 0; i < len(files); i += 2 {
		h := &zip.FileHeader{Name: files[i], Method: zip.Deflate}
		if change != nil {
			change(h)
		}
		f, err := w.CreateHeader(h)
		if err == nil {
			_, err = f.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

const plain = `name: small
schemas: {item: {id: string}}
sources: {in: {http: {path: /items}, decode: {schema: item}, to: {relay: items}}}
relays: {items: {schema: item}}
sinks: {out: {from: items, file: {path: out.ndjson}}}
`

// A package and its archive are the same package, also when the archive has a folder at its top.
func TestArchiveKeepsTheIdentity(t *testing.T) {
	p, faults := Load(os.DirFS("../../examples/orders"))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	data, err := p.Archive()
	if err != nil {
		t.Fatal(err)
	}
	again, faults := LoadArchive(data)
	if len(faults) > 0 || again.ID != p.ID {
		t.Errorf("%v, %v", again, faults)
	}
	twice, err := again.Archive()
	if err != nil || !bytes.Equal(data, twice) {
		t.Errorf("equal packages have different archives: %v", err)
	}
	flat, faults := LoadArchive(zipOf(t, nil, PackageFile, plain))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	inside, faults := LoadArchive(zipOf(t, nil, "pkg/", "", "pkg/"+PackageFile, plain, "pkg/deep/notes.txt", "x"))
	if len(faults) > 0 || inside.ID != flat.ID {
		t.Errorf("in a folder: %v", faults)
	}
	mac, faults := LoadArchive(zipOf(t, nil, "pkg/"+PackageFile, plain, "__MACOSX/pkg/._"+PackageFile, "x", "__MACOSX/._pkg", "x"))
	if len(faults) > 0 || mac.ID != flat.ID {
		t.Errorf("with what macOS adds: %v", faults)
	}
}

// Bad archives give listed faults, and never more than their bounds.
func TestBadArchivesAreRefused(t *testing.T) {
	bomb := strings.Repeat("a", MaxFlowBytes+1)
	many := make([]string, 0, 2*(MaxArchiveFiles+1))
	for i := range MaxArchiveFiles + 1 {
		many = append(many, fmt.Sprintf("%d.txt", i), "")
	}
	good := zipOf(t, nil, PackageFile, plain)
	for _, c := range []struct {
		name string
		data []byte
		want []string
	}{
		{"nothing", nil, []string{"not a zip archive"}},
		{"text", []byte("PK but no more"), []string{"not a zip archive"}},
		{"cut off", good[:len(good)-30], []string{"not a zip archive"}},
		{"damaged", bytes.Replace(good, []byte("PK\x01\x02"), []byte("PK\x01\x03"), 1), []string{"not a zip archive"}},
		{"too large", make([]byte, MaxArchiveBytes+1), []string{"more than"}},
		{"too many", zipOf(t, nil, many...), []string{"1025 entries"}},
		{"empty", zipOf(t, nil), []string{"millrace.yaml: file is refused: it is missing"}},
		{
			"leads out", zipOf(t, nil, "../evil", "x", "/abs", "x", `c:\evil`, "x", "a/../b", "x", PackageFile, plain),
			[]string{"../evil: its name leads out", "/abs: its name leads out", "c:", "a/../b: its name leads out"},
		},
		{"twice", zipOf(t, nil, PackageFile, plain, "MILLRACE.yaml", plain), []string{"MILLRACE.yaml: it is in the archive twice"}},
		{"bomb", zipOf(t, nil, PackageFile, plain, "big.bpmn", bomb), []string{"big.bpmn: file is refused: it has more than"}},
		{"link", zipOf(t, func(h *zip.FileHeader) { h.SetMode(fs.ModeSymlink | 0o777) }, PackageFile, "/etc/passwd"), []string{"it is no regular file"}},
		{"encrypted", zipOf(t, func(h *zip.FileHeader) { h.Flags |= 1 }, PackageFile, plain), []string{"it is encrypted"}},
		{"faulty package in a folder", zipOf(t, nil, "pkg/", "", "pkg/"+PackageFile, "name: Bad\n"), []string{"pkg/millrace.yaml:1:"}},
		{"faulty package in no folder", zipOf(t, nil, "pkg/notes.txt", "x", PackageFile, "name: Bad\n"), []string{"\nmillrace.yaml:1:"}},
		{"no package in a folder", zipOf(t, nil, "pkg/notes.txt", "x"), []string{"pkg/millrace.yaml: file is refused: it is missing"}},
		{"faulty package", zipOf(t, nil, PackageFile, "name: Bad\nrelayz: {}\n"), []string{"millrace.yaml:1:", "millrace.yaml:2:"}},
	} {
		p, faults := LoadArchive(c.data)
		var text strings.Builder
		text.WriteString("\n")
		for _, f := range faults {
			text.WriteString(f.Error() + "\n")
		}
		for _, want := range c.want {
			if p != nil || !strings.Contains(text.String(), want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, text.String())
			}
		}
	}
}

// What differs is named with its place; what a running node cannot take says why.
func TestCompare(t *testing.T) {
	load := func(text string) *Package {
		t.Helper()
		p, faults := LoadArchive(zipOf(t, nil, PackageFile, text))
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		return p
	}
	old := load(plain)
	if d := Compare(old, old); len(d) != 0 {
		t.Errorf("a package differs from itself: %v", d)
	}
	now := load(strings.NewReplacer("/items}", "/things}", "{id: string}", "{id: string, n: int64}", "out:", "other:").Replace(plain) + "node: {lanes: 4}\n")
	var got []string
	for _, d := range Compare(old, now) {
		got = append(got, fmt.Sprintf("%s %s %s:%d %v", d.Change, d.Kind, d.Name, d.Line, d.Refused != ""))
	}
	want := "changed source in:3 true\nremoved sink out:5 true\nadded sink other:5 true\nadded node lanes:6 true\nchanged schema item:2 true"
	gotSorted, wantSorted := strings.Join(got, "\n"), want
	for _, line := range strings.Split(wantSorted, "\n") {
		if !strings.Contains(gotSorted, line) {
			t.Errorf("no %q in\n%s", line, gotSorted)
		}
	}
}
