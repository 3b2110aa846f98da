package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/group"
	"github.com/millrace-dev/millrace/core/store/postgres"
)

// offers writes so many rows that somebody may reserve.
func offers(t *testing.T, st store.Store, n int) {
	t.Helper()
	var all []store.Row
	for i := range n {
		all = append(all, store.Row{Space: "offer", Key: fmt.Sprintf("%03d", i), Value: []byte{1}})
	}
	_, err := st.Write(nil, all)
	ok(t, err)
}

func keys(rows []store.Row) (keys []string) {
	for _, r := range rows {
		keys = append(keys, r.Key)
	}
	return keys
}

// Two replicas that reserve at the same time get every row once, in order, and none beyond the bound.
func TestReservationsOfTwoReplicasAreApart(t *testing.T) {
	o := fresh()
	replicas := []*postgres.Store{open2(t, o), open2(t, o)}
	offers(t, replicas[0], 100)
	got := make([][]string, 4)
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() {
			for range 20 {
				rows, _, err := replicas[i%2].Reserve(nil, "offer", "089", time.Hour, 3)
				if err != nil {
					t.Error(err)
					return
				}
				if !slices.IsSorted(keys(rows)) {
					t.Errorf("out of order: %v", keys(rows))
				}
				got[i] = append(got[i], keys(rows)...)
			}
		})
	}
	all.Wait()
	reserved := slices.Concat(got...)
	// A row that was locked at the moment of somebody's look is left out of it; what no look has taken is there now.
	rest, _, err := replicas[0].Reserve(nil, "offer", "089", time.Hour, 100)
	ok(t, err)
	reserved = append(reserved, keys(rest)...)
	slices.Sort(reserved)
	if len(slices.Compact(slices.Clone(reserved))) != len(reserved) || len(reserved) != 90 || reserved[89] != "089" {
		t.Errorf("%d rows were reserved: %v", len(reserved), reserved)
	}
}

// A reservation ends with its time, and a row that a transaction holds is left out and not waited for.
func TestReservationEndsAndNeverWaits(t *testing.T) {
	o := fresh()
	a, b := open2(t, o), open2(t, o)
	offers(t, a, 3)
	rows, _, err := a.Reserve(nil, "offer", "999", time.Nanosecond, 1)
	ok(t, err)
	again, _, err := b.Reserve(nil, "offer", "999", time.Hour, 1)
	ok(t, err)
	if !slices.Equal(keys(rows), []string{"000"}) || !slices.Equal(keys(again), []string{"000"}) {
		t.Errorf("a row whose reservation had ended: %v, then %v", keys(rows), keys(again))
	}
	tx, err := connect(t, o.Schema).Begin(context.Background())
	ok(t, err)
	_, err = tx.Exec(context.Background(), "delete from rows where key = '001'")
	ok(t, err)
	rows, _, err = a.Reserve(nil, "offer", "999", time.Hour, 3)
	ok(t, err)
	if !slices.Equal(keys(rows), []string{"002"}) {
		t.Errorf("beside a row that is being deleted came %v", keys(rows))
	}
	ok(t, tx.Rollback(context.Background()))
	if _, _, err := a.Reserve(nil, "offer", "999", time.Hour, 0); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a limit of 0: %v", err)
	}
}

