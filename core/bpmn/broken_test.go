package bpmn

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// The corpus testdata/broken.txt is a list of sections:
//
//	=== NAME          the lines that follow are the content of a process
//	=== FILE NAME     the lines that follow are the whole file
//	---               the faults follow, one a line
//
// A process's content begins in line 2 of its file.
type section struct {
	name   string
	file   bool
	input  string
	faults string
}

// constant is in the file of a section that mentions it.
const constant = `<message id="constant" name="c"><extensionElements><zeebe:subscription correlationKey="orderId"/></extensionElements></message>`

const (
	head = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" ` +
		`xmlns:camunda="http://camunda.org/schema/1.0/bpmn"><process id="p">` + "\n"
	foot = `</process>
<message id="m" name="m"><extensionElements><zeebe:subscription correlationKey="=k"/></extensionElements></message>
<message id="keyless" name="keyless"/>
<error id="codeless"/>
</definitions>
`
)

func (s section) data() []byte {
	if s.file {
		return []byte(s.input)
	}
	if strings.Contains(s.input, `"constant"`) {
		return []byte(head + s.input + strings.Replace(foot, "</definitions>", constant+"</definitions>", 1))
	}
	return []byte(head + s.input + foot)
}

func readSections(t testing.TB) (comment string, list []section) {
	t.Helper()
	data, err := os.ReadFile("testdata/broken.txt")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split("\n"+string(data), "\n=== ")
	for _, part := range parts[1:] {
		title, body, _ := strings.Cut(part, "\n")
		name, file := strings.CutPrefix(title, "FILE ")
		input, faults, _ := strings.Cut(body, "---\n")
		input = strings.TrimRight(input, "\n")
		if input != "" && !file {
			input += "\n"
		}
		list = append(list, section{name, file, input, strings.TrimRight(faults, "\n")})
	}
	return strings.TrimPrefix(parts[0], "\n"), list
}

func listFaults(faults []Fault) string {
	lines := make([]string, len(faults))
	for i, f := range faults {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Every broken file gives exactly its faults, in document order.
func TestBroken(t *testing.T) {
	comment, sections := readSections(t)
	if len(sections) < 30 {
		t.Fatalf("the corpus has %d sections", len(sections))
	}
	out := strings.TrimRight(comment, "\n") + "\n"
	for _, s := range sections {
		t.Run(s.name, func(t *testing.T) {
			d, faults := Load("f", s.data(), everything)
			got := listFaults(faults)
			warnings := strings.HasSuffix(s.name, "are warnings")
			if (d != nil) != warnings || Refused(faults) == warnings {
				t.Errorf("definitions are returned: %v, refused: %v", d != nil, Refused(faults))
			}
			if got != s.faults && !*rewrite {
				t.Errorf("faults are\n%s\nwant\n%s", got, s.faults)
			}
			if again := listFaults(second(Load("f", s.data(), everything))); again != got {
				t.Errorf("a second run gives\n%s\nafter\n%s", again, got)
			}
			prefix := ""
			if s.file {
				prefix = "FILE "
			}
			input := s.input
			if s.file && input != "" {
				input += "\n"
			}
			out += fmt.Sprintf("\n=== %s%s\n%s---\n%s\n", prefix, s.name, input, got)
		})
	}
	if *rewrite {
		if err := os.WriteFile("testdata/broken.txt", []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func second(_ *Definitions, faults []Fault) []Fault { return faults }

// Files that are too large, too deep or too many-sided to keep in the corpus.
func TestBounds(t *testing.T) {
	const open = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p">`
	attributes := strings.Builder{}
	for i := range MaxElements {
		fmt.Fprintf(&attributes, ` a%d=""`, i)
	}
	cases := map[string]struct{ data, want string }{
		"size":       {strings.Repeat(" ", MaxFile+1), "the file has 8388609 bytes, more than 8388608"},
		"depth":      {open + strings.Repeat(`<subProcess id="s">`, 100_000), "elements nest deeper than 100"},
		"elements":   {open + strings.Repeat(`<task/>`, MaxElements), "more than 200000 elements and attributes"},
		"attributes": {`<definitions` + attributes.String() + `/>`, "more than 200000 elements and attributes"},
		"faults":     {open + strings.Repeat(`<task/>`, 5000) + `</process></definitions>`, "there are more than 1000 faults; the others are not listed"},
		"comments":   {open + strings.Repeat(`a<!-- -->`, 500_000), "the file is cut off inside the element \"process\""},
		"UTF-16":     {"\xFF\xFE<\x00d\x00", "the encoding UTF-16 is not supported"},
		"not UTF-8":  {open + "<task id=\"\xff\"/>", "the file is not valid UTF-8"},
		"NUL":        {"\x00\x00\x00", "the file is not well-formed XML"},
		"mark":       {"\xEF\xBB\xBF" + open + `<startEvent/></process></definitions>`, "the none start event has no id"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d, faults := Load("f", []byte(c.data), everything)
			if d != nil || !Refused(faults) || !strings.Contains(listFaults(faults), c.want) {
				t.Errorf("faults are %.300s, want %q", listFaults(faults), c.want)
			}
			if len(faults) > MaxFaults+1 {
				t.Errorf("%d faults", len(faults))
			}
		})
	}
}

// A model of thousands of nodes is read whole.
func TestLargeModels(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(head + `<startEvent id="n0"/>`)
	const count = 8000
	for i := 1; i <= count; i++ {
		fmt.Fprintf(&b, `<task id="n%d"/><sequenceFlow id="f%d" sourceRef="n%d" targetRef="n%d"/>`, i, i, i-1, i)
	}
	b.WriteString("\n" + foot)
	d, faults := Load("f", b.Bytes(), everything)
	if d == nil || len(d.Processes[0].Nodes) != count+1 {
		t.Fatalf("refused: %.300s", listFaults(faults))
	}
}

// A prefix of a good file is refused, wherever it ends, with a place inside it.
func TestTruncated(t *testing.T) {
	data, err := os.ReadFile("testdata/valid/stage1.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	data = bytes.TrimSpace(data)
	for end := range data {
		d, faults := Load("f", data[:end], everything)
		if d != nil || len(faults) != 1 || faults[0].Line < 1 || faults[0].Column < 1 || faults[0].Reason == "" {
			t.Fatalf("%d bytes give %v", end, faults)
		}
	}
}

// FuzzParse: no file makes the reader crash or hang; a file without faults keeps the model's promises.
func FuzzParse(f *testing.F) {
	_, sections := readSections(f)
	for _, s := range sections {
		f.Add(s.data())
	}
	for _, file := range [...]string{"testdata/valid/approve.bpmn", "testdata/valid/stage1.bpmn"} {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, faults := Load("f", data, everything)
		if (d == nil) != Refused(faults) {
			t.Fatalf("definitions %v with faults %v", d, faults)
		}
		lines := bytes.Count(data, []byte("\n")) + 1
		for i, fault := range faults {
			if fault.Line < 1 || fault.Line > lines || fault.Column < 1 || fault.Reason == "" {
				t.Fatalf("fault %v is outside of the file", fault)
			}
			if i > 0 && fault.Line < faults[i-1].Line {
				t.Fatalf("fault %v stands after %v", fault, faults[i-1])
			}
		}
		if d != nil {
			checkModel(t, d)
		}
	})
}
