package storetest

import (
	"github.com/millrace-dev/millrace/core/store"
)

func absentRow(f *fixture) {
	f.same(f.head("i"), store.Head{Claim: store.Claim{Instance: "i"}})
	_, _, err := f.st.Take(f.scope, "i", 0, me)
	f.is(err, store.ErrNotFound)
}

func spawnMakesRow(f *fixture) {
	f.spawn("i", store.Wait{Generation: 3, Element: "ask", Data: []byte("x")})
	h := f.head("i")
	f.same(h, store.Head{Claim: store.Claim{Instance: "i", Epoch: 1}, Status: store.Running})
	in := f.load(f.take("i"))
	f.same(in.Deployment+in.Flow+string(in.Snapshot), "d1orders0")
	f.same(in.Generation, uint64(3))
	f.same(in.Waits, []store.Wait{{Generation: 3, Element: "ask", Data: []byte("x")}})
}

func spawnOnce(f *fixture) {
	late := f.spawning("i")
	f.spawn("i")
	_, err := f.st.Commit(f.scope, late)
	f.is(err, store.ErrDuplicate)
	f.same(f.head("i").Epoch, store.Epoch(1))
}

func claimOnce(f *fixture) {
	f.spawn("i")
	c := f.take("i")
	f.same(c, store.Claim{Instance: "i", Owner: me, Epoch: 2})
	h := f.head("i")
	f.same(h.Claim, c)
	if h.Since.IsZero() {
		f.Error("a claimed row does not say since when")
	}
	for _, epoch := range []store.Epoch{1, 2, 3} {
		_, _, err := f.st.Take(f.scope, "i", epoch, other)
		f.is(err, store.ErrConflict)
		_, _, err = f.st.Take(f.scope, "i", epoch, me) // its owner does not re-enter either
		f.is(err, store.ErrConflict)
	}
	freed, _, err := f.st.Release(f.scope, c)
	f.ok(err)
	f.same(freed, true)
	_, _, err = f.st.Take(f.scope, "i", 2, other) // nobody's, but at another epoch
	f.is(err, store.ErrConflict)
}

func releaseRaises(f *fixture) {
	f.spawn("i")
	c := f.take("i")
	wrong := c
	wrong.Owner = other
	stale := c
	stale.Epoch--
	for _, bad := range []store.Claim{wrong, stale} {
		freed, _, err := f.st.Release(f.scope, bad)
		f.ok(err)
		f.same(freed, false)
	}
	for _, want := range []bool{true, false} {
		freed, _, err := f.st.Release(f.scope, c)
		f.ok(err)
		f.same(freed, want)
		f.same(f.head("i").Claim, store.Claim{Instance: "i", Epoch: 3})
	}
	// What nobody owns can be fenced too: a claim that is being taken comes too late.
	freed, t, err := f.st.Release(f.scope, store.Claim{Instance: "i", Epoch: 3})
	f.ok(err)
	f.durable(t)
	f.same(freed, true)
	_, _, err = f.st.Take(f.scope, "i", 3, me)
	f.is(err, store.ErrConflict)
}

func voidFencesSpawn(f *fixture) {
	late := f.spawning("i")
	freed, _, err := f.st.Release(f.scope, store.Claim{Instance: "i"})
	f.ok(err)
	f.same(freed, true)
	f.same(f.head("i"), store.Head{Claim: store.Claim{Instance: "i", Epoch: 1}, Status: store.Void})
	_, err = f.st.Commit(f.scope, late)
	f.is(err, store.ErrFenced)
	_, _, err = f.st.Take(f.scope, "i", 1, me)
	f.is(err, store.ErrNotFound)
	f.spawn("i") // a retry starts from the void row
	f.same(f.head("i"), store.Head{Claim: store.Claim{Instance: "i", Epoch: 2}, Status: store.Running})
}

