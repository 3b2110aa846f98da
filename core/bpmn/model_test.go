package bpmn

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/millrace-dev/millrace/core/feel"
)

var rewrite = flag.Bool("rewrite", false, "write the expected results as they are now")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func everything(Kind) bool { return true }

// golden compares text with a file, or writes it with -rewrite.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s", file, got)
	}
}

// Each file under testdata/valid has a model written beside it, and no fault.
func TestModels(t *testing.T) {
	files, err := filepath.Glob("testdata/valid/*.bpmn")
	if err != nil || len(files) == 0 {
		t.Fatalf("find models: %v, %d files", err, len(files))
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d, faults := Load(filepath.Base(file), data, everything)
		if d == nil {
			t.Errorf("%s is refused: %v", file, faults)
			continue
		}
		golden(t, strings.TrimSuffix(file, ".bpmn")+".model", dump(d, faults))
		checkModel(t, d)
	}
}

// checkModel holds the promises of the package comment against a model.
func checkModel(t *testing.T, d *Definitions) {
	t.Helper()
	for _, p := range d.Processes {
		for i, n := range p.Nodes {
			if n.Index != i || p.NodeByID(n.ID) != n {
				t.Errorf("node %d has index %d and id %q", i, n.Index, n.ID)
			}
			for _, f := range n.Outgoing {
				if p.Flows[f].Source != i {
					t.Errorf("flow %d does not come out of node %d", f, i)
				}
			}
			for _, f := range n.Incoming {
				if p.Flows[f].Target != i {
					t.Errorf("flow %d does not lead into node %d", f, i)
				}
			}
			for _, b := range n.Boundary {
				if p.Nodes[b].AttachedTo != i {
					t.Errorf("boundary event %d is not attached to node %d", b, i)
				}
			}
			if !contains(p.ChildrenOf(n.Parent), i) {
				t.Errorf("node %d is not a child of its parent %d", i, n.Parent)
			}
			if n.Kind.IsScope() && n.Start == Outside || n.Kind.HasTimer() && n.Timer == nil || n.Kind.CatchesMessage() && n.Message == nil {
				t.Errorf("node %q lacks what its kind needs", n.ID)
			}
		}
		for i, f := range p.Flows {
			if f.Index != i || f.Source == Outside || f.Target == Outside || p.Nodes[f.Source].Parent != p.Nodes[f.Target].Parent {
				t.Errorf("flow %d is %+v", i, f)
			}
		}
	}
}

func contains(list []int, want int) bool {
	for _, i := range list {
		if i == want {
			return true
		}
	}
	return false
}

// dump writes a model for people to compare.
func dump(d *Definitions, faults []Fault) string {
	var b strings.Builder
	for _, f := range faults {
		fmt.Fprintln(&b, f)
	}
	for _, m := range d.Messages {
		fmt.Fprintf(&b, "message %s name %q", m.ID, m.Name.String())
		if m.CorrelationKey != nil {
			fmt.Fprintf(&b, " key %q", m.CorrelationKey.String())
		}
		fmt.Fprintln(&b)
	}
	for _, e := range d.Errors {
		fmt.Fprintf(&b, "error %s code %q\n", e.ID, e.Code)
	}
	for _, p := range d.Processes {
		fmt.Fprintf(&b, "process %s starts %v children %v\n", p.ID, p.Starts, p.Children)
		for _, n := range p.Nodes {
			dumpNode(&b, n)
		}
		for _, f := range p.Flows {
			fmt.Fprintf(&b, "  flow %d %s: %d to %d", f.Index, f.ID, f.Source, f.Target)
			if f.Condition != nil {
				fmt.Fprintf(&b, " if %v", f.Condition)
			}
			fmt.Fprintln(&b)
		}
	}
	return b.String()
}

func dumpNode(b *strings.Builder, n *Node) {
	fmt.Fprintf(b, "  %d %s: %v, line %d", n.Index, n.ID, n.Kind, n.Line)
	part := func(name string, index int) {
		if index != Outside {
			fmt.Fprintf(b, ", %s %d", name, index)
		}
	}
	part("in", n.Parent)
	part("default", n.Default)
	part("attached to", n.AttachedTo)
	part("start", n.Start)
	lists := [...]struct {
		name string
		list []int
	}{{"incoming", n.Incoming}, {"outgoing", n.Outgoing}, {"boundary", n.Boundary}, {"children", n.Children}}
	for _, l := range lists {
		if len(l.list) > 0 {
			fmt.Fprintf(b, ", %s %v", l.name, l.list)
		}
	}
	if n.Interrupting {
		fmt.Fprint(b, ", interrupting")
	}
	dumpContent(b, n)
	fmt.Fprintln(b)
}

