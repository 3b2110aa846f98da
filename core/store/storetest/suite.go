// Package storetest is the suite that every adapter of core/store passes. It states the contract as examples: what
// each operation returns, refuses and leaves behind. What a crash may lose and what races do is for the adapters'
// own tests and for the simulator.
package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// Run runs the suite. open returns an empty store; the suite closes it.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, c := range []struct {
		name string
		f    func(*fixture)
	}{
		{"an absent row has epoch zero", absentRow},
		{"a spawn makes a running row that nobody owns", spawnMakesRow},
		{"a spawn takes effect once", spawnOnce},
		{"a claim is taken once", claimOnce},
		{"release raises the epoch and is harmless twice", releaseRaises},
		{"release of an absent row fences its spawn", voidFencesSpawn},
		{"only running rows are claimed", onlyRunningClaimed},
		{"claimed rows are listed", claimedListed},
		{"a claim is renewed by its owner only", renewed},
		{"heads are listed by id", headsListed},
		{"load needs the claim", loadNeedsClaim},
		{"a commit writes everything and frees the claim", commitWritesAll},
		{"a commit under a lost claim writes nothing", commitFenced},
		{"a duplicate delivery writes nothing", duplicateWritesNothing},
		{"a held alias is refused", aliasRefused},
		{"a key moves from one wait to the next", aliasMoves},
		{"a wait that is not open is not closed", closeNotOpen},
		{"a generation is not reused", generationNotReused},
		{"a terminal step closes every wait", terminalCloses},
		{"timers are listed by due time", timersByDue},
		{"emissions are numbered and leave in order", emissionsInOrder},
		{"timers are reserved", timersReserved},
		{"emissions are reserved", emissionsReserved},
		{"reservations end", reservationsEnd},
		{"rows are reserved", rowsReserved},
		{"records outlive the row and are forgotten", recordsOutlive},
		{"collect takes terminal rows only", collectTerminal},
		{"vacate makes room for a forgotten delivery only", vacateForgotten},
		{"rows are written, read, listed and deleted", rowsWritten},
		{"a write rests on a row", rowsExpected},
		{"pins are listed", pinsListed},
		{"rows expire", rowsExpire},
		{"receipts expire", receiptsExpire},
		{"incarnations are never reused", incarnations},
		{"any text is a name", anyText},
		{"bad arguments are refused with their field", badArguments},
		{"a closed store refuses", closedRefuses},
		{"an ended scope refuses", endedScopeRefuses},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sched.Scheduler{}
			f := &fixture{T: t, st: open(t), scope: s.NewScope("suite")}
			defer f.scope.Close()
			c.f(f)
			f.ok(f.st.Close())
		})
	}
}

var (
	me    = store.Owner{Replica: "a", Lane: 1, Incarnation: 1}
	other = store.Owner{Replica: "a", Lane: 2, Incarnation: 1}
	noon  = time.Date(2031, 5, 4, 12, 0, 0, 0, time.UTC)
)

// fixture is one store under test.
type fixture struct {
	*testing.T
	st    store.Store
	scope *sched.Scope
	n     int
}

func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) is(err, want error) {
	f.Helper()
	if !errors.Is(err, want) {
		f.Fatalf("got error %v, want %v", err, want)
	}
	if want != nil && !store.Definite(err) {
		f.Fatalf("error %v is not definite", err)
	}
}

func (f *fixture) same(got, want any) {
	f.Helper()
	if !reflect.DeepEqual(got, want) {
		f.Fatalf("got  %+v\nwant %+v", got, want)
	}
}

func (f *fixture) durable(t store.Ticket) {
	f.Helper()
	f.ok(f.st.WaitDurable(f.scope, t))
}

func (f *fixture) head(id store.InstanceID) store.Head {
	f.Helper()
	h, t, err := f.st.Head(f.scope, id)
	f.ok(err)
	f.durable(t)
	return h
}

func (f *fixture) take(id store.InstanceID) store.Claim {
	f.Helper()
	c, _, err := f.st.Take(f.scope, id, f.head(id).Epoch, me)
	f.ok(err)
	return c
}

func (f *fixture) load(c store.Claim) store.Instance {
	f.Helper()
	in, _, err := f.st.Load(f.scope, c)
	f.ok(err)
	return in
}

func (f *fixture) commit(st *store.Step) {
	f.Helper()
	_, err := f.st.Commit(f.scope, st)
	f.ok(err)
}

// spawn makes a running row with the waits.
func (f *fixture) spawn(id store.InstanceID, waits ...store.Wait) {
	f.Helper()
	f.commit(f.spawning(id, waits...))
}

func (f *fixture) spawning(id store.InstanceID, waits ...store.Wait) *store.Step {
	f.n++
	cause := fmt.Sprintf("spawn %d", f.n)
	return &store.Step{
		Cause: cause, Spawn: true, Claim: store.Claim{Instance: id, Owner: me, Epoch: f.head(id).Epoch},
		Status: store.Running, Deployment: "d1", Flow: "order", Snapshot: []byte("s0"), Open: waits,
		Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "spawn", ID: cause}},
	}
}

// step returns a plain step under a fresh claim.
func (f *fixture) step(id store.InstanceID) *store.Step {
	f.Helper()
	f.n++
	return &store.Step{Cause: fmt.Sprintf("step %d", f.n), Claim: f.take(id), Status: store.Running, Snapshot: []byte("s")}
}
