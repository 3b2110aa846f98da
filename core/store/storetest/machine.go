package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/models"
	"pgregory.net/rapid"
)

// machine drives a store and its model side by side.
type machine struct {
	st     store.Store
	show   func() (step.Dump, error)
	differ func(what string)
	model  *models.Step
	held   *models.Reserved
	n      int
}

// Sequences draws sequences of operations, runs each on an empty store and on its model, and compares every answer and, after
// every operation, all that is in the store. open returns the store and what shows all of it. differ is told of a difference,
// which fails the test. It returns how many sequences ran.
func Sequences(outer *testing.T, differ func(what string), open func(t *rapid.T) (store.Store, func() (step.Dump, error))) int {
	cases := 0
	rapid.Check(outer, func(t *rapid.T) {
		cases++
		m := &machine{differ: differ, model: models.NewStep()}
		m.held = models.NewReserved(m.model)
		m.st, m.show = open(t)
		t.Repeat(map[string]func(*rapid.T){
			"take": m.take, "take again": m.take, "release": m.release, "commit": m.commit, "commit again": m.commit,
			"deliver": m.deliver, "collect": m.collect, "vacate": m.vacate,
			"reserve timers": m.reserveTimers, "reserve emissions": m.reserveEmissions, "give back": m.giveBack, "": m.check,
		})
	})
	return cases
}

func owner(n int) store.Owner {
	if n == 0 {
		return store.Owner{}
	}
	return store.Owner{Replica: "a", Lane: uint32(n), Incarnation: 1}
}

func at(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return noon.Add(time.Duration(n) * time.Second)
}

func (m *machine) same(t *rapid.T, what string, got, want any) {
	if !reflect.DeepEqual(got, want) {
		m.differ(what)
		t.Fatalf("%s:\n got   %+v\n model %+v", what, got, want)
	}
}

func drawID(t *rapid.T) string { return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "instance") }

func (m *machine) take(t *rapid.T) {
	id, me := drawID(t), rapid.IntRange(1, 2).Draw(t, "me")
	row := m.model.Row(id)
	_, _, err := m.st.Take(nil, store.InstanceID(id), store.Epoch(row.Epoch), owner(me))
	m.same(t, "take succeeds", err == nil, row.Take(row.Epoch, me) == models.ClaimDone)
}

func (m *machine) release(t *rapid.T) {
	id := drawID(t)
	row := m.model.Row(id)
	c := store.Claim{Instance: store.InstanceID(id), Owner: owner(row.Owner), Epoch: store.Epoch(row.Epoch)}
	freed, _, err := m.st.Release(nil, c)
	m.same(t, "release error", err, nil)
	m.same(t, "release", freed, row.Release(row.Owner, row.Epoch))
}

// commit draws a transaction that holds the claim more often than not.
func (m *machine) commit(t *rapid.T) {
	m.n++
	id := drawID(t)
	row := m.model.Row(id)
	in := models.StepInput{Snapshot: fmt.Sprint(m.n), Ends: rapid.IntRange(0, 7).Draw(t, "ends") == 0}
	in.Cause, in.Instance = fmt.Sprintf("cause%d", m.n), id
	in.Owner = cmp.Or(row.Owner, rapid.IntRange(1, 2).Draw(t, "owner"))
	in.Epoch = row.Epoch + uint64(rapid.SampledFrom([]int{0, 0, 0, 0, 1}).Draw(t, "epoch"))
	in.Spawn = row.Status == models.ClaimAbsent || row.Status == models.ClaimVoid || rapid.IntRange(0, 9).Draw(t, "spawn") == 0
	if in.Spawn || rapid.Bool().Draw(t, "inbox") {
		in.Delivery = fmt.Sprint(rapid.SampledFrom([]int{m.n, m.n, m.n, 1, 2}).Draw(t, "delivery"))
	}
	if !in.Spawn {
		m.drawCloses(t, row, &in)
	}
	if !in.Ends {
		drawOpens(t, row, &in)
	}
	in.Outbox = rapid.SliceOfN(rapid.StringMatching("[a-z]{1,3}"), 0, 2).Draw(t, "outbox")
	if records := m.recordsOf(in.Owner); len(records) > 0 && rapid.Bool().Draw(t, "forget") {
		in.Forget = records[:1]
	}
	_, err := m.st.Commit(nil, transaction(in))
	m.same(t, "commit", answerOf(t, err), m.model.Commit(in))
}

