package storetest

import (
	"errors"
	"time"

	"github.com/millrace-dev/millrace/core/store"
)

func commitWritesAll(f *fixture) {
	f.spawn("i", store.Wait{Generation: 1, Channel: "c", Key: "old", Due: noon})
	st := f.step("i")
	delivery := store.Delivery{Channel: "c", ID: "m1"}
	st.Snapshot, st.Close = []byte("s1"), []uint64{1}
	st.Open = []store.Wait{{Generation: 2, Element: "e", Channel: "c", Key: "new", Due: noon.Add(time.Hour), Data: []byte("d")}}
	st.Inbox = &store.Receipt{Delivery: delivery, Reply: []byte("ok")}
	st.Outbox = []store.Emission{{Target: "r", Payload: []byte("p")}}
	st.Rows = []store.Row{{Space: "s", Key: "k", Value: []byte("v")}}
	f.commit(st)

	f.same(f.head("i").Claim, store.Claim{Instance: "i", Epoch: 3})
	_, t, err := f.st.Resolve(f.scope, "c", "old")
	f.is(err, store.ErrNotFound)
	f.durable(t)
	a, _, err := f.st.Resolve(f.scope, "c", "new")
	f.ok(err)
	f.same(a, store.Alias{Channel: "c", Key: "new", Instance: "i", Generation: 2})
	r, t, err := f.st.Receipt(f.scope, delivery)
	f.ok(err)
	f.durable(t)
	f.same(r, store.Receipt{Delivery: delivery, Cause: st.Cause, Instance: "i", Reply: []byte("ok")})
	row, _, err := f.st.Row(f.scope, "s", "k")
	f.ok(err)
	f.same(row, store.Row{Space: "s", Key: "k", Value: []byte("v")})
	f.same(f.timers(noon.Add(2*time.Hour)), []store.Timer{{Due: noon.Add(time.Hour), Instance: "i", Generation: 2}})
	f.same(f.emissions(), []store.Emission{{Instance: "i", Sequence: 1, Target: "r", Payload: []byte("p")}})
	recorded, _, err := f.st.Recorded(f.scope, st.Record())
	f.ok(err)
	f.same(recorded, true)
	in := f.load(f.take("i"))
	f.same(string(in.Snapshot), "s1")
	f.same(in.Waits, st.Open)
	f.same([]uint64{in.Generation, in.Emitted}, []uint64{2, 1})
	f.same(in.Flow, "order") // pinned by the spawn
}

// everything is a step that would leave a trace in every table.
func (f *fixture) everything(id store.InstanceID) *store.Step {
	st := f.step(id)
	st.Snapshot = []byte("refused")
	st.Open = []store.Wait{{Generation: 90, Channel: "c", Key: "refused", Due: noon}}
	st.Inbox = &store.Receipt{Delivery: store.Delivery{Channel: "c", ID: "refused"}}
	st.Outbox = []store.Emission{{Target: "refused"}}
	st.Rows = []store.Row{{Space: "s", Key: "refused"}}
	return st
}

// untouched asserts that the refused step left nothing.
func (f *fixture) untouched(st *store.Step) {
	f.Helper()
	_, _, err := f.st.Resolve(f.scope, "c", "refused")
	f.is(err, store.ErrNotFound)
	_, _, err = f.st.Receipt(f.scope, store.Delivery{Channel: "c", ID: "refused"})
	f.is(err, store.ErrNotFound)
	_, _, err = f.st.Row(f.scope, "s", "refused")
	f.is(err, store.ErrNotFound)
	recorded, _, err := f.st.Recorded(f.scope, st.Record())
	f.ok(err)
	f.same(recorded, false)
	f.same(len(f.timers(noon))+len(f.emissions()), 0)
}

func commitFenced(f *fixture) {
	f.spawn("i")
	st := f.everything("i")
	_, _, err := f.st.Release(f.scope, st.Claim)
	f.ok(err)
	now := f.take("i")
	_, err = f.st.Commit(f.scope, st)
	f.is(err, store.ErrFenced)
	f.untouched(st)
	f.same(string(f.load(now).Snapshot), "s0")

	// Each half of the claim alone is not enough.
	for _, c := range []store.Claim{{Instance: "i", Owner: other, Epoch: now.Epoch}, {Instance: "i", Owner: me, Epoch: now.Epoch + 1}} {
		st.Claim = c
		_, err = f.st.Commit(f.scope, st)
		f.is(err, store.ErrFenced)
	}
	f.same(f.head("i").Claim, now)
}

func duplicateWritesNothing(f *fixture) {
	f.spawn("i")
	st := f.step("i")
	st.Inbox = &store.Receipt{Delivery: store.Delivery{Channel: "c", ID: "m"}}
	f.commit(st)
	again := f.everything("i")
	again.Inbox = st.Inbox
	_, err := f.st.Commit(f.scope, again)
	f.is(err, store.ErrDuplicate)
	f.untouched(again)
	f.same(f.head("i").Claim, again.Claim) // the claim is still held: the lane frees it

	f.spawn("j") // the same id on another channel is another delivery
	elsewhere := f.step("j")
	elsewhere.Inbox = &store.Receipt{Delivery: store.Delivery{Channel: "d", ID: "m"}}
	f.commit(elsewhere)
}

