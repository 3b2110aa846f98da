package graph

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// parseLines reads the flow files of the tests, which are lists of words instead of BPMN: the rules
// between a package and its flows are tested without the language of flows. Each process is a line
// "process ID", then "starts NAME", "awaits NAME" and "emits NAME" lines; "broken" is a fault.
func parseLines(name string, data []byte) (*Flow, []Fault) {
	f := &Flow{File: name, Data: data}
	for i, text := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		words := append(strings.Fields(text), "", "")
		if words[0] != "process" && len(f.Processes) == 0 {
			return f, []Fault{{File: name, Line: i + 1, Reason: "not a flow"}}
		}
		switch mention := (Mention{Name: words[1], Line: i + 1, Element: words[0]}); words[0] {
		case "process":
			f.Processes = append(f.Processes, Process{ID: words[1], Line: i + 1})
		case "starts":
			p := &f.Processes[len(f.Processes)-1]
			p.Starts = append(p.Starts, words[1])
		case "awaits":
			p := &f.Processes[len(f.Processes)-1]
			p.Awaits = append(p.Awaits, mention)
		case "emits":
			p := &f.Processes[len(f.Processes)-1]
			p.Emits = append(p.Emits, mention)
		default:
			return f, []Fault{{File: name, Line: i + 1, Reason: "not a flow: " + text}}
		}
	}
	return f, nil
}

// TestLoadPackages loads every package in testdata/packages and compares what it gives with
// expected.txt beside it: all faults in order, or the model.
func TestLoadPackages(t *testing.T) {
	folders, err := filepath.Glob("testdata/packages/*")
	if err != nil || len(folders) < 10 {
		t.Fatalf("%d packages: %v", len(folders), err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			got := outcome(os.DirFS(folder))
			compare(t, filepath.Join(folder, "expected.txt"), got)
		})
	}
}

func outcome(fsys fs.FS) string {
	p, faults := load(fsys, parseLines)
	if (p == nil) != (len(faults) > 0) {
		panic("a package with faults, or neither")
	}
	if p != nil {
		return summary(p)
	}
	var b strings.Builder
	for _, f := range faults {
		fmt.Fprintln(&b, f.Error())
	}
	return b.String()
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s\ngot:\n%swant:\n%s", name, got, want)
	}
}

// summary writes the model as text.
func summary(p *Package) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s, node %+v\n", p.Name, p.Node)
	for _, s := range p.Schemas {
		fmt.Fprintf(&b, "schema %s", s.Name())
		for _, f := range s.Fields() {
			fmt.Fprintf(&b, " %s:%s", f.Name, f.TypeText())
		}
		fmt.Fprintln(&b)
	}
	for _, x := range p.Branches {
		fmt.Fprintf(&b, "branch %+v\n", *x)
	}
	for _, x := range p.Relays {
		fmt.Fprintf(&b, "relay %s schema %s branch %s capacity %d\n", x.Name, x.Schema.Name(), branchName(x), x.Capacity)
	}
	for _, x := range p.Sources {
		fmt.Fprintf(&b, "source %s http %+v file %+v stdin %+v schema %s %+v to %s\n", x.Name, x.HTTP, x.File, x.Stdin, x.Schema.Name(),
			x.Decode, targetText(x.To))
	}
	for _, x := range p.Processors {
		fmt.Fprintf(&b, "processor %s %s→%s", x.Name, x.From.Name, x.To.Name)
		if x.Where != nil {
			fmt.Fprintf(&b, " where %s", x.Where.Text())
		}
		if x.Map != nil {
			fmt.Fprintf(&b, " map to %s", x.Map.Schema().Name())
		}
		if d := x.Deduplicate; d != nil {
			fmt.Fprintf(&b, " deduplicate %s keep %s max %d", d.On.Text(), d.Keep, d.Max)
		}
		fmt.Fprintln(&b)
	}
	for _, x := range p.Sinks {
		fmt.Fprintf(&b, "sink %s from %s file %+v http %+v\n", x.Name, x.From.Name, x.File, x.HTTP)
	}
	for _, x := range p.Channels {
		fmt.Fprintf(&b, "channel %s http %q schema %s message %s flow %q ack %s timeout %s", x.Name, x.HTTPPath, x.Schema.Name(), x.Message,
			x.Flow, x.Ack, x.Timeout)
		if x.From != nil {
			fmt.Fprintf(&b, " from %s", x.From.Name)
		}
		if x.Where != nil {
			fmt.Fprintf(&b, " where %s", x.Where.Text())
		}
		if x.Correlate != nil {
			fmt.Fprintf(&b, " correlate %s", x.Correlate.Text())
		}
		fmt.Fprintln(&b)
	}
	for _, x := range p.Emits {
		fmt.Fprintf(&b, "emit %s to %s\n", x.Name, targetText(x.To))
	}
	for _, x := range p.Flows {
		fmt.Fprintf(&b, "flow %s %d bytes %+v\n", x.File, len(x.Data), x.Processes)
	}
	return b.String()
}

func targetText(t Target) string {
	text := t.Relay.Name
	for _, k := range t.Keys {
		text += " " + k.Text()
	}
	return text
}

