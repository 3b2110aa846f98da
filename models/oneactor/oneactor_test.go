package oneactor_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/millrace-dev/millrace/models/oneactor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func engine(t *testing.T, body string) *oneactor.Engine {
	t.Helper()
	p, err := oneactor.Load([]byte(`<d><message id="m" name="go"><extensionElements><subscription correlationKey="=key"/></extensionElements></message>
<error id="e" errorCode="E"/><process id="p">` + body + `</process></d>`))
	if err != nil {
		t.Fatal(err)
	}
	e, err := oneactor.New(p, oneactor.Options{Flow: "p", Start: oneactor.OnComplete, Messages: oneactor.OnPersist})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func tell(t *testing.T, e *oneactor.Engine, d oneactor.Delivery, want string) {
	t.Helper()
	lines, err := e.Deliver(d)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(lines, "\n"); got != want {
		t.Fatalf("%v does\n%s\nwant\n%s", d, got, want)
	}
}

func values(pairs ...any) map[string]any {
	v := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		v[pairs[i].(string)] = pairs[i+1]
	}
	return v
}

// Case 1 and 3: the first true flow in the order of the file; the condition of the default is not looked at.
func TestChoice(t *testing.T) {
	const body = `<startEvent id="s"/><exclusiveGateway id="g" default="c"/><userTask id="x"/><userTask id="y"/><userTask id="z"/>
<sequenceFlow id="a" sourceRef="s" targetRef="g"/>
<sequenceFlow id="c" sourceRef="g" targetRef="z"><conditionExpression>=true</conditionExpression></sequenceFlow>
<sequenceFlow id="b" sourceRef="g" targetRef="x"><conditionExpression>=n &gt; 1 and not(n = 5)</conditionExpression></sequenceFlow>
<sequenceFlow id="d" sourceRef="g" targetRef="y"><conditionExpression>=n + 1 &gt;= 2 * 2 or false</conditionExpression></sequenceFlow>`
	e := engine(t, body)
	for id, at := range map[string]string{"2": "x", "7": "x", "5": "y", "0": "z"} {
		n := int(id[0] - '0')
		tell(t, e, oneactor.Delivery{Kind: oneactor.Start, ID: id, Variables: values("n", n)},
			"outcome start "+id+" started\ncommit "+id+"\n  variable .n = "+id+"\n  wait /"+at+" user")
	}
}

// Case 12 and 13: a cycle beside the activity happens as often as it says; an error of the activity ends it.
func TestBoundary(t *testing.T) {
	e := engine(t, `<startEvent id="s"/><serviceTask id="w"><extensionElements><taskDefinition type="t"/></extensionElements></serviceTask><endEvent id="end"/>
<boundaryEvent id="b" attachedToRef="w" cancelActivity="false"><timerEventDefinition><timeCycle>R2/PT5S</timeCycle></timerEventDefinition></boundaryEvent>
<boundaryEvent id="x" attachedToRef="w"><errorEventDefinition errorRef="e"/></boundaryEvent><userTask id="u"/>
<sequenceFlow id="f1" sourceRef="s" targetRef="w"/><sequenceFlow id="f2" sourceRef="w" targetRef="end"/>
<sequenceFlow id="f3" sourceRef="b" targetRef="end"/><sequenceFlow id="f4" sourceRef="x" targetRef="u"/>`)
	const task = "  wait /w task t retries 3 offered "
	tell(t, e, oneactor.Delivery{Kind: oneactor.Start, ID: "1"}, "outcome start 1 started\ncommit 1\n  wait /b timer due 5\n"+task+"0 lock 0 until 0")
	tell(t, e, oneactor.Delivery{Kind: oneactor.Fetch, Name: "t", Seconds: 100}, "outcome fetch 1 /w lock 1\ncommit 1\n  wait /b timer due 5\n"+task+"100 lock 1 until 100")
	tell(t, e, oneactor.Delivery{Kind: oneactor.Advance, Seconds: 12},
		"fired 1 /b at 5\ncommit 1\n  wait /b timer due 10\n"+task+"100 lock 1 until 100\nfired 1 /b at 10\ncommit 1\n"+task+"100 lock 1 until 100")
	tell(t, e, oneactor.Delivery{Kind: oneactor.Complete, Instance: "1", At: "/w", Lock: 2}, "outcome complete refused")
	tell(t, e, oneactor.Delivery{Kind: oneactor.Throw, Instance: "1", At: "/w", Lock: 1, Name: "E"}, "outcome throw accepted\ncommit 1\n  wait /u user")
	tell(t, e, oneactor.Delivery{Kind: oneactor.Finish, Instance: "1", At: "/u"}, "outcome finish accepted\ncommit 1\n  completed\nacknowledge 1 completed of 1")
}

// A message meets who waits, once; who waits for nothing is missed and may come again.
func TestMessage(t *testing.T) {
	e := engine(t, `<startEvent id="s"/><receiveTask id="r" messageRef="m"/><parallelGateway id="j"/>
<sequenceFlow id="f1" sourceRef="s" targetRef="r"/><sequenceFlow id="f2" sourceRef="r" targetRef="j"/><sequenceFlow id="f3" sourceRef="s" targetRef="j"/>`)
	d := oneactor.Delivery{Kind: oneactor.Message, ID: "d", Name: "go", Key: "4", Variables: values("v", "x")}
	tell(t, e, d, "outcome message d missed\nacknowledge d missed of nobody")
	tell(t, e, oneactor.Delivery{Kind: oneactor.Start, ID: "1", Variables: values("key", 4)},
		"outcome start 1 started\ncommit 1\n  held /j by f3\n  variable .key = 4\n  wait /r message go key \"4\"")
	tell(t, e, oneactor.Delivery{Kind: oneactor.Start, ID: "2", Variables: values("key", "4")},
		"outcome start 2 started\ncommit 2\n  held /j by f3\n  stuck /r alias-taken\n  variable .key = \"4\"")
	tell(t, e, d, "outcome message d resumed 1\ncommit 1\n  completed\n  variable .key = 4\n  variable .v = \"x\"\nacknowledge 1 completed of 1\nacknowledge d accepted of 1")
	tell(t, e, d, "outcome message d duplicate\nacknowledge d accepted of 1")
	tell(t, e, oneactor.Delivery{Kind: oneactor.Resolve, Instance: "2", At: "/r", Variables: values("key", "5")},
		"outcome resolve resolved 2\ncommit 2\n  held /j by f3\n  variable .key = \"5\"\n  wait /r message go key \"5\"")
	tell(t, e, oneactor.Delivery{Kind: oneactor.Cancel, Instance: "2"}, "outcome cancel cancelled 2\ncommit 2\n  failed\n  variable .key = \"5\"\nacknowledge 2 failed of 2")
}