func aliasRefused(f *fixture) {
	f.spawn("i", store.Wait{Generation: 1, Channel: "c", Key: "k"})
	f.spawn("j")
	st := f.everything("j")
	st.Open = []store.Wait{{Generation: 1, Channel: "c", Key: "k"}}
	_, err := f.st.Commit(f.scope, st)
	f.is(err, store.ErrAlias)
	f.untouched(st)
	st.Open = []store.Wait{{Generation: 1, Channel: "d", Key: "k"}, {Generation: 2, Channel: "d", Key: "k"}}
	_, err = f.st.Commit(f.scope, st)
	f.is(err, store.ErrAlias)
	st.Open = []store.Wait{{Generation: 1, Channel: "d", Key: "k"}} // same key, other channel
	f.commit(st)
	a, _, err := f.st.Resolve(f.scope, "c", "k")
	f.ok(err)
	f.same(a.Instance, store.InstanceID("i"))
}

func aliasMoves(f *fixture) {
	f.spawn("i", store.Wait{Generation: 1, Channel: "c", Key: "k"})
	st := f.step("i")
	st.Close, st.Open = []uint64{1}, []store.Wait{{Generation: 2, Channel: "c", Key: "k"}}
	f.commit(st)
	a, _, err := f.st.Resolve(f.scope, "c", "k")
	f.ok(err)
	f.same(a.Generation, uint64(2))
}

func closeNotOpen(f *fixture) {
	f.spawn("i", store.Wait{Generation: 1})
	st := f.everything("i")
	st.Close = []uint64{2}
	_, err := f.st.Commit(f.scope, st)
	f.is(err, store.ErrConflict)
	f.untouched(st)
}

func generationNotReused(f *fixture) {
	f.spawn("i", store.Wait{Generation: 5})
	st := f.step("i")
	st.Close = []uint64{5}
	f.commit(st)
	for _, g := range []uint64{1, 5} {
		st = f.step("i")
		st.Open = []store.Wait{{Generation: g}}
		_, err := f.st.Commit(f.scope, st)
		f.is(err, store.ErrConflict)
		_, _, err = f.st.Release(f.scope, st.Claim)
		f.ok(err)
	}
}

func terminalCloses(f *fixture) {
	f.spawn("i", store.Wait{Generation: 1, Channel: "c", Key: "k"}, store.Wait{Generation: 2, Due: noon})
	st := f.step("i")
	st.Status = store.Failed
	f.commit(st)
	_, _, err := f.st.Resolve(f.scope, "c", "k")
	f.is(err, store.ErrNotFound)
	f.same(len(f.timers(noon)), 0)
	f.spawn("j", store.Wait{Generation: 1, Channel: "c", Key: "k"}) // the key is free again
}

func recordsOutlive(f *fixture) {
	f.spawn("i")
	first := f.step("i")
	f.commit(first)
	last := f.step("i")
	last.Status = store.Completed
	f.commit(last)
	_, err := f.st.Collect(f.scope, "i")
	f.ok(err)
	f.same(f.head("i").Status, store.Absent)
	want := func(r store.Record, want bool) {
		f.Helper()
		got, _, err := f.st.Recorded(f.scope, r)
		f.ok(err)
		f.same(got, want)
	}
	want(first.Record(), true)
	want(last.Record(), true)
	for _, change := range []func(*store.Record){
		func(r *store.Record) { r.Cause += "x" },
		func(r *store.Record) { r.Instance = "j" },
		func(r *store.Record) { r.Owner = other },
		func(r *store.Record) { r.Epoch++ },
	} {
		r := last.Record()
		change(&r)
		want(r, false)
	}
	f.spawn("j")
	st := f.step("j")
	st.Forget = []store.Record{first.Record()}
	f.commit(st)
	want(first.Record(), false)
	want(last.Record(), true)
}

func collectTerminal(f *fixture) {
	f.spawn("i")
	_, err := f.st.Collect(f.scope, "i")
	f.is(err, store.ErrConflict)
	_, err = f.st.Collect(f.scope, "absent")
	f.is(err, store.ErrConflict)
	st := f.step("i")
	st.Status = store.Completed
	st.Outbox = []store.Emission{{Target: "r"}}
	f.commit(st)
	_, err = f.st.Collect(f.scope, "i") // its emission has not left
	f.is(err, store.ErrConflict)
	_, err = f.st.Delivered(f.scope, f.emissions())
	f.ok(err)
	_, err = f.st.Collect(f.scope, "i")
	f.ok(err)
	f.same(f.head("i"), store.Head{Claim: store.Claim{Instance: "i"}})
}

