package storetest

import (
	"strings"
	"time"

	"github.com/millrace-dev/millrace/core/store"
)

func contains(err error, text string) bool { return strings.Contains(err.Error(), text) }

func (f *fixture) timers(until time.Time) []store.Timer {
	f.Helper()
	timers, t, err := f.st.Timers(f.scope, store.Timer{}, until, 100)
	f.ok(err)
	f.durable(t)
	return timers
}

func (f *fixture) emissions() []store.Emission {
	f.Helper()
	out, t, err := f.st.Emissions(f.scope, store.Emission{}, 100)
	f.ok(err)
	f.durable(t)
	return out
}

func timersByDue(f *fixture) {
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	early := time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC) // before 1970
	f.spawn("b", store.Wait{Generation: 1, Due: at(2)}, store.Wait{Generation: 2, Due: at(1)}, store.Wait{Generation: 3})
	f.spawn("a", store.Wait{Generation: 1, Due: at(1)}, store.Wait{Generation: 2, Due: early})
	want := []store.Timer{
		{Due: early, Instance: "a", Generation: 2},
		{Due: at(1), Instance: "a", Generation: 1},
		{Due: at(1), Instance: "b", Generation: 2},
		{Due: at(2), Instance: "b", Generation: 1},
	}
	f.same(f.timers(at(2)), want)
	f.same(f.timers(at(1)), want[:3])
	rest, _, err := f.st.Timers(f.scope, want[1], at(2), 1)
	f.ok(err)
	f.same(rest, want[2:3])
	st := f.step("b")
	st.Close = []uint64{2}
	f.commit(st)
	f.same(f.timers(at(2)), []store.Timer{want[0], want[1], want[3]})
}

func emissionsInOrder(f *fixture) {
	f.spawn("b")
	f.spawn("a")
	emit := func(id store.InstanceID, targets ...string) {
		st := f.step(id)
		for _, target := range targets {
			st.Outbox = append(st.Outbox, store.Emission{Target: target})
		}
		f.commit(st)
	}
	emit("b", "r1", "r2")
	emit("a", "r3")
	emit("b", "r4")
	want := []store.Emission{
		{Instance: "a", Sequence: 1, Target: "r3"},
		{Instance: "b", Sequence: 1, Target: "r1"},
		{Instance: "b", Sequence: 2, Target: "r2"},
		{Instance: "b", Sequence: 3, Target: "r4"},
	}
	f.same(f.emissions(), want)
	rest, _, err := f.st.Emissions(f.scope, want[1], 1)
	f.ok(err)
	f.same(rest, want[2:3])
	for range 2 { // removing what is gone does not matter
		_, err = f.st.Delivered(f.scope, want[:2])
		f.ok(err)
	}
	emit("b", "r5")
	f.same(f.emissions(), append(want[2:4:4], store.Emission{Instance: "b", Sequence: 4, Target: "r5"}))
}

func rowsWritten(f *fixture) {
	write := func(rows ...store.Row) {
		f.Helper()
		_, err := f.st.Write(f.scope, rows)
		f.ok(err)
	}
	write(store.Row{Space: "s", Key: "b", Value: []byte("1")}, store.Row{Space: "s", Key: "a"}, store.Row{Space: "t", Key: "c"})
	write(store.Row{Space: "s", Key: "b", Value: []byte("2")}, store.Row{Space: "s", Key: "d"}, store.Row{Space: "s", Key: "d", Delete: true})
	rows, t, err := f.st.Rows(f.scope, "s", "", 10)
	f.ok(err)
	f.durable(t)
	f.same(rows, []store.Row{{Space: "s", Key: "a"}, {Space: "s", Key: "b", Value: []byte("2")}})
	rows, _, err = f.st.Rows(f.scope, "s", "a", 1)
	f.ok(err)
	f.same(rows, []store.Row{{Space: "s", Key: "b", Value: []byte("2")}})
	_, t, err = f.st.Row(f.scope, "s", "c")
	f.is(err, store.ErrNotFound)
	f.durable(t)
	f.durable(f.st.Visible())
}

// A write rests on the value of a row, or on its absence; so does a step.
func rowsExpected(f *fixture) {
	writeIf := func(expect store.Row, value string) error {
		_, err := f.st.WriteIf(f.scope, expect, []store.Row{{Space: "s", Key: "k", Value: []byte(value)}, {Space: "s", Key: "also", Value: []byte(value)}})
		return err
	}
	absent := store.Row{Space: "s", Key: "k", Delete: true}
	is := func(value string) store.Row { return store.Row{Space: "s", Key: "k", Value: []byte(value)} }
	f.is(writeIf(is("1"), "0"), store.ErrSuperseded)
	f.ok(writeIf(absent, "1"))
	f.is(writeIf(absent, "2"), store.ErrSuperseded)
	f.is(writeIf(is("0"), "2"), store.ErrSuperseded)
	f.ok(writeIf(is("1"), "2"))
	rows, _, err := f.st.Rows(f.scope, "s", "", 10)
	f.ok(err)
	f.same(rows, []store.Row{{Space: "s", Key: "also", Value: []byte("2")}, is("2")})
	f.is(writeIf(store.Row{Space: "s"}, "3"), store.ErrInvalid)

	st := f.spawning("x")
	old := is("1")
	st.Expect = &old
	_, err = f.st.Commit(f.scope, st)
	f.is(err, store.ErrSuperseded)
	now := is("2")
	st = f.spawning("x")
	st.Expect = &now
	_, err = f.st.Commit(f.scope, st)
	f.ok(err)
}

