package sink_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/sink/vfs"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/models"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// work is one unit and what became of it.
type work struct {
	keys    []string
	pieces  []models.Piece
	group   int // those with the same number wait together
	settled int
	err     error
	then    func() // may be nil: what comes when the unit is settled
}

func (u *work) Settled(err error) {
	u.settled, u.err = u.settled+1, err
	if u.then != nil {
		u.then()
	}
}

// pointMachine is a computer with a commit point that starts, commits what waits, stops and starts again.
type pointMachine struct {
	outer      *testing.T
	disk       vfs.Crashable
	store      store.Store
	engine     *memory.Engine
	model      models.Ledger
	n          int
	doubt      []*work // of the last life: a restart tells what became of them
	storeFault string  // of the next write but storeCalm
	storeCalm  int
}

// Write implements sink.Store.
func (m *pointMachine) Write(scope *sched.Scope, rows []store.Row) (store.Ticket, error) {
	if m.storeCalm > 0 {
		m.storeCalm--
		return m.store.Write(scope, rows)
	}
	fault := m.storeFault
	m.storeFault = ""
	switch fault {
	case "refused":
		return 0, store.ErrUnavailable
	case "halted":
		return 0, store.ErrHalted
	case "unknown, not landed":
		return 0, store.ErrUnknown
	case "unknown, landed":
		if _, err := m.store.Write(scope, rows); err != nil {
			return 0, err
		}
		return 0, store.ErrUnknown
	}
	return m.store.Write(scope, rows)
}

// Row implements sink.Store.
func (m *pointMachine) Row(scope *sched.Scope, space, key string) (store.Row, store.Ticket, error) {
	return m.store.Row(scope, space, key)
}

// WaitDurable implements sink.Store.
func (m *pointMachine) WaitDurable(scope *sched.Scope, t store.Ticket) error {
	return m.store.WaitDurable(scope, t)
}

// life opens the files, commits what waits, with a fault or without, and crashes.
func (m *pointMachine) life(t *rapid.T) {
	p := sink.NewPoint(sched.Scheduler{}, m, &m.disk, sink.Options{Files: files})
	if err := p.Open(nil); err != nil {
		inventory.Violated(m.outer, t, "G6.I4", "open: %v", err)
	}
	m.settleDoubt(t)
	m.compare(t, "after the start")
	units := m.begin(t, p)
	m.plan(t)
	err := p.Run(nil)
	m.disk.Fail, m.storeFault, m.storeCalm = nil, "", 0
	m.judge(t, units, err)
	if err == nil {
		m.compare(t, "after the end")
	}
	m.engine.Crash()
	m.disk.Crash(func(_ string, n int) int { return rapid.IntRange(0, n-1).Draw(t, "keep") })
	m.litter(t)
}

// inherit gives files a content that no point wrote: it is adopted, and outlives lives that commit nothing to it.
func (m *pointMachine) inherit(t *rapid.T) {
	for i, name := range files {
		m.model.Files[i] = rapid.SampledFrom([]string{"", "old;"}).Draw(t, "inherited")
		f, err := m.disk.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte(m.model.Files[i]), 0); err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
	}
}

// litter leaves bytes behind the committed lengths, as a crash may; they are nobody's.
func (m *pointMachine) litter(t *rapid.T) {
	for _, name := range files {
		n := rapid.IntRange(0, 2).Draw(t, "litter")
		if n == 0 {
			continue
		}
		f, err := m.disk.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("xx")[:n], int64(len(m.disk.Content(name)))); err != nil {
			t.Fatal(err)
		}
	}
}

// begin queues units that the point will find waiting together; when the last of them is settled the next ones come, and
// then the close.
func (m *pointMachine) begin(t *rapid.T, p *sink.Point) (all []*work) {
	next := p.Close
	for group := range rapid.IntRange(0, 3).Draw(t, "groups") {
		units, submits := m.units(t, p, group)
		after := next
		units[len(units)-1].then = after
		next = func() {
			for _, submit := range submits {
				submit()
			}
		}
		all = append(units, all...)
	}
	next()
	return all
}

