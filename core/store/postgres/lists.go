package postgres

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-dev/millrace/core/store"
)

// lists are steps as apply_steps takes them: one array of records for each kind of thing, in the order of its parameters.
type lists struct {
	spawns int64
	ends   bool

	steps, closes, opens, receipts, emissions, forgets *packed

	rows               rowLists
	space, name, value [][]byte // expected rows
}

// newLists takes the steps in the order of their instances, so that two transactions lock rows in one order.
func (a *argTypes) newLists(steps []*store.Step) *lists {
	l := &lists{
		steps: a.pack("step_arg"), closes: a.pack("close_arg"), opens: a.pack("wait_arg"),
		receipts: a.pack("receipt_arg"), emissions: a.pack("emission_arg"), forgets: a.pack("record_arg"),
	}
	if len(steps) > 1 {
		steps = slices.SortedFunc(slices.Values(steps), func(a, b *store.Step) int { return cmp.Compare(a.Claim.Instance, b.Claim.Instance) })
	}
	for _, st := range steps {
		l.addStep(st)
		l.addWaits(st)
		l.addInbox(st)
		l.addOutbox(st)
		for _, r := range st.Forget {
			l.forget(r)
		}
	}
	l.addRows(steps)
	return l
}

// addRows takes what the steps write beyond their instances, and what they rest on there.
func (l *lists) addRows(steps []*store.Step) {
	var rows []store.Row
	for _, st := range steps {
		rows = append(rows, st.Rows...)
		if e := st.Expect; e != nil {
			l.space, l.name, l.value = append(l.space, name(e.Space)), append(l.name, name(e.Key)), append(l.value, expectedValue(*e))
		}
	}
	l.rows.add(rows)
}

func (l *lists) addStep(st *store.Step) {
	low, high := int64(0), int64(0)
	if n := len(st.Open); n > 0 {
		low, high = number(st.Open[0].Generation), number(st.Open[n-1].Generation)
	}
	c := st.Claim
	l.steps.begin(15)
	l.steps.text(string(c.Instance)).text(st.Cause).text(c.Owner.Replica).int8(int64(c.Owner.Lane)).int8(number(c.Owner.Incarnation))
	l.steps.int8(number(uint64(c.Epoch))).bool(st.Spawn).int2(int16(st.Status)).text(st.Deployment).text(st.Flow)
	l.steps.bytes(st.Snapshot).bytes(st.Result).int8(low).int8(high).int8(int64(len(st.Outbox)))
	l.steps.end()
	if st.Spawn {
		l.spawns++
	}
	l.ends = l.ends || st.Status.Terminal()
}

// addWaits leaves out what a terminal step closes: it closes all that is open.
func (l *lists) addWaits(st *store.Step) {
	id := string(st.Claim.Instance)
	if !st.Status.Terminal() {
		for _, generation := range st.Close {
			l.closes.begin(2)
			l.closes.text(id).int8(number(generation))
			l.closes.end()
		}
	}
	for _, w := range st.Open {
		l.opens.begin(7)
		l.opens.text(id).int8(number(w.Generation)).text(w.Element).text(w.Channel).text(w.Key).int8(nanoseconds(w.Due)).bytes(w.Data)
		l.opens.end()
	}
}

func (l *lists) addInbox(st *store.Step) {
	if in := st.Inbox; in != nil {
		l.receipts.begin(6)
		l.receipts.text(in.Channel).text(in.ID).text(st.Cause).text(string(st.Claim.Instance)).bytes(in.Reply).int8(nanoseconds(in.Expires))
		l.receipts.end()
	}
}

// addOutbox numbers emissions from the last one back: the transaction knows the number of the last one.
func (l *lists) addOutbox(st *store.Step) {
	for i, e := range st.Outbox {
		l.emissions.begin(4)
		l.emissions.text(string(st.Claim.Instance)).int8(int64(len(st.Outbox) - 1 - i)).text(e.Target).bytes(e.Payload)
		l.emissions.end()
	}
}

func (l *lists) forget(r store.Record) {
	l.forgets.begin(6)
	l.forgets.text(string(r.Instance)).int8(number(uint64(r.Epoch))).text(r.Cause)
	l.forgets.text(r.Owner.Replica).int8(int64(r.Owner.Lane)).int8(number(r.Owner.Incarnation))
	l.forgets.end()
}

// applyArgs is the number of parameters of apply_steps.
const applyArgs = 8

// application is the transaction of steps by one function of the schema: bare, and with rows that the steps write or rest on. One statement is
// one transaction, also where there are rows: what it selects is done in order.
type application struct{ bare, rows string }

// applicationOf makes the statements of a function of n parameters. Those of write_rows come behind them, then those of expect_rows.
func applicationOf(function string, n int) application {
	call := function + "(" + placeholders(1, n) + ")"
	return application{
		bare: "select " + call,
		rows: "select expect_rows(" + placeholders(n+7, 3) + "), " + call + ", write_rows(" + placeholders(n+1, 6) + ")",
	}
}

var sqlApply = applicationOf("apply_steps", applyArgs)

// with returns the statement and its arguments: args are the function's, the rows are those of l.
func (a application) with(l *lists, args []any) (string, []any) {
	if len(l.name) == 0 && l.rows.empty() {
		return a.bare, args
	}
	return a.rows, append(append(args, l.rows.args()...), l.space, l.name, l.value)
}

// transaction returns the statement that is the transaction of the steps, and its arguments.
func (a *argTypes) transaction(steps []*store.Step) (string, []any) {
	if len(steps) == 1 && isPlain(steps[0]) {
		return aloneStatement(steps[0])
	}
	return a.newLists(steps).statement()
}

// statement returns the statement of the transaction and its arguments.
func (l *lists) statement() (string, []any) {
	return sqlApply.with(l, []any{l.spawns, l.ends, l.steps, l.closes, l.opens, l.receipts, l.emissions, l.forgets})
}

// placeholders returns n parameters from number first on.
func placeholders(first, n int) string {
	var out []string
	for i := range n {
		out = append(out, "$"+strconv.Itoa(first+i))
	}
	return strings.Join(out, ", ")
}