// Who is pinned to what can be listed while it runs, and asked of who has ended.
func pinsListed(f *fixture) {
	for _, id := range []store.InstanceID{"a", "b", "c"} {
		st := f.spawning(id)
		st.Deployment = "d-" + string(id)
		if id == "b" {
			st.Status = store.Completed
		}
		_, err := f.st.Commit(f.scope, st)
		f.ok(err)
	}
	pin := func(id string) store.Pin {
		return store.Pin{Instance: store.InstanceID(id), Deployment: "d-" + id, Flow: "order"}
	}
	pins, t, err := f.st.Pins(f.scope, "", 10)
	f.ok(err)
	f.durable(t)
	f.same(pins, []store.Pin{pin("a"), pin("c")})
	pins, _, err = f.st.Pins(f.scope, "a", 1)
	f.ok(err)
	f.same(pins, []store.Pin{pin("c")})
	one, _, err := f.st.PinOf(f.scope, "b")
	f.ok(err)
	f.same(one, pin("b"))
	_, _, err = f.st.PinOf(f.scope, "nobody")
	f.is(err, store.ErrNotFound)
	_, _, err = f.st.Pins(f.scope, "", 0)
	f.is(err, store.ErrInvalid)
}

func rowsExpire(f *fixture) {
	_, err := f.st.Write(f.scope, []store.Row{
		{Space: "s", Key: "a", Expires: noon},
		{Space: "s", Key: "b", Expires: noon.Add(time.Second)},
		{Space: "s", Key: "c"},
		{Space: "s", Key: "renewed", Expires: noon},
		{Space: "s", Key: "deleted", Expires: noon},
		{Space: "t", Key: "a", Expires: noon},
	})
	f.ok(err)
	_, err = f.st.Write(f.scope, []store.Row{
		{Space: "s", Key: "renewed", Expires: noon.Add(time.Hour)},
		{Space: "s", Key: "deleted", Delete: true},
	})
	f.ok(err)
	n, _, err := f.st.Expire(f.scope, "s", noon.Add(-1), 10)
	f.ok(err)
	f.same(n, 0)
	// An engine may keep an entry for each time that a row was written with an expiry, so only the first and the last are certain.
	for rounds := 0; rounds == 0 || n > 0; rounds++ {
		n, _, err = f.st.Expire(f.scope, "s", noon, 1)
		f.ok(err)
		if n > 1 || rounds == 0 && n != 1 || rounds > 3 {
			f.Fatalf("round %d took %d entries, limit 1", rounds, n)
		}
	}
	rows, _, err := f.st.Rows(f.scope, "s", "", 10)
	f.ok(err)
	var keys []string
	for _, r := range rows {
		keys = append(keys, r.Key)
	}
	f.same(keys, []string{"b", "c", "renewed"})
	_, _, err = f.st.Row(f.scope, "t", "a")
	f.ok(err)
}

func receiptsExpire(f *fixture) {
	f.spawn("i")
	st := f.step("i")
	st.Inbox = &store.Receipt{Delivery: store.Delivery{Channel: "c", ID: "m"}, Expires: noon}
	f.commit(st)
	r, _, err := f.st.Receipt(f.scope, st.Inbox.Delivery)
	f.ok(err)
	f.same(r.Expires, noon)
	n, _, err := f.st.Expire(f.scope, store.InboxSpace, noon, 10)
	f.ok(err)
	f.same(n, 1)
	_, _, err = f.st.Receipt(f.scope, st.Inbox.Delivery)
	f.is(err, store.ErrNotFound)
}

// anyText: names are data of users, whatever bytes they hold, and none may be taken for another.
func anyText(f *fixture) {
	names := []string{"a", "a\x00", "a\x00\x01", "a\x00\x01b", "\x00", "\x00\xff", "\xff\xff", "ü/\n", "a\x01"}
	for i, name := range names {
		f.spawn(store.InstanceID(name), store.Wait{Generation: 1, Channel: "c", Key: name})
		_, err := f.st.Write(f.scope, []store.Row{{Space: "s" + name, Key: name, Value: []byte{byte(i)}}})
		f.ok(err)
	}
	for i, name := range names {
		a, _, err := f.st.Resolve(f.scope, "c", name)
		f.ok(err)
		f.same(a.Instance, store.InstanceID(name))
		rows, _, err := f.st.Rows(f.scope, "s"+name, "", 10)
		f.ok(err)
		f.same(len(rows), 1)
		f.same(rows[0].Key, name)
		f.same(rows[0].Value, []byte{byte(i)})
	}
}