// Engines of two replicas whose workers fetch at the same time: every task is locked once and completed once, through the store that
// groups commits as through the one that does not.
func TestWorkersOfTwoReplicas(t *testing.T) {
	const tasks = 24
	o := fresh()
	s := sched.Scheduler{}
	scope := s.NewScope("workers")
	defer scope.Close()
	plain := open2(t, o)
	below := open2(t, o)
	grouped, err := group.New(s, scope, group.Options{}, below)
	ok(t, err)
	defer grouped.Stop()
	engines := []*engine.Engine{chargeEngine(t, s, scope, plain, plain, "a", time.Second), chargeEngine(t, s, scope, grouped, nil, "b", time.Second)}
	defer func() {
		for _, e := range engines {
			e.Close()
		}
	}()
	for i := range tasks {
		r, err := bring(s, scope, engines[i%2], "open", fmt.Sprint("t", i), fmt.Sprint("t", i), feel.Entry{Key: "n", Value: feel.Int(int64(i))})
		ok(t, err)
		if r.Outcome != engine.Accepted {
			t.Fatalf("%+v", r)
		}
	}
	locks := map[store.InstanceID]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			if err := chargeAll(scope, engines[i%2], fmt.Sprint("w", i), func(x engine.TaskRef) int {
				mu.Lock()
				defer mu.Unlock()
				if x.Instance != "" {
					locks[x.Instance]++
				}
				return tasks - len(locks)
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for id, n := range locks { //order:each is judged alone
		if n != 1 {
			t.Errorf("task of %s was locked %d times", id, n)
		}
	}
}

// chargeAll works off tasks until none is left. done notes a task and returns how many are left; with no task it only returns that.
func chargeAll(scope *sched.Scope, e *engine.Engine, worker string, done func(engine.TaskRef) int) error {
	for range 1000 {
		if done(engine.TaskRef{}) == 0 {
			return nil
		}
		some, err := e.FetchTasks(scope, engine.Fetch{Worker: worker, Types: []string{"charge"}, Max: 2, Lock: time.Hour, Wait: 200 * time.Millisecond})
		if err != nil {
			return err
		}
		for _, x := range some {
			done(x.Ref)
			if _, err := e.CompleteExternal(scope, x.Ref, feel.NewContext()); err != nil {
				return err
			}
		}
	}
	return errors.New("tasks are left")
}

func chargeEngine(t *testing.T, s sched.Scheduler, scope *sched.Scope, st store.Store, hints store.Hinter, name string, poll time.Duration) *engine.Engine {
	t.Helper()
	model, faults := bpmn.Load("charge.bpmn", []byte(chargeFlow), flow.Executes)
	if bpmn.Refused(faults) {
		t.Fatal(faults)
	}
	d, err := flow.NewDefinition(model.Processes[0])
	ok(t, err)
	e, err := engine.New(s, scope, engine.Options{Lanes: 2, Replica: name, Shared: true, TaskPoll: poll}, engine.Parts{
		Store: st, Hints: hints, Package: engine.Package{Deployment: "d1", Flows: []*flow.Definition{d}, Channels: []engine.Channel{{Name: "open", Flow: "charging"}}},
	})
	ok(t, err)
	return e
}

// chargeFlow is one external task.
const chargeFlow = `<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="c" targetNamespace="t">
  <process id="charging" isExecutable="true">
    <startEvent id="start"/>
    <sequenceFlow id="f1" sourceRef="start" targetRef="charge"/>
    <serviceTask id="charge"><extensionElements><zeebe:taskDefinition type="charge" retries="3"/></extensionElements></serviceTask>
    <sequenceFlow id="f2" sourceRef="charge" targetRef="end"/>
    <endEvent id="end"/>
  </process>
</definitions>`

// Replicas that reserve timers and emissions at the same time, while they are removed, are never told of one row together, and all rows
// are had by somebody.
func TestTimersAndEmissionsOfTwoReplicasAreApart(t *testing.T) {
	const instances, past = 40, 1_000_000_000
	o := fresh()
	replicas := []*postgres.Store{open2(t, o), open2(t, o)}
	for i := range instances {
		st := spawning(fmt.Sprintf("i%03d", i))
		st.Open = []store.Wait{{Generation: 1, Due: time.Unix(0, past)}}
		st.Outbox = []store.Emission{{Target: "r"}, {Target: "r"}}
		_, err := replicas[0].Commit(nil, st)
		ok(t, err)
	}
	var mu sync.Mutex
	holders := map[string]int{}
	had := func(by int, name string) {
		mu.Lock()
		defer mu.Unlock()
		if before, held := holders[name]; held && before != by {
			t.Errorf("%s was had by replica %d and by replica %d", name, before, by)
		}
		holders[name] = by
	}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			by, st := i%2, replicas[i%2]
			for range 30 {
				timers, _, err := st.ReserveTimers(nil, fmt.Sprint("r", by), store.Timer{}, time.Unix(1, past), time.Hour, 5)
				if err != nil {
					t.Error(err)
				}
				for _, x := range timers {
					had(by, "timer of "+string(x.Instance))
				}
				rows, _, err := st.ReserveEmissions(nil, fmt.Sprint("r", by), "", time.Hour, 5)
				if err != nil {
					t.Error(err)
				}
				for _, x := range rows {
					had(by, fmt.Sprint("emission of ", x.Instance, " ", x.Sequence))
				}
				if _, err := st.Delivered(nil, rows); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	left, _, err := replicas[0].Emissions(nil, store.Emission{}, 1)
	ok(t, err)
	if len(left) > 0 {
		t.Errorf("nobody had %v", left)
	}
}