func vacateForgotten(f *fixture) {
	f.spawn("i")
	forgotten := store.Delivery{Channel: "c", ID: "forgotten"}
	_, _, err := f.st.Vacate(f.scope, "i", forgotten) // it runs
	f.is(err, store.ErrConflict)
	_, _, err = f.st.Vacate(f.scope, "absent", forgotten)
	f.is(err, store.ErrConflict)
	st := f.step("i")
	st.Status = store.Completed
	st.Outbox = []store.Emission{{Target: "r"}}
	st.Inbox = &store.Receipt{Delivery: store.Delivery{Channel: "c", ID: "remembered"}}
	f.commit(st)
	before := f.head("i").Epoch
	_, _, err = f.st.Vacate(f.scope, "i", st.Inbox.Delivery)
	f.is(err, store.ErrConflict)
	epoch, _, err := f.st.Vacate(f.scope, "i", forgotten)
	f.ok(err)
	f.same(epoch, before+1)
	f.same(f.head("i"), store.Head{Claim: store.Claim{Instance: "i", Epoch: epoch}, Status: store.Void})
	_, _, err = f.st.PinOf(f.scope, "i")
	f.is(err, store.ErrNotFound)
	again := f.spawning("i")
	again.Outbox = []store.Emission{{Target: "r"}}
	f.commit(again)
	f.same(len(f.emissions()), 2) // the numbers go on, so the one of the old life is not overwritten
}

func badArguments(f *fixture) {
	f.spawn("i")
	for _, c := range []struct {
		field string
		spoil func(*store.Step)
	}{
		{"cause", func(s *store.Step) { s.Cause = "" }},
		{"instance", func(s *store.Step) { s.Claim.Instance = store.InstanceID(make([]byte, store.MaxName+1)) }},
		{"claim", func(s *store.Step) { s.Claim.Owner = store.Owner{} }},
		{"status", func(s *store.Step) { s.Status = store.Void }},
		{"snapshot", func(s *store.Step) { s.Snapshot = make([]byte, store.MaxValue+1) }},
		{"open[1]", func(s *store.Step) { s.Open = []store.Wait{{Generation: 2}, {Generation: 2}} }},
		{"open[0]", func(s *store.Step) { s.Open = []store.Wait{{Generation: 1, Key: "k"}} }},
		{"open[0].due", func(s *store.Step) { s.Open = []store.Wait{{Generation: 1, Due: noon.AddDate(500, 0, 0)}} }},
		{"close[1]", func(s *store.Step) { s.Close = []uint64{1, 1} }},
		{"inbox.id", func(s *store.Step) { s.Inbox = &store.Receipt{Delivery: store.Delivery{Channel: "c"}} }},
		{"inbox", func(s *store.Step) { s.Spawn = true }},
		{"outbox[0]", func(s *store.Step) { s.Outbox = []store.Emission{{Target: "r", Sequence: 1}} }},
		{"forget[0]", func(s *store.Step) { s.Forget = []store.Record{{Cause: "x", Claim: store.Claim{Owner: other}}} }},
		{"rows[0]", func(s *store.Step) { s.Rows = []store.Row{{Space: store.InboxSpace, Key: "k"}} }},
	} {
		st := &store.Step{Cause: "bad", Claim: store.Claim{Instance: "i", Owner: me, Epoch: 9}, Status: store.Running}
		c.spoil(st)
		_, err := f.st.Commit(f.scope, st)
		f.is(err, store.ErrInvalid)
		if !contains(err, c.field) {
			f.Errorf("error %q does not name %s", err, c.field)
		}
	}
	for _, limit := range []int{0, -1, store.MaxScan + 1} {
		_, _, err := f.st.Rows(f.scope, "s", "", limit)
		f.is(err, store.ErrInvalid)
	}
	_, _, err := f.st.Head(f.scope, "")
	f.is(err, store.ErrInvalid)
	_, _, err = f.st.Take(f.scope, "i", 1, store.Owner{})
	f.is(err, store.ErrInvalid)
}

func closedRefuses(f *fixture) {
	f.spawn("i")
	h := f.head("i")
	f.ok(f.st.Close())
	_, _, err := f.st.Head(f.scope, "i")
	f.is(err, store.ErrClosed)
	_, _, err = f.st.Take(f.scope, "i", h.Epoch, me)
	f.is(err, store.ErrClosed)
	f.is(f.st.WaitDurable(f.scope, 1), store.ErrClosed)
}

func endedScopeRefuses(f *fixture) {
	f.spawn("i")
	cause := errors.New("over")
	ended := f.scope.Child("ended")
	defer ended.Close()
	ended.Cancel(cause)
	_, _, err := f.st.Take(ended, "i", 1, me)
	f.is(err, cause)
	_, err = f.st.Write(ended, []store.Row{{Space: "s", Key: "k"}})
	f.is(err, cause)
	f.same(f.head("i").Epoch, store.Epoch(1))
}
