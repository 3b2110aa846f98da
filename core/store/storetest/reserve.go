package storetest

import (
	"time"

	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/models"
	"pgregory.net/rapid"
)

// What one replica has reserved no other gets, until it is given back or gone; what is later than asked for is not reserved.
func timersReserved(f *fixture) {
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	f.spawn("a", store.Wait{Generation: 1, Due: at(1)}, store.Wait{Generation: 2, Due: at(2)})
	f.spawn("b", store.Wait{Generation: 1, Due: at(1)}, store.Wait{Generation: 2, Due: at(9)})
	a1, a2 := store.Timer{Due: at(1), Instance: "a", Generation: 1}, store.Timer{Due: at(2), Instance: "a", Generation: 2}
	b1, b2 := store.Timer{Due: at(1), Instance: "b", Generation: 1}, store.Timer{Due: at(9), Instance: "b", Generation: 2}
	reserve := func(by string, after store.Timer, until time.Time, limit int) []store.Timer {
		f.Helper()
		timers, t, err := f.st.ReserveTimers(f.scope, by, after, until, time.Hour, limit)
		f.ok(err)
		f.durable(t)
		return timers
	}
	f.same(reserve("one", store.Timer{}, at(5), 1), []store.Timer{a1})
	f.same(reserve("two", store.Timer{}, at(5), 10), []store.Timer{b1, a2})
	f.same(reserve("one", store.Timer{}, at(5), 10), []store.Timer{a1})
	f.same(reserve("two", b1, at(5), 10), []store.Timer{a2})
	f.same(f.timers(at(9)), []store.Timer{a1, b1, a2, b2}) // whoever only looks sees all
	f.same(reserve("one", store.Timer{}, at(9), 10), []store.Timer{a1, b2})

	st := f.step("a")
	st.Close = []uint64{1}
	st.Open = []store.Wait{{Generation: 3, Due: at(1)}}
	f.commit(st)
	f.same(reserve("two", store.Timer{}, at(1), 10), []store.Timer{{Due: at(1), Instance: "a", Generation: 3}, b1})
	_, _, err := f.st.ReserveTimers(f.scope, "", store.Timer{}, at(1), time.Hour, 1)
	f.is(err, store.ErrInvalid)
	_, _, err = f.st.ReserveTimers(f.scope, "one", store.Timer{}, at(1), 0, 1)
	f.is(err, store.ErrInvalid)
	_, _, err = f.st.ReserveTimers(f.scope, "one", store.Timer{}, at(1), time.Hour, 0)
	f.is(err, store.ErrInvalid)
}

// An instance's emissions are with one replica, from the first one on; whoever has sent it leaves those behind to anybody.
func emissionsReserved(f *fixture) {
	for _, id := range []store.InstanceID{"a", "b", "c"} {
		f.spawn(id)
		st := f.step(id)
		st.Outbox = []store.Emission{{Target: "r"}, {Target: "r"}}
		f.commit(st)
	}
	row := func(id store.InstanceID, sequence uint64) store.Emission {
		return store.Emission{Instance: id, Sequence: sequence, Target: "r"}
	}
	reserve := func(by string, after store.InstanceID, limit int) []store.Emission {
		f.Helper()
		rows, t, err := f.st.ReserveEmissions(f.scope, by, after, time.Hour, limit)
		f.ok(err)
		f.durable(t)
		return rows
	}
	f.same(reserve("one", "", 1), []store.Emission{row("a", 1)})
	st := f.step("a")
	st.Outbox = []store.Emission{{Target: "r"}}
	f.commit(st)
	f.same(reserve("two", "b", 10), []store.Emission{row("c", 1), row("c", 2)})
	f.same(reserve("one", "", 10), []store.Emission{row("a", 1), row("a", 2), row("a", 3), row("b", 1), row("b", 2)})
	f.same(reserve("two", "", 10), []store.Emission{row("c", 1), row("c", 2)})
	f.same(len(f.emissions()), 7)
	_, err := f.st.Delivered(f.scope, []store.Emission{row("a", 1), row("a", 2)})
	f.ok(err)
	f.same(reserve("two", "", 10), []store.Emission{row("a", 3), row("c", 1), row("c", 2)})
	f.same(reserve("one", "", 10), []store.Emission{row("b", 1), row("b", 2)})
	_, _, err = f.st.ReserveEmissions(f.scope, "", "", time.Hour, 1)
	f.is(err, store.ErrInvalid)
}