func dumpContent(b *strings.Builder, n *Node) {
	if n.Message != nil {
		fmt.Fprintf(b, ", message %s", n.Message.ID)
	}
	if n.Timer != nil {
		fmt.Fprintf(b, ", %v %s", n.Timer.Kind, n.Timer.Value)
	}
	if n.Error != nil {
		fmt.Fprintf(b, ", error %s", n.Error.Code)
	}
	if n.Task != nil {
		var headers []string
		for _, h := range n.Task.Headers {
			headers = append(headers, fmt.Sprintf("{%s %s}", h.Key, h.Value))
		}
		fmt.Fprintf(b, ", handler %q retries %q headers %v", n.Task.Type.String(), n.Task.Retries.String(), headers)
	}
	if n.Script != nil {
		fmt.Fprintf(b, ", %s := %v", n.Script.ResultVariable, n.Script.Expression)
	}
	if n.Decision != nil {
		fmt.Fprintf(b, ", %s := decision %q", n.Decision.ResultVariable, n.Decision.ID.String())
	}
	if n.Called != nil {
		fmt.Fprintf(b, ", calls %q %v %v", n.Called.ProcessID.String(), n.Called.PropagateParent, n.Called.PropagateChild)
	}
	if n.User != nil {
		fmt.Fprintf(b, ", groups %q form %q", n.User.CandidateGroups.String(), n.User.Form)
	}
	if l := n.Loop; l != nil {
		fmt.Fprintf(b, ", for each %s of %v into %s from %v until %v, sequential %v",
			l.InputElement, l.InputCollection, l.OutputCollection, l.OutputElement, l.Completion, l.Sequential)
	}
	for _, m := range n.Inputs {
		fmt.Fprintf(b, ", in %v := %s", m.Target, m.Source)
	}
	for _, m := range n.Outputs {
		fmt.Fprintf(b, ", out %v := %s", m.Target, m.Source)
	}
}

// A condition of the model can be asked at once.
func TestConditionHolds(t *testing.T) {
	data, err := os.ReadFile("testdata/valid/approve.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	d, faults := Load("approve.bpmn", data, FirstSlice)
	if d == nil {
		t.Fatalf("refused: %v", faults)
	}
	p := d.Process("approve")
	for total, want := range map[string]string{"5000": "to_review", "5": "to_wait", "500": "", "null": ""} {
		scope, err := feel.ParseJSON([]byte(`{"order": {"total": ` + total + `}, "available": true}`))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, i := range p.NodeByID("gate").Outgoing {
			if c := p.Flows[i].Condition; c != nil && got == "" {
				held, err := c.Holds(scope.(*feel.Context), feel.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if held {
					got = p.Flows[i].ID
				}
			}
		}
		if got != want {
			t.Errorf("a total of %s takes %q, want %q", total, got, want)
		}
	}
}

// The engine's answer decides, and every element it does not execute is listed.
func TestCapabilities(t *testing.T) {
	data, err := os.ReadFile("testdata/valid/stage1.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	d, faults := Load("stage1.bpmn", data, FirstSlice)
	if d != nil {
		t.Error("the first slice does not execute this model")
	}
	var b strings.Builder
	for _, f := range faults {
		fmt.Fprintln(&b, f)
	}
	golden(t, "testdata/valid/stage1.first-slice", b.String())

	d, _ = Load("stage1.bpmn", data, func(k Kind) bool { return k != MultiInstance })
	if d != nil {
		t.Error("an engine without multi-instance executes a multi-instance task")
	}
}

func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for k := range kinds {
		if name := k.String(); name == "unknown kind" || seen[name] {
			t.Errorf("kind %d is named %q", k, name)
		}
		seen[k.String()] = true
		groups := 0
		for _, in := range [...]bool{k.IsStart(), k.IsEnd(), k.IsBoundary(), k.IsTask(), k.IsGateway(), k.IsScope()} {
			if in {
				groups++
			}
		}
		if groups > 1 {
			t.Errorf("%v is in %d groups", k, groups)
		}
	}
	if kinds.String() != "unknown kind" {
		t.Errorf("the kind after the last is named %q", kinds)
	}
}