func onlyRunningClaimed(f *fixture) {
	f.spawn("i")
	st := f.step("i")
	st.Status, st.Result = store.Completed, []byte("done")
	f.commit(st)
	f.same(f.head("i"), store.Head{Claim: store.Claim{Instance: "i", Epoch: 3}, Status: store.Completed, Result: []byte("done")})
	_, _, err := f.st.Take(f.scope, "i", 3, me)
	f.is(err, store.ErrNotFound)
}

func claimedListed(f *fixture) {
	for _, id := range []store.InstanceID{"c", "a", "b", "d"} {
		f.spawn(id)
	}
	a, c := f.take("a"), f.take("c")
	f.take("d")
	f.commit(f.step("b")) // taken and freed again
	heads, _, err := f.st.Claimed(f.scope, "", 2)
	f.ok(err)
	f.same(claims(heads), []store.Claim{a, c})
	heads, _, err = f.st.Claimed(f.scope, "a", 10)
	f.ok(err)
	f.same(claims(heads), []store.Claim{c, {Instance: "d", Owner: me, Epoch: 2}})
}

func claims(heads []store.Head) (out []store.Claim) {
	for _, h := range heads {
		out = append(out, h.Claim)
	}
	return out
}

func renewed(f *fixture) {
	f.spawn("i")
	c := f.take("i")
	next, _, err := f.st.Renew(f.scope, c)
	f.ok(err)
	f.same(next, store.Claim{Instance: "i", Owner: me, Epoch: c.Epoch + 1})
	f.same(f.head("i").Claim, next)
	foreign := next
	foreign.Owner = other
	for _, bad := range []store.Claim{c, foreign, {Instance: "j", Owner: me}} {
		_, _, err := f.st.Renew(f.scope, bad)
		f.is(err, store.ErrConflict)
	}
	_, _, err = f.st.Renew(f.scope, store.Claim{Instance: "i", Epoch: next.Epoch})
	f.is(err, store.ErrInvalid)
	freed, _, err := f.st.Release(f.scope, c) // what was observed before the renewal
	f.ok(err)
	f.same(freed, false)
	freed, _, err = f.st.Release(f.scope, next)
	f.ok(err)
	f.same(freed, true)
	_, _, err = f.st.Renew(f.scope, next)
	f.is(err, store.ErrConflict)
}

func headsListed(f *fixture) {
	for _, id := range []store.InstanceID{"c", "a", "b"} {
		f.spawn(id)
	}
	_, _, err := f.st.Release(f.scope, store.Claim{Instance: "d"})
	f.ok(err)
	a := f.take("a")
	st := f.step("b")
	st.Status, st.Result = store.Completed, []byte("done")
	f.commit(st)
	heads, _, err := f.st.Heads(f.scope, "", 2)
	f.ok(err)
	f.same(claims(heads), []store.Claim{a, {Instance: "b", Epoch: 3}})
	f.same(heads[1].Status, store.Completed)
	f.same(len(heads[1].Result), 0)
	heads, _, err = f.st.Heads(f.scope, "b", 10)
	f.ok(err)
	f.same(heads, []store.Head{
		{Claim: store.Claim{Instance: "c", Epoch: 1}, Status: store.Running}, {Claim: store.Claim{Instance: "d", Epoch: 1}, Status: store.Void},
	})
	_, _, err = f.st.Heads(f.scope, "", 0)
	f.is(err, store.ErrInvalid)
}

func loadNeedsClaim(f *fixture) {
	f.spawn("i")
	c := f.take("i")
	stale := c
	stale.Epoch--
	for _, bad := range []store.Claim{stale, {Instance: "i", Owner: other, Epoch: c.Epoch}, {Instance: "j"}} {
		_, _, err := f.st.Load(f.scope, bad)
		f.is(err, store.ErrFenced)
	}
	f.same(f.load(c).Claim, c)
}

func incarnations(f *fixture) {
	var last uint64
	for range 5 {
		n, err := f.st.Incarnate(f.scope)
		f.ok(err)
		if n <= last {
			f.Fatalf("incarnation %d after %d", n, last)
		}
		last = n
	}
}