// What a replica gives back, and what it has had for its time, is anybody's.
func reservationsEnd(f *fixture) {
	past := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC) // due by any clock
	f.spawn("a", store.Wait{Generation: 1, Due: past})
	st := f.step("a")
	st.Outbox = []store.Emission{{Target: "r"}}
	f.commit(st)
	both := func(by string, hold time.Duration) (timers, rows int) {
		f.Helper()
		due, _, err := f.st.ReserveTimers(f.scope, by, store.Timer{}, past, hold, 10)
		f.ok(err)
		out, _, err := f.st.ReserveEmissions(f.scope, by, "", hold, 10)
		f.ok(err)
		return len(due), len(out)
	}
	want := func(by string, hold time.Duration, n int) {
		f.Helper()
		if timers, rows := both(by, hold); timers != n || rows != n {
			f.Fatalf("%s got %d timers and %d emissions, want %d", by, timers, rows, n)
		}
	}
	want("one", time.Hour, 1)
	want("two", time.Hour, 0)
	f.ok(f.st.GiveBack(f.scope, "two"))
	want("two", time.Hour, 0)
	f.ok(f.st.GiveBack(f.scope, "one"))
	want("two", time.Nanosecond, 1)
	want("one", time.Hour, 1)
	want("two", time.Hour, 0)
	_, _, err := f.st.Reserve(f.scope, "s", "z", time.Hour, 0)
	f.is(err, store.ErrInvalid)
}

// Rows of a space are reserved up to a key, that one included.
func rowsReserved(f *fixture) {
	var rows []store.Row
	for _, key := range []string{"a", "b", "c"} {
		rows = append(rows, store.Row{Space: "s", Key: key, Value: []byte(key)})
	}
	_, err := f.st.Write(f.scope, append(rows, store.Row{Space: "r", Key: "a"}, store.Row{Space: "t", Key: "a"}))
	f.ok(err)
	reserve := func(until string, limit int) []store.Row {
		f.Helper()
		got, _, err := f.st.Reserve(f.scope, "s", until, time.Nanosecond, limit) // which is over at once
		f.ok(err)
		return got
	}
	f.same(reserve("b", 10), rows[:2])
	f.same(reserve("bb", 10), rows[:2])
	f.same(reserve("z", 10), rows)
	f.same(reserve("z", 1), rows[:1])
	f.same(len(reserve("A", 10)), 0)
}

// replicas reserve for as long as a sequence takes.
var replicas = []string{"", "one", "two"}

func (m *machine) reserveTimers(t *rapid.T) {
	by, until, limit := rapid.IntRange(1, 2).Draw(t, "by"), rapid.Int64Range(1, 2).Draw(t, "until"), rapid.IntRange(1, 3).Draw(t, "limit")
	got, _, err := m.st.ReserveTimers(nil, replicas[by], store.Timer{}, at(until), time.Hour, limit)
	m.same(t, "reserve timers error", err, nil)
	var timers []models.StepTimer
	for _, x := range got {
		timers = append(timers, models.StepTimer{Due: int64(x.Due.Sub(noon).Seconds()), Instance: string(x.Instance), Generation: x.Generation})
	}
	m.same(t, "reserved timers", timers, m.held.Timers(by, until, limit))
}

func (m *machine) reserveEmissions(t *rapid.T) {
	by, after := rapid.IntRange(1, 2).Draw(t, "by"), rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "after")
	got, _, err := m.st.ReserveEmissions(nil, replicas[by], store.InstanceID(after), time.Hour, store.MaxScan)
	m.same(t, "reserve emissions error", err, nil)
	var rows []models.StepHead
	for _, x := range got {
		rows = append(rows, models.StepHead{Instance: string(x.Instance), Sequence: x.Sequence})
	}
	m.same(t, "reserved emissions", rows, m.held.Emissions(by, after))
}

func (m *machine) giveBack(t *rapid.T) {
	by := rapid.IntRange(1, 2).Draw(t, "by")
	m.same(t, "give back error", m.st.GiveBack(nil, replicas[by]), nil)
	m.held.GiveBack(by)
}
