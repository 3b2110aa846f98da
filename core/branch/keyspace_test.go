package branch_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/branch"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/models"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func reserve(t *testing.T, k *branch.Keyspace, at time.Time, key string, want branch.Verdict) *branch.Reservation {
	t.Helper()
	r := &branch.Reservation{}
	if got, _ := k.Reserve(at, key, r); got != want {
		t.Fatalf("reserve %s: %v, want %v", key, got, want)
	}
	return r
}

func TestKeyIsKeptFromItsFirstSight(t *testing.T) {
	k := branch.NewKeyspace(sched.Scheduler{}, "k", time.Minute)
	k.Commit(reserve(t, k, epoch, "a", branch.Fresh))
	reserve(t, k, epoch.Add(59*time.Second), "a", branch.Known)
	r := reserve(t, k, epoch.Add(time.Minute), "a", branch.Fresh)
	k.Release(r)
	reserve(t, k, epoch.Add(time.Minute), "a", branch.Fresh)
}

func TestReservationIsHeldUntilItIsResolved(t *testing.T) {
	k := branch.NewKeyspace(sched.Scheduler{}, "k", time.Minute)
	r := reserve(t, k, epoch, "a", branch.Fresh)
	if v, by := k.Reserve(epoch.Add(time.Hour), "a", &branch.Reservation{}); v != branch.Held || by != r {
		t.Fatalf("%v", v)
	}
	if n := k.Expire(epoch.Add(time.Hour), 10); n != 0 {
		t.Fatalf("%d reserved keys expired", n)
	}
	k.Commit(r)
	if n := k.Expire(epoch.Add(time.Hour), 10); n != 1 || k.Len() != 0 {
		t.Fatalf("%d expired, %d left", n, k.Len())
	}
}

func TestRestoredKeysStandInOrderOfFirstSight(t *testing.T) {
	k := branch.NewKeyspace(sched.Scheduler{}, "k", time.Minute)
	for _, s := range []int{30, 10, 20, 10} {
		k.Restore(strconv.Itoa(s), epoch.Add(time.Duration(s)*time.Second))
	}
	if n := k.Expire(epoch.Add(80*time.Second), 10); n != 2 || k.Len() != 1 {
		t.Fatalf("%d expired, %d left", n, k.Len())
	}
	reserve(t, k, epoch.Add(80*time.Second), "30", branch.Known)
}

func TestClockThatStepsBackKeepsTheOrder(t *testing.T) {
	k := branch.NewKeyspace(sched.Scheduler{}, "k", time.Minute)
	k.Commit(reserve(t, k, epoch.Add(time.Second), "a", branch.Fresh))
	r := reserve(t, k, epoch, "b", branch.Fresh)
	r.Keys(func(_ string, first time.Time) {
		if !first.Equal(epoch.Add(time.Second)) {
			t.Fatalf("seen first at %v", first)
		}
	})
}

func TestObserverSeesGenerations(t *testing.T) {
	k := branch.NewKeyspace(sched.Scheduler{}, "k", time.Minute)
	k.Commit(reserve(t, k, epoch, "a", branch.Fresh))
	k.Publish(epoch)
	old := k.Observe()
	if old.Number != 0 || old.Len() != 0 {
		t.Fatalf("generation %d with %d keys before anybody asked", old.Number, old.Len())
	}
	reserve(t, k, epoch, "b", branch.Fresh)
	k.Publish(epoch)
	seen := k.Observe()
	if _, ok := seen.Contains("b"); seen.Number != 1 || !slices.Equal(seen.Keys(), []string{"a"}) || ok {
		t.Fatalf("generation %d with %v", seen.Number, seen.Keys())
	}
	if first, ok := seen.Contains("a"); !ok || !first.Equal(epoch) {
		t.Fatalf("a seen at %v", first)
	}
}

