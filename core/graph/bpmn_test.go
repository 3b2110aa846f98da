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
			[]string{"element emit: a service task of type \"emit\" needs the task header \"target\"", "element emit: a task of type emit has no header other; there are target"},
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

// Faults of the file, of the language, of what tasks are told and of what the package is asked for: one run tells them all.
func TestFaultsOfEveryKindInOneRun(t *testing.T) {
	const pack = `name: many
name: twice
schemas: {item: {id: string}}
relays: {items: {schema: itm}}
channels: {in: {http: {path: /in}, schema: item, flow: proces}}
flows: [many.bpmn]
node: {lanes: !!str 0}
`
	const flow = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t">
<process id="process"><startEvent id="in"/><inclusiveGateway id="which"/>
<serviceTask id="tell"><extensionElements><zeebe:taskDefinition type="emit"/><zeebe:taskHeaders><zeebe:header key="target" value="items"/></zeebe:taskHeaders></extensionElements></serviceTask>
<serviceTask id="call"><extensionElements><zeebe:taskDefinition type="http" retries="x"/>
<zeebe:taskHeaders><zeebe:header key="method" value="CALL"/>
<zeebe:header key="result" value="a b"/>
<zeebe:header key="ulr" value="http://h/"/></zeebe:taskHeaders></extensionElements></serviceTask>
<serviceTask id="again"><extensionElements><zeebe:taskDefinition type="http" retries="-4"/><zeebe:taskHeaders><zeebe:header key="url" value="http://me:pw@h/"/></zeebe:taskHeaders></extensionElements></serviceTask>
<businessRuleTask id="decide"><extensionElements><zeebe:calledDecision decisionId="d" resultVariable="r"/></extensionElements></businessRuleTask>
<callActivity id="sub" calledElement="nobody"/><endEvent id="end"/>
<sequenceFlow id="a" sourceRef="in" targetRef="which"/><sequenceFlow id="b" sourceRef="which" targetRef="tell"/><sequenceFlow id="c" sourceRef="tell" targetRef="call"/>
<sequenceFlow id="d" sourceRef="call" targetRef="again"/><sequenceFlow id="e" sourceRef="again" targetRef="decide"/><sequenceFlow id="f" sourceRef="decide" targetRef="sub"/>
<sequenceFlow id="g" sourceRef="sub" targetRef="end"/></process></definitions>`
	_, faults := Load(fstest.MapFS{PackageFile: {Data: []byte(pack)}, "many.bpmn": {Data: []byte(flow)}})
	want := []string{
		"many.bpmn:2:44: element which: the element is not supported: inclusive gateway",
		"many.bpmn:3: element tell: emit items is not defined; there are none",
		"many.bpmn:4:1: element call: a task of type http needs the task header url",
		`many.bpmn:4:86: element call: retries is "x", not a number from 1 to 1000: how often the task is tried`,
		"many.bpmn:5:20: element call: header method: found CALL, want GET, POST, PUT, PATCH, DELETE",
		"many.bpmn:6:1: element call: header result: a b is no name of a variable",
		"many.bpmn:7:1: element call: a task of type http has no header ulr; did you mean url?",
		"many.bpmn:8:111: element again: header url: URL has a user or a password: secrets never stand in a package",
		`many.bpmn:8:87: element again: retries is "-4", not a number from 1 to 1000: how often the task is tried`,
		"many.bpmn:9:1: element decide: decisions are not executed; a business rule task with a zeebe:taskDefinition is done by a worker",
		"many.bpmn:10: element sub: process nobody is not defined in any flow; there are process",
		"millrace.yaml:2:1: key name is given twice, first on line 1",
		"millrace.yaml:4:26: relays.items.schema: schema itm is not defined; did you mean item?",
		"millrace.yaml:5:56: channels.in.flow: process proces is not defined in any flow; did you mean process?",
		"millrace.yaml:7:15: tags are not allowed; found !!str",
	}
	got := make(map[string]bool, len(faults)) // only looked up
	for _, f := range faults {
		got[f.Error()] = true
	}
	for _, w := range want {
		if !got[w] {
			t.Errorf("no fault %q", w)
		}
	}
	if t.Failed() {
		for _, f := range faults {
			t.Log(f.Error())
		}
	}
}
