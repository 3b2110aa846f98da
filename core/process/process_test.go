package process_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/process"
	"github.com/millrace-dev/millrace/core/record"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim"
)

func TestMain(m *testing.M) { sim.Main(m) }

type stream = relay.Relay[*record.Batch]

// rig is a processor between two relays, on real tasks, and what came out of it.
type rig struct {
	t       *testing.T
	scope   *sched.Scope
	in, out *stream
	after   *relay.Consumer[*record.Batch]
	refused []string // rows and reasons that were told
	keep    error    // what telling answers
	trees   []*ack.Tree
}

func fields(t *testing.T, name string, all ...record.Field) *record.Schema {
	t.Helper()
	s, err := record.NewSchema(name, all)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func readings(t *testing.T) *record.Schema {
	return fields(t, "reading", record.Field{Name: "sensor", Type: record.String}, record.Field{Name: "value", Type: record.Int64})
}

// start runs a processor with a condition and assignments, each of which may be missing.
func start(t *testing.T, where string, assign ...record.Assignment) *rig {
	t.Helper()
	mem := watchMemory(t)
	var s sched.Scheduler
	r := &rig{t: t, scope: s.NewScope("test"), in: relay.New[*record.Batch](s, "in"), out: relay.New[*record.Batch](s, "out")}
	o := process.Options{Name: "p", Rejected: func(_ string, b *record.Batch, rows []*record.Rejection) error {
		for _, x := range rows {
			text, err := b.Row(x.Row).AppendJSON(nil)
			r.refused = append(r.refused, fmt.Sprintf("%d %s %s %v", x.Row, x.Reason, text, err))
		}
		return r.keep
	}}
	scope, err := record.NewScope("row", readings(t))
	if err != nil {
		t.Fatal(err)
	}
	if where != "" {
		var faults []record.ExprFault
		if o.Where, faults = scope.Filter(where); len(faults) > 0 {
			t.Fatal(faults)
		}
	}
	if len(assign) > 0 {
		out := fields(t, "mapped", record.Field{Name: "sensor", Type: record.String}, record.Field{Name: "share", Type: record.Int64})
		var faults []record.AssignmentFault
		if o.Map, faults = scope.Project(out, assign); len(faults) > 0 {
			t.Fatal(faults)
		}
	}
	from := r.in.Attach("p", 4)
	r.after = r.out.Attach("end", 4)
	p, err := process.New(o, from, r.out)
	if err != nil {
		t.Fatal(err)
	}
	s.Go(r.scope, "processor", func() { p.Run(r.scope) })
	t.Cleanup(func() {
		r.scope.Close()
		r.after.Discard(errDisk)
		mem.AssertSize(t, 0)
		for i, tree := range r.trees {
			if n := tree.Active(); n != 0 {
				t.Errorf("%d shares of attempt %d are left to nobody", n, i)
			}
		}
	})
	return r
}

// watchMemory makes the tests of a rig fail that do not give back every batch.
func watchMemory(t *testing.T) *memory.CheckedAllocator {
	before := memory.DefaultAllocator
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	memory.DefaultAllocator = mem
	t.Cleanup(func() { memory.DefaultAllocator = before })
	return mem
}

// send publishes a batch of values with the ids d/10, d/11, … and returns its outcome, to be waited for.
func (r *rig) send(values ...int) func() error {
	r.t.Helper()
	reply := r.publish(nil, values...)
	return func() error {
		o, err := reply.Wait(r.scope)
		return errors.Join(err, o.Err)
	}
}

// publish is send with a unit.
func (r *rig) publish(unit relay.Unit, values ...int) *ack.Reply {
	r.t.Helper()
	d, err := record.NewDecoder(readings(r.t), memory.DefaultAllocator, record.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	defer d.Release()
	var lines []int32
	for i, v := range values {
		if x := d.Append(fmt.Appendf(nil, `{"sensor":"s%d","value":%d}`, v, v), i); x != nil {
			r.t.Fatal(x)
		}
		lines = append(lines, int32(10+i))
	}
	reply := ack.NewReply(sched.Scheduler{})
	root := ack.New(sched.Scheduler{}, reply)
	r.trees = append(r.trees, root.Tree())
	b := d.Flush()
	defer b.Release()
	err = r.in.Publish(r.scope, root, relay.Batch[*record.Batch]{Rows: b, IDs: relay.LineIDs("d", lines), Unit: unit})
	if err != nil && !errors.Is(err, relay.ErrRemoved) { // that is in the outcome, too
		r.t.Fatal(err)
	}
	root.Ack()
	return reply
}

// receive takes what came out and acknowledges it. Each row stands beside its id.
func (r *rig) receive() []string {
	r.t.Helper()
	d, err := r.after.Receive(r.scope, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	defer d.Rows.Release()
	if d.IDs.Len() != d.Rows.Rows() {
		r.t.Fatalf("%d ids for %d rows", d.IDs.Len(), d.Rows.Rows())
	}
	var all []string
	for i := range d.Rows.Rows() {
		text, err := d.Rows.Row(i).AppendJSON(nil)
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, d.IDs.At(i)+" "+string(text))
	}
	d.Share.Ack()
	return all
}

func (r *rig) want(got, want []string) {
	r.t.Helper()
	if !slices.Equal(got, want) {
		r.t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestConditionKeepsRowsBesideTheirIDs(t *testing.T) {
	r := start(t, "row.value > 2")
	done := r.send(1, 3, 2, 4, 0, 5)
	r.want(r.receive(), []string{
		`d/11 {"sensor":"s3","value":3}`, `d/13 {"sensor":"s4","value":4}`, `d/15 {"sensor":"s5","value":5}`,
	})
	if err := done(); err != nil {
		t.Error(err)
	}
}

func TestProjectionKeepsRowsBesideTheirIDs(t *testing.T) {
	r := start(t, "", record.Assignment{Field: "share", Text: "60 / row.value"})
	done := r.send(1, 2, 0, 3)
	r.want(r.receive(), []string{`d/10 {"sensor":"s1","share":60}`, `d/11 {"sensor":"s2","share":30}`, `d/13 {"sensor":"s3","share":20}`})
	if err := done(); err != nil {
		t.Error(err)
	}
	if len(r.refused) != 1 || !strings.HasPrefix(r.refused[0], `2 evaluation {"sensor":"s0","value":0}`) {
		t.Errorf("told %q", r.refused)
	}
}

// Both: a rejection names the row of the delivery, not that of what the condition left.
func TestBothNameTheRowsOfTheDelivery(t *testing.T) {
	r := start(t, "10 / (row.value - 7) != 100", record.Assignment{Field: "share", Text: "60 / row.value"})
	done := r.send(7, 1, 0, 2)
	r.want(r.receive(), []string{`d/11 {"sensor":"s1","share":60}`, `d/13 {"sensor":"s2","share":30}`})
	if err := done(); err != nil {
		t.Error(err)
	}
	r.want(r.refused, []string{
		`0 evaluation {"sensor":"s7","value":7} <nil>`, `2 evaluation {"sensor":"s0","value":0} <nil>`,
	})
}

func TestEmptyBatchIsAcknowledged(t *testing.T) {
	for name, r := range map[string]*rig{
		"nothing matches":      start(t, "row.value > 100"),
		"every row is refused": start(t, "1 / (row.value - row.value) > 0"),
	} {
		if err := r.send(1, 2)(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n, _ := r.after.Queued(); n != 0 {
			t.Errorf("%s: %d batches were handed on", name, n)
		}
	}
}

var errDisk = errors.New("disk")

func TestUnrecordedRejectionFailsTheDelivery(t *testing.T) {
	r := start(t, "10 / row.value > 0")
	r.keep = errDisk
	if err := r.send(1, 0)(); !errors.Is(err, errDisk) {
		t.Errorf("got %v: rows were acknowledged that nobody can find again", err)
	}
	if n, _ := r.after.Queued(); n != 0 {
		t.Errorf("%d batches were handed on", n)
	}
}

// Also when nothing is left to hand on.
func TestUnrecordedRejectionOfEveryRowFailsTheDelivery(t *testing.T) {
	for name, r := range map[string]*rig{
		"by the condition":  start(t, "10 / row.value > 0"),
		"by the projection": start(t, "", record.Assignment{Field: "share", Text: "60 / row.value"}),
	} {
		r.keep = errDisk
		if err := r.send(0, 0)(); !errors.Is(err, errDisk) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type unit struct{ relay.Unit }

// What is left of a batch commits with the unit of the whole: a sink behind stages into it.
func TestBatchKeepsItsUnit(t *testing.T) {
	for name, r := range map[string]*rig{
		"a condition":  start(t, "row.value > 1"),
		"a projection": start(t, "", record.Assignment{Field: "share", Text: "60 / row.value"}),
	} {
		mine := &unit{}
		reply := r.publish(mine, 1, 2)
		d, err := r.after.Receive(r.scope, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d.Unit != mine {
			t.Errorf("%s: the batch came out with the unit %v", name, d.Unit)
		}
		d.Rows.Release()
		d.Share.Ack()
		if o, err := reply.Wait(r.scope); err != nil || o.Err != nil {
			t.Errorf("%s: %v, %v", name, o.Err, err)
		}
	}
}

// Who publishes to a processor that has stopped is told so: nobody will take the batch.
func TestStoppedProcessorRefusesWhatComesLater(t *testing.T) {
	r := start(t, "row.value > 0")
	r.scope.Cancel(errDisk)
	r.scope.Close()
	late := sched.Scheduler{}.NewScope("late")
	defer late.Close()
	r.scope = late
	if o, decided := r.publish(nil, 1).Get(); !decided || !errors.Is(o.Err, relay.ErrRemoved) {
		t.Errorf("decided %t, %v", decided, o.Err)
	}
}

// A failure behind the processor is the attempt's: a share of it must be open until then.
func TestFailureBehindIsTheAttempts(t *testing.T) {
	r := start(t, "row.value > 0")
	done := r.send(1)
	d, err := r.after.Receive(r.scope, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.Rows.Release()
	d.Share.Fail(errDisk)
	if err := done(); !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
}

func TestRemovedConsumerFailsWhatIsHandedToIt(t *testing.T) {
	r := start(t, "row.value > 0")
	first := r.send(1)
	r.receive()
	if err := first(); err != nil {
		t.Fatal(err)
	}
	r.after.Discard(errDisk)
	// Nobody takes the batch in the place of the one who gave up.
	if err := r.send(2)(); !errors.Is(err, relay.ErrRemoved) {
		t.Errorf("got %v", err)
	}
	r.after.Remove()
	// Nobody is attached any more: nothing waits for the batch, which is acknowledged like one that nobody wants.
	if err := r.send(3)(); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestQueuedDeliveriesFailWhenTheScopeEnds(t *testing.T) {
	r := start(t, "row.value > 0")
	var done []func() error
	for v := range 8 { // four wait behind the processor, one is in its hands, the others in front of it
		done = append(done, r.send(v+1))
	}
	waiter := sched.Scheduler{}.NewScope("waiter")
	defer waiter.Close()
	r.scope.Cancel(errDisk)
	r.after.Discard(errDisk)
	r.scope.Close()
	r.scope = waiter
	for i, f := range done {
		if err := f(); !errors.Is(err, errDisk) && !errors.Is(err, relay.ErrRemoved) {
			t.Errorf("delivery %d: %v", i, err)
		}
	}
}

func TestOptionsListEveryFault(t *testing.T) {
	err := process.Options{}.Validate()
	for _, want := range []string{"name", "neither", "rejected"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if _, err := process.New(process.Options{Name: "x"}, nil, nil); err == nil || !strings.Contains(err.Error(), "processor x") {
		t.Errorf("got %v", err)
	}
}
