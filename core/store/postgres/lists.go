package postgres

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-dev/millrace/core/store"
)

// lists are steps as commit_steps takes them: columns of lists, in the order of its parameters.
type lists struct {
	spawns int64
	ends   bool

	id, cause, replica                 [][]byte
	lane, incarnation, epoch           []int64
	spawn                              []bool
	status                             []int16
	deployment, flow, snapshot, result [][]byte
	low, high, emits                   []int64
	closing                            [][]byte
	closes                             []int64
	waiting                            [][]byte
	opens                              []int64
	element, channel, key              [][]byte
	due                                []int64
	data                               [][]byte
	inChannel, inID, inCause, inFor    [][]byte
	reply                              [][]byte
	expires                            []int64
	emitting                           [][]byte
	back                               []int64
	target, payload                    [][]byte
	oldID                              [][]byte
	oldEpoch                           []int64
	oldCause, oldReplica               [][]byte
	oldLane, oldIncarnation            []int64
	rows                               rowLists
	space, name, value                 [][]byte // expected rows
}

// newLists takes the steps in the order of their instances, so that two transactions lock rows in one order.
func newLists(steps []*store.Step) *lists {
	l := &lists{}
	var rows []store.Row
	for _, st := range slices.SortedFunc(slices.Values(steps), func(a, b *store.Step) int {
		return cmp.Compare(a.Claim.Instance, b.Claim.Instance)
	}) {
		l.addStep(st)
		l.addWaits(st)
		l.addInbox(st)
		l.addOutbox(st)
		for _, r := range st.Forget {
			l.forget(r)
		}
		rows = append(rows, st.Rows...)
		if e := st.Expect; e != nil {
			l.space, l.name, l.value = append(l.space, name(e.Space)), append(l.name, name(e.Key)), append(l.value, expectedValue(*e))
		}
	}
	l.rows.add(rows)
	return l
}

func (l *lists) addStep(st *store.Step) {
	c := st.Claim
	l.id, l.cause, l.replica = append(l.id, name(c.Instance)), append(l.cause, name(st.Cause)), append(l.replica, name(c.Owner.Replica))
	l.lane, l.incarnation = append(l.lane, int64(c.Owner.Lane)), append(l.incarnation, number(c.Owner.Incarnation))
	l.epoch, l.spawn, l.status = append(l.epoch, number(uint64(c.Epoch))), append(l.spawn, st.Spawn), append(l.status, int16(st.Status))
	l.deployment, l.flow = append(l.deployment, name(st.Deployment)), append(l.flow, name(st.Flow))
	l.snapshot, l.result = append(l.snapshot, raw(st.Snapshot)), append(l.result, raw(st.Result))
	low, high := int64(0), int64(0)
	if n := len(st.Open); n > 0 {
		low, high = number(st.Open[0].Generation), number(st.Open[n-1].Generation)
	}
	l.low, l.high, l.emits = append(l.low, low), append(l.high, high), append(l.emits, int64(len(st.Outbox)))
	if st.Spawn {
		l.spawns++
	}
	l.ends = l.ends || st.Status.Terminal()
}

// addWaits leaves out what a terminal step closes: it closes all that is open.
func (l *lists) addWaits(st *store.Step) {
	id := name(st.Claim.Instance)
	if !st.Status.Terminal() {
		for _, generation := range st.Close {
			l.closing, l.closes = append(l.closing, id), append(l.closes, number(generation))
		}
	}
	for _, w := range st.Open {
		l.waiting, l.opens = append(l.waiting, id), append(l.opens, number(w.Generation))
		l.element, l.channel, l.key = append(l.element, name(w.Element)), append(l.channel, name(w.Channel)), append(l.key, name(w.Key))
		l.due, l.data = append(l.due, nanoseconds(w.Due)), append(l.data, raw(w.Data))
	}
}

func (l *lists) addInbox(st *store.Step) {
	in := st.Inbox
	if in == nil {
		return
	}
	l.inChannel, l.inID = append(l.inChannel, name(in.Channel)), append(l.inID, name(in.ID))
	l.inCause, l.inFor = append(l.inCause, name(st.Cause)), append(l.inFor, name(st.Claim.Instance))
	l.reply, l.expires = append(l.reply, raw(in.Reply)), append(l.expires, nanoseconds(in.Expires))
}

// addOutbox numbers emissions from the last one back: the transaction knows the number of the last one.
func (l *lists) addOutbox(st *store.Step) {
	for i, e := range st.Outbox {
		l.emitting, l.back = append(l.emitting, name(st.Claim.Instance)), append(l.back, int64(len(st.Outbox)-1-i))
		l.target, l.payload = append(l.target, name(e.Target)), append(l.payload, raw(e.Payload))
	}
}

func (l *lists) forget(r store.Record) {
	l.oldID, l.oldEpoch, l.oldCause = append(l.oldID, name(r.Instance)), append(l.oldEpoch, number(uint64(r.Epoch))), append(l.oldCause, name(r.Cause))
	l.oldReplica, l.oldLane = append(l.oldReplica, name(r.Owner.Replica)), append(l.oldLane, int64(r.Owner.Lane))
	l.oldIncarnation = append(l.oldIncarnation, number(r.Owner.Incarnation))
}

// args are in the order of commit_steps.
func (l *lists) args() []any {
	return append([]any{
		l.spawns, l.ends,
		l.id, l.cause, l.replica, l.lane, l.incarnation, l.epoch,
		l.spawn, l.status, l.deployment, l.flow, l.snapshot, l.result, l.low, l.high, l.emits,
		l.closing, l.closes,
		l.waiting, l.opens, l.element, l.channel, l.key, l.due, l.data,
		l.inChannel, l.inID, l.inCause, l.inFor, l.reply, l.expires,
		l.emitting, l.back, l.target, l.payload,
		l.oldID, l.oldEpoch, l.oldCause, l.oldReplica, l.oldLane, l.oldIncarnation,
	}, l.rows.args()...)
}

// commitArgs is the number of parameters of commit_steps.
const commitArgs = 48

var (
	sqlCommit = "select commit_steps(" + placeholders(commitArgs) + ")"
	// One statement is one transaction, also where steps rest on more than their instances.
	sqlCommitIf = "select expect_rows($49, $50, $51), commit_steps(" + placeholders(commitArgs) + ")"
)

// statement returns the statement of the transaction and its arguments.
func (l *lists) statement() (string, []any) {
	if len(l.name) == 0 {
		return sqlCommit, l.args()
	}
	return sqlCommitIf, append(l.args(), l.space, l.name, l.value)
}

// placeholders returns $1, $2, … of n parameters.
func placeholders(n int) string {
	var out []string
	for i := range n {
		out = append(out, "$"+strconv.Itoa(i+1))
	}
	return strings.Join(out, ", ")
}