// units makes units with their data.
func (m *pointMachine) units(t *rapid.T, p *sink.Point, group int) (units []*work, submits []func()) {
	units = make([]*work, rapid.IntRange(1, 4).Draw(t, "units"))
	for i := range units {
		m.n++
		u := &work{group: group}
		var rows []store.Row
		for k := range rapid.IntRange(0, 2).Draw(t, "keys") {
			key := fmt.Sprintf("%d.%d", m.n, k)
			u.keys, rows = append(u.keys, key), append(rows, store.Row{Space: "keys", Key: key})
		}
		unit := p.NewUnit(rows, u)
		for k := range rapid.IntRange(0, 3).Draw(t, "pieces") {
			x := models.Piece{File: rapid.IntRange(0, len(files)-1).Draw(t, "file"), Data: fmt.Sprintf("%d.%d;", m.n, k)}
			u.pieces = append(u.pieces, x)
			unit.Stage(x.File, []byte(x.Data))
		}
		units[i], submits = u, append(submits, unit.Submit)
	}
	return units, submits
}

// plan draws what goes wrong in this life: up to two operations of the disk, one write to the store.
func (m *pointMachine) plan(t *rapid.T) {
	m.storeFault = rapid.SampledFrom([]string{"", "", "refused", "halted", "unknown, not landed", "unknown, landed"}).Draw(t, "store")
	m.storeCalm = rapid.IntRange(0, 2).Draw(t, "calm")
	failing := rapid.SliceOfN(rapid.IntRange(0, 16), 0, 2).Draw(t, "failing operations")
	op := -1
	m.disk.Fail = func(string, string) bool {
		op++
		return slices.Contains(failing, op)
	}
	m.disk.Torn = func(n int) int { return rapid.IntRange(0, n).Draw(t, "torn") }
}

// judge applies what the units were told to the model.
func (m *pointMachine) judge(t *rapid.T, units []*work, ended error) {
	for i, u := range units {
		switch {
		case u.settled != 1:
			inventory.Violated(m.outer, t, "G6.I7", "unit %d was settled %d times", i, u.settled)
		case errors.Is(u.err, sink.ErrFenced):
			if ended == nil {
				inventory.Violated(m.outer, t, "G6.I6", "unit %d was fenced by a point that is not", i)
			}
			if len(m.doubt) == 0 || m.doubt[0].group == u.group { // what comes later is refused
				m.doubt = append(m.doubt, u)
			}
		case u.err == nil && len(m.doubt) > 0:
			inventory.Violated(m.outer, t, "G6.I6", "unit %d was acknowledged behind a fence", i)
		case u.err == nil:
			m.model.Commit(u.keys, u.pieces)
		}
	}
}

// settleDoubt asks the store which fenced units it has: one without keys leaves no other trace than its data, so it counts as
// landed when those with keys of the same group did, or the length of a file says so.
func (m *pointMachine) settleDoubt(t *rapid.T) {
	after := m.model
	after.Files = slices.Clone(after.Files)
	for _, u := range m.doubt {
		after.Commit(nil, u.pieces)
	}
	landed := len(m.doubt) > 0 && !slices.Equal(after.Files, m.model.Files) && slices.Equal(m.contents(), after.Files)
	for _, u := range m.doubt {
		for _, key := range u.keys {
			_, _, err := m.store.Row(nil, "keys", key)
			landed = landed || err == nil
		}
	}
	for _, u := range m.doubt {
		if landed {
			m.model.Commit(u.keys, u.pieces)
		}
	}
	m.doubt = nil
}

func (m *pointMachine) contents() (all []string) {
	for _, file := range files {
		all = append(all, string(m.disk.Content(file)))
	}
	return all
}

// compare requires that files and store hold exactly what was committed.
func (m *pointMachine) compare(t *rapid.T, when string) {
	if got := m.contents(); !slices.Equal(got, m.model.Files) {
		inventory.Violated(m.outer, t, "G6.I4", "%s the files hold %q, want %q", when, got, m.model.Files)
	}
	rows, _, err := m.store.Rows(nil, "keys", "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if !m.model.Keys[row.Key] {
			inventory.Violated(m.outer, t, "G6.I5", "%s key %s is there, whose unit was refused", when, row.Key)
		}
	}
	if len(rows) != len(m.model.Keys) {
		inventory.Violated(m.outer, t, "G6.I4", "%s %d keys are there, want %d", when, len(rows), len(m.model.Keys))
	}
}

// A commit point and its model through lives that end in crashes: units are committed whole, in order, or not at all, what they
// were told is true, and at each start the files hold what was committed and nothing else.
func TestModelG6Point(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "G6/point-model", func(outer *testing.T) int {
		cases := 0
		rapid.Check(outer, func(t *rapid.T) {
			cases++
			m := &pointMachine{outer: outer, model: models.NewLedger(len(files))}
			m.store, m.engine = memory.Open(sched.Scheduler{}, memory.Options{})
			m.inherit(t)
			for range rapid.IntRange(1, 5).Draw(t, "lives") {
				m.life(t)
			}
		})
		return cases
	})
}

