package graph

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// TestFlowsOfThePackage changes one thing in the orders example and says which faults that must give:
// the rules that join millrace.yaml with real BPMN.
func TestFlowsOfThePackage(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		data, err := os.ReadFile("../../examples/orders/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	pack, flow := read(PackageFile), read("approve.bpmn")
	for name, c := range map[string]struct {
		from, to string // in the flow or else in the package
		want     []string
	}{
		"emit that is not defined": {
			`key="target" value="approved"`, `key="target" value="aproved"`,
			[]string{"element emit: emit aproved is not defined; did you mean approved?", "emits.approved: no service task of a flow uses this emit"},
		},
		"emit without a header": {
			`key="target"`, `key="other"`,
			[]string{"element emit: a service task of type \"emit\" needs the task header \"target\""},
		},
		"input that is no field": {
			`target="placed_at"`, `target="placed"`,
			[]string{
				"element emit: input placed: schema order of relay approved has no such field; there are order_id, customer, amount, placed_at",
				"element emit: no input makes field placed_at of schema order",
			},
		},
		"message that nothing delivers": {
			`name="decision">`, `name="verdict">`,
			[]string{
				"element decision: no channel delivers message verdict with a correlate key and without flow; there are decision",
				"channels.decisions: no flow waits for message decision; there are verdict",
			},
		},
		"message whose name is computed": {`name="decision">`, `name="=kind">`, nil},
		"message that starts nothing": {
			`name="order" />`, `name="purchase" />`,
			[]string{"channels.approvals.flow: process approve starts with message purchase, this channel delivers message order"},
		},
		"start message whose name is computed": {
			`name="order" />`, `name="=kind" />`,
			[]string{"element received: the name of a message that starts the process must be a text: there are no variables yet"},
		},
		"process under another id": {
			`process id="approve"`, `process id="aprove"`,
			[]string{"channels.approvals.flow: process approve is not defined in any flow; did you mean aprove?"},
		},
		"element that is not executed": {
			"bpmn:exclusiveGateway", "bpmn:inclusiveGateway", []string{"element choice: the element is not supported: inclusive gateway"},
		},
		"not XML": {"</bpmn:definitions>", "", []string{"approve.bpmn:"}},
		"relay that the flow alone feeds, removed": {
			"  approved: {relay: approved}", "  other: {relay: approved}",
			[]string{"emit approved is not defined; there are other", "emits.other: no service task of a flow uses this emit"},
		},
	} {
		files := fstest.MapFS{
			PackageFile:    {Data: []byte(strings.ReplaceAll(pack, c.from, c.to))},
			"approve.bpmn": {Data: []byte(strings.ReplaceAll(flow, c.from, c.to))},
		}
		_, faults := Load(files)
		for i := range max(len(faults), len(c.want)) {
			if i >= len(faults) || i >= len(c.want) || !strings.Contains(faults[i].Error(), c.want[i]) || faults[i].Line == 0 {
				t.Errorf("%s: got %v, want %q", name, faults, c.want)
				break
			}
		}
	}
}

func TestWarningsOfFlowsAreKept(t *testing.T) {
	data, err := os.ReadFile("../../examples/orders/approve.bpmn")
	if err != nil {
		t.Fatal(err)
	}
	flow := strings.Replace(string(data), "<zeebe:taskHeaders>", "<zeebe:unheard /><zeebe:taskHeaders>", 1)
	pack, err := os.ReadFile("../../examples/orders/" + PackageFile)
	if err != nil {
		t.Fatal(err)
	}
	p, faults := Load(fstest.MapFS{PackageFile: {Data: pack}, "approve.bpmn": {Data: []byte(flow)}})
	if len(faults) > 0 || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0].Reason, "unheard") {
		t.Fatalf("faults %v, package %+v", faults, p)
	}
}