func TestReservationResolvesOnce(t *testing.T) {
	k := branch.NewKeyspace(sched.Scheduler{}, "k", time.Minute)
	r := reserve(t, k, epoch, "a", branch.Fresh)
	k.Commit(r)
	defer func() {
		if recover() == nil {
			t.Fatal("a reservation was resolved twice")
		}
	}()
	k.Release(r)
}

// keyMachine drives a keyspace and its model side by side.
type keyMachine struct {
	inventory.Judge

	model models.Dedupe
	keys  *branch.Keyspace
	now   time.Duration
	open  []*branch.Reservation
	ids   map[*branch.Reservation]int
	next  int
}

const keptFor = 10 * time.Second

func (m *keyMachine) at() time.Time { return epoch.Add(m.now) }

func (m *keyMachine) reserve(t *rapid.T) {
	m.next++
	r := &branch.Reservation{}
	for i := range rapid.IntRange(1, 3).Draw(t, "rows") {
		key := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "key"+strconv.Itoa(i))
		wantFresh, wantBy := m.model.Reserve(int64(m.now), key, m.next)
		got, by := m.keys.Reserve(m.at(), key, r)
		holder := m.ids[by]
		if by == r {
			holder = m.next
		}
		if (got == branch.Fresh) != wantFresh || holder != wantBy || (got == branch.Held) != (wantBy != 0) {
			m.Wrong(t, "reserve %s: %v held by %d, model fresh %t by %d", key, got, holder, wantFresh, wantBy)
		}
	}
	m.ids[r] = m.next
	m.open = append(m.open, r)
}

func (m *keyMachine) resolve(t *rapid.T) {
	if len(m.open) == 0 {
		t.Skip("nothing reserved")
	}
	i := rapid.IntRange(0, len(m.open)-1).Draw(t, "reservation")
	r := m.open[i]
	m.open = slices.Delete(m.open, i, i+1)
	committed := rapid.Bool().Draw(t, "committed")
	m.model.Resolve(m.ids[r], committed)
	if committed {
		m.keys.Commit(r)
	} else {
		m.keys.Release(r)
	}
}

func (m *keyMachine) pass(t *rapid.T) {
	m.now += time.Duration(rapid.IntRange(0, 6).Draw(t, "seconds")) * time.Second
}

func (m *keyMachine) expire(t *rapid.T) {
	m.keys.Expire(m.at(), rapid.IntRange(0, 4).Draw(t, "limit"))
}

// check compares what an observer sees: model keys that are over may be gone already.
func (m *keyMachine) check(t *rapid.T) {
	m.keys.Observe()
	m.keys.Publish(m.at())
	g := m.keys.Observe()
	want := m.model.Committed()
	for _, key := range want {
		_, ok := g.Contains(key)
		if over := m.model.Keys[key].First+int64(keptFor) <= int64(m.now); !ok && !over {
			m.Wrong(t, "generation %d lacks %s", g.Number, key)
		}
	}
	for _, key := range g.Keys() {
		first, _ := g.Contains(key)
		if !slices.Contains(want, key) || first.Sub(epoch) != time.Duration(m.model.Keys[key].First) {
			m.Wrong(t, "generation %d has %s seen at %v, model %+v", g.Number, key, first, m.model.Keys[key])
		}
	}
}

func TestModelE2(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "E2/model", func(test *testing.T) int {
		cases := 0
		rapid.Check(test, func(t *rapid.T) {
			cases++
			m := &keyMachine{
				Judge: inventory.Judge{Test: test, ID: "E2.model"},
				model: models.NewDedupe(int64(keptFor)),
				keys:  branch.NewKeyspace(sched.Scheduler{}, "k", keptFor),
				ids:   map[*branch.Reservation]int{},
			}
			t.Repeat(map[string]func(*rapid.T){
				"reserve": m.reserve, "resolve": m.resolve, "pass": m.pass, "expire": m.expire, "": m.check,
			})
		})
		return cases
	})
}