func (m *machine) drawCloses(t *rapid.T, row *models.StepRow, in *models.StepInput) {
	for _, w := range row.Waits {
		if rapid.Bool().Draw(t, "close") {
			in.Close = append(in.Close, w.Generation)
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "close one that is not open") == 0 {
		in.Close = append(in.Close, row.Generation+1)
	}
}

func drawOpens(t *rapid.T, row *models.StepRow, in *models.StepInput) {
	generation := row.Generation
	if in.Spawn {
		generation = 0
	}
	if rapid.IntRange(0, 9).Draw(t, "reuse a generation") == 0 && generation > 0 {
		generation--
	}
	for range rapid.IntRange(0, 2).Draw(t, "opens") {
		generation += uint64(rapid.IntRange(1, 2).Draw(t, "skip"))
		in.Open = append(in.Open, models.StepWait{
			Generation: generation,
			Key:        rapid.SampledFrom([]string{"", "k1", "k2", "k3"}).Draw(t, "key"),
			Due:        rapid.Int64Range(0, 2).Draw(t, "due"),
		})
	}
}

func (m *machine) recordsOf(owner int) (out []models.StepRecord) {
	for r := range m.model.Records { //order:sorted below
		if r.Owner == owner {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b models.StepRecord) int { return cmp.Compare(a.Cause, b.Cause) })
	return out
}

func record(r models.StepRecord) store.Record {
	return store.Record{Cause: r.Cause, Claim: store.Claim{
		Instance: store.InstanceID(r.Instance), Owner: owner(r.Owner), Epoch: store.Epoch(r.Epoch),
	}}
}

func transaction(in models.StepInput) *store.Step {
	r := record(in.StepRecord)
	st := &store.Step{
		Cause: r.Cause, Claim: r.Claim, Spawn: in.Spawn, Status: store.Running,
		Snapshot: []byte(in.Snapshot), Close: in.Close,
	}
	if in.Ends {
		st.Status = store.Completed
	}
	if in.Delivery != "" {
		st.Inbox = &store.Receipt{Delivery: store.Delivery{Channel: "c", ID: in.Delivery}}
	}
	for _, w := range in.Open {
		open := store.Wait{Generation: w.Generation, Key: w.Key, Due: at(w.Due)}
		if w.Key != "" {
			open.Channel = "c"
		}
		st.Open = append(st.Open, open)
	}
	for _, payload := range in.Outbox {
		st.Outbox = append(st.Outbox, store.Emission{Target: "r", Payload: []byte(payload)})
	}
	for _, f := range in.Forget {
		st.Forget = append(st.Forget, record(f))
	}
	return st
}

func answerOf(t *rapid.T, err error) models.StepAnswer {
	for _, c := range []struct {
		err    error
		answer models.StepAnswer
	}{
		{store.ErrFenced, models.StepFenced},
		{store.ErrDuplicate, models.StepDuplicate},
		{store.ErrConflict, models.StepConflict},
		{store.ErrAlias, models.StepAlias},
	} {
		if errors.Is(err, c.err) {
			return c.answer
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return models.StepDone
}

func (m *machine) deliver(t *rapid.T) {
	id, n := drawID(t), rapid.IntRange(1, 2).Draw(t, "n")
	var sent []store.Emission
	for _, e := range m.model.Row(id).Emissions[:min(n, len(m.model.Row(id).Emissions))] {
		sent = append(sent, store.Emission{Instance: store.InstanceID(id), Sequence: e.Sequence})
	}
	_, err := m.st.Delivered(nil, sent)
	m.same(t, "delivered error", err, nil)
	m.model.Deliver(id, n)
}

func (m *machine) collect(t *rapid.T) {
	id := drawID(t)
	_, err := m.st.Collect(nil, store.InstanceID(id))
	m.same(t, "collect", err == nil, m.model.Collect(id))
}

// vacate names a delivery that the inbox remembers, or one that it does not.
func (m *machine) vacate(t *rapid.T) {
	id, delivery := drawID(t), rapid.SampledFrom([]string{"forgotten", "forgotten", "1", "2"}).Draw(t, "delivery")
	epoch, _, err := m.st.Vacate(nil, store.InstanceID(id), store.Delivery{Channel: "c", ID: delivery})
	m.same(t, "vacate", err == nil, m.model.Vacate(id, delivery))
	if err == nil {
		m.same(t, "vacated at", uint64(epoch), m.model.Row(id).Epoch)
	}
}