func TestLoadTheOrdersExample(t *testing.T) {
	p, faults := Load(os.DirFS("../../examples/orders"))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if p.Name != "orders" || len(p.Relays) != 3 || p.Channels[0].Ack != OnComplete || p.Flows[0].Definitions.Process("approve") == nil || len(p.Warnings) > 0 {
		t.Fatal(summary(p))
	}
}

// small is the smallest package that loads.
const small = "name: small\n"

func TestLoadBoundsFiles(t *testing.T) {
	big := strings.Repeat("# much\n", MaxFlowBytes/7+1)
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"no package file": {fstest.MapFS{}, "millrace.yaml: file is refused: it is missing\n"},
		"big package": {
			fstest.MapFS{PackageFile: {Data: []byte(small + big)}},
			"millrace.yaml: file is refused: it has more than 1048576 bytes\n",
		},
		"big flow": {
			fstest.MapFS{PackageFile: {Data: []byte(small + "flows: [a.bpmn]")}, "a.bpmn": {Data: []byte(big)}},
			"millrace.yaml:2:9: flows: a.bpmn: file is refused: it has more than 8388608 bytes\n",
		},
		"deep": {
			fstest.MapFS{PackageFile: {Data: []byte(small + "schemas: " + strings.Repeat("[", 20) + strings.Repeat("]", 20))}},
			"millrace.yaml:2:25: nested over 16 levels\n",
		},
		"very deep": {
			fstest.MapFS{PackageFile: {Data: []byte(small + "schemas: " + strings.Repeat("[", 20_000))}},
			"millrace.yaml:2: not YAML: exceeded max depth of 10000\n",
		},
		"not text": {fstest.MapFS{PackageFile: {Data: []byte("name: \xff")}}, "millrace.yaml: file is not UTF-8\n"},
		"package file is a folder": {
			fstest.MapFS{PackageFile + "/x": {Data: []byte("")}},
			"millrace.yaml: file is refused: it is no regular file\n",
		},
		"package file is a pipe": {
			fstest.MapFS{PackageFile: {Data: []byte(small), Mode: fs.ModeNamedPipe}},
			"millrace.yaml: file is refused: it is no regular file\n",
		},
	} {
		if got := outcome(c.files); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestIdentityIsTheContent(t *testing.T) {
	id := func(files fstest.MapFS) string {
		t.Helper()
		p, faults := load(files, parseLines)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		return p.ID
	}
	text := &fstest.MapFile{Data: []byte(small + "flows: [a.bpmn, b.bpmn]\n")}
	swapped := &fstest.MapFile{Data: []byte(small + "flows: [b.bpmn, a.bpmn]\n")}
	a, b := &fstest.MapFile{Data: []byte("process a")}, &fstest.MapFile{Data: []byte("process b")}
	base := id(fstest.MapFS{PackageFile: text, "a.bpmn": a, "b.bpmn": b})
	const want = "sha256:"
	if !strings.HasPrefix(base, want) || len(base) != len(want)+64 {
		t.Fatal(base)
	}
	if again := id(fstest.MapFS{PackageFile: text, "a.bpmn": a, "b.bpmn": b, "README.md": a}); again != base {
		t.Error("a file that is no part of the package changed its identity")
	}
	for name, files := range map[string]fstest.MapFS{
		"contents changed places": {PackageFile: text, "a.bpmn": b, "b.bpmn": a},
		"package file changed":    {PackageFile: swapped, "a.bpmn": a, "b.bpmn": b},
		"a flow changed":          {PackageFile: text, "a.bpmn": {Data: []byte("process a\n")}, "b.bpmn": b},
	} {
		if id(files) == base {
			t.Errorf("%s and the identity did not", name)
		}
	}
}

func TestLoadGivesTheSameFaultsEveryTime(t *testing.T) {
	folder := os.DirFS("testdata/packages/names")
	first := outcome(folder)
	for range 20 {
		if again := outcome(folder); again != first {
			t.Fatalf("first:\n%sthen:\n%s", first, again)
		}
	}
}

// FuzzLoad sends any package file and flow: no panic, either a package or sorted faults, each with a
// file and a reason and with a place that exists.
func FuzzLoad(f *testing.F) {
	folders, err := filepath.Glob("testdata/packages/*/" + PackageFile)
	if err != nil || len(folders) == 0 {
		f.Fatal(len(folders), err)
	}
	for _, name := range append(folders, "../../examples/orders/"+PackageFile) {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		files := fstest.MapFS{PackageFile: {Data: data}, "approve.bpmn": {Data: []byte("process approve\nstarts order\nawaits decision\nemits approved")}}
		p, faults := load(files, parseLines)
		if (p == nil) != (len(faults) > 0) {
			t.Fatalf("package %v with faults %v", p, faults)
		}
		lines := strings.Count(string(data), "\n") + 1
		for i, fault := range faults {
			if fault.File == "" || fault.Reason == "" || fault.Line < 0 || fault.File == PackageFile && fault.Line > lines {
				t.Fatalf("fault %+v in %d lines", fault, lines)
			}
			if i > 0 && (fault.File < faults[i-1].File || fault.File == faults[i-1].File && fault.Line < faults[i-1].Line) {
				t.Fatalf("faults are not sorted: %v before %v", faults[i-1], fault)
			}
		}
	})
}