// scale is a file system, a store and a settler that only measure.
type scale struct {
	length int64 // of the one file
	most   int   // rows of a commit
	groups [][]int
	fault  string
	closed int
}

func (s *scale) Open(string) (vfs.File, error) { return s, nil }
func (s *scale) Sync() error                   { return nil }
func (s *scale) Truncate(int64) error          { return nil }
func (s *scale) Size() (int64, error)          { return s.length, nil }
func (s *scale) Present() (bool, error)        { return true, nil }

func (s *scale) Close() error {
	s.closed++
	return nil
}

func (s *scale) WriteAt(data []byte, offset int64) (int, error) {
	if offset != s.length {
		s.fault = fmt.Sprintf("%d bytes written at %d behind %d", len(data), offset, s.length)
	}
	s.length += int64(len(data))
	return len(data), nil
}

func (s *scale) Write(_ *sched.Scope, rows []store.Row) (store.Ticket, error) {
	s.most = max(s.most, len(rows))
	return 0, nil
}

func (s *scale) Row(*sched.Scope, string, string) (store.Row, store.Ticket, error) {
	return store.Row{}, 0, store.ErrNotFound
}

func (s *scale) WaitDurable(*sched.Scope, store.Ticket) error { return nil }

// pass is the failpoint: a new group begins before its write.
func (s *scale) pass(point string) {
	if point == sink.PointBeforeWrite {
		s.groups = append(s.groups, nil)
	}
}

// weight tells its scale that a unit was settled.
type weight struct {
	on *scale
	i  int
}

func (w weight) Settled(err error) {
	if err != nil {
		w.on.fault = fmt.Sprintf("unit %d: %v", w.i, err)
	}
	last := len(w.on.groups) - 1
	w.on.groups[last] = append(w.on.groups[last], w.i)
}

// Units that wait together are split at the bounds of a group, none is left out, and a group fits into one commit.
func TestModelG6GroupsHoldTheirBounds(t *testing.T) {
	zero := make([]byte, 8<<20)
	rows := make([]store.Row, sink.MaxUnitRows)
	loads := rapid.Custom(func(t *rapid.T) models.Load {
		return models.Load{
			Rows:  rapid.SampledFrom([]int{0, 1, sink.MaxUnitRows / 2, sink.MaxUnitRows - 1, sink.MaxUnitRows}).Draw(t, "rows"),
			Bytes: rapid.SampledFrom([]int{0, 1, 1, 1, 1, 1, 4 << 20, 8<<20 - 1, 8 << 20}).Draw(t, "bytes"),
		}
	})
	inventory.Run(t, inventory.LaneModel, "G6/groups-hold-their-bounds", func(outer *testing.T) int {
		cases := 0
		rapid.Check(outer, func(t *rapid.T) {
			cases++
			units := rapid.SliceOfN(loads, 0, 3).Draw(t, "units")
			// Small ones in front, so that the bound of units is met, too.
			small := rapid.SampledFrom([]int{0, 0, 254, 255, 256, 513}).Draw(t, "small units")
			units = append(slices.Repeat([]models.Load{{Bytes: 1}}, small), units...)
			s := &scale{}
			p := sink.NewPoint(sched.Scheduler{}, s, s, sink.Options{Files: []string{ledger}, Failpoint: s.pass})
			if err := p.Open(nil); err != nil {
				t.Fatal(err)
			}
			total := 0
			for i, u := range units {
				x := p.NewUnit(rows[:u.Rows], weight{s, i})
				x.Stage(0, zero[:u.Bytes])
				x.Submit()
				total += u.Bytes
			}
			p.Close()
			if err := p.Run(nil); err != nil {
				t.Fatal(err)
			}
			want := models.Groups(units, 256, models.Load{Rows: sink.MaxUnitRows, Bytes: 8 << 20})
			if !slices.EqualFunc(s.groups, want, slices.Equal[[]int]) {
				inventory.Violated(outer, t, "G6.I7", "units %v in groups %v, want %v", units, s.groups, want)
			}
			if s.closed != 1 {
				inventory.Violated(outer, t, "G6.I7", "the file was closed %d times", s.closed)
			}
			if s.fault != "" || s.length != int64(total) || s.most > store.MaxStepRows {
				inventory.Violated(outer, t, "G6.I4", "%s; %d bytes of %d, %d rows in one commit", s.fault, s.length, total, s.most)
			}
		})
		return cases
	})
}
