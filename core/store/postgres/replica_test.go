package postgres_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/bpmn"
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/postgres"
)

// replicaVar holds the options of the replica that a child process runs instead of the tests.
const replicaVar = "MILLRACE_TEST_REPLICA"

// replicaOptions say what a replica does: it delivers the same messages as every other one, over a store of its own.
type replicaOptions struct {
	Name            string
	URL, Schema     string
	Connections     int
	Lanes, Accounts int
	Adds            int
}

// replicaReport is what it has seen.
type replicaReport struct {
	Effects    int            // deliveries that took effect here
	Duplicates int            // those that had taken effect before
	Emitted    map[string]int // emissions that left from here, by id
	Error      string
}

// runReplica runs an engine until every message was answered and every account is full.
func runReplica(o replicaOptions) (r replicaReport, err error) {
	s := sched.Scheduler{}
	scope := s.NewScope("replica")
	defer scope.Close()
	st, err := postgres.Open(scope, postgres.Options{URL: o.URL, Schema: o.Schema, Connections: o.Connections})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	r.Emitted = map[string]int{}
	var mu sync.Mutex
	e, err := replicaEngine(s, scope, st, o, func(_ *sched.Scope, x store.Emission) error {
		mu.Lock()
		defer mu.Unlock()
		r.Emitted[fmt.Sprintf("%s/%d", x.Instance, x.Sequence)]++
		return nil
	})
	if err != nil {
		return r, err
	}
	count := func(reply engine.Reply) {
		mu.Lock()
		defer mu.Unlock()
		if reply.Duplicate {
			r.Duplicates++
		} else {
			r.Effects++
		}
	}
	var all sync.WaitGroup
	faults := make([]error, o.Accounts)
	for i := range o.Accounts {
		all.Go(func() { faults[i] = fillAccount(s, scope, e, fmt.Sprint("account-", i), o.Adds, count) })
	}
	all.Wait()
	err = errors.Join(append(faults, emptied(s, scope, st))...)
	e.Close()
	return r, err
}

func replicaEngine(s sched.Scheduler, scope *sched.Scope, st *postgres.Store, o replicaOptions, send func(*sched.Scope, store.Emission) error) (*engine.Engine, error) {
	text, err := os.ReadFile("../../engine/testdata/sum.bpmn")
	if err != nil {
		return nil, err
	}
	model, faults := bpmn.Load("sum.bpmn", text, flow.Executes)
	if bpmn.Refused(faults) {
		return nil, fmt.Errorf("sum.bpmn: %v", faults)
	}
	d, err := flow.NewDefinition(model.Processes[0])
	if err != nil {
		return nil, err
	}
	return engine.New(s, scope, engine.Options{Lanes: o.Lanes, Replica: o.Name, Shared: true}, engine.Parts{
		Store: st, Send: send,
		Package: engine.Package{Deployment: "d1", Flows: []*flow.Definition{d}, Channels: []engine.Channel{
			{Name: "open", Flow: "sum", Ack: engine.OnComplete, Timeout: time.Minute}, {Name: "add", Message: "add"},
		}},
		Handlers: map[string]engine.Handler{"add": func(_ *sched.Scope, c flow.Call) (*feel.Context, error) {
			return feel.NewContext(
				feel.Entry{Key: "total", Value: feel.Int(number(c.Variables, "total") + number(c.Variables, "amount"))},
				feel.Entry{Key: "count", Value: feel.Int(number(c.Variables, "count") + 1)},
			), nil
		}},
	})
}

func number(c *feel.Context, name string) int64 {
	v, _ := c.Lookup(name)
	n, isNumber := v.(feel.Number)
	if !isNumber {
		return 0
	}
	i, _ := n.Int64()
	return i
}

// fillAccount opens an account, which is answered when it is full, and adds amounts 1, 2, 4, …
func fillAccount(s sched.Scheduler, scope *sched.Scope, e *engine.Engine, account string, adds int, count func(engine.Reply)) error {
	var all sync.WaitGroup
	faults := make([]error, adds+1)
	all.Go(func() {
		r, err := bring(s, scope, e, "open", "open-"+account, account, feel.Entry{Key: "wanted", Value: feel.Int(int64(adds))})
		if err == nil && r.Outcome != engine.Completed {
			err = fmt.Errorf("open %s: %+v", account, r)
		}
		faults[adds] = err
	})
	for i := range adds {
		all.Go(func() {
			id := fmt.Sprintf("%s-%d", account, i)
			r, err := bring(s, scope, e, "add", id, account, feel.Entry{Key: "amount", Value: feel.Int(1 << i)})
			count(r)
			faults[i] = err
		})
	}
	all.Wait()
	return errors.Join(faults...)
}

// bring is a transport: it delivers until there is an answer, and again while nothing waits for the message.
func bring(s sched.Scheduler, scope *sched.Scope, e *engine.Engine, channel, id, account string, more feel.Entry) (engine.Reply, error) {
	variables := feel.NewContext(feel.Entry{Key: "account", Value: feel.String(account)}, more)
	var r engine.Reply
	var err error
	for range 1000 {
		r, err = e.Deliver(scope, engine.Delivery{Channel: channel, ID: id, Decode: func() (engine.Message, error) {
			return engine.Message{Variables: variables, Key: account}, nil
		}})
		if err == nil && r.Outcome != engine.Unmatched {
			return r, nil
		}
		if err := s.Sleep(scope, "redelivery", 5*time.Millisecond); err != nil {
			return r, err
		}
	}
	return r, fmt.Errorf("delivery %s was never answered: %+v, %w", id, r, err)
}

// emptied waits until no emission is left.
func emptied(s sched.Scheduler, scope *sched.Scope, st store.Store) error {
	for range 1000 {
		left, _, err := st.Emissions(scope, store.Emission{}, 1)
		if err != nil || len(left) == 0 {
			return err
		}
		if err := s.Sleep(scope, "outbox", 10*time.Millisecond); err != nil {
			return err
		}
	}
	return errors.New("emissions never left")
}

// replicaProgram is the child process.
func replicaProgram(text string) int {
	var o replicaOptions
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	r, err := runReplica(o)
	if err != nil {
		r.Error = err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		return 1
	}
	return 0
}

// Two processes run an engine each on one database, and are brought the same messages at the same time. Every message takes
// effect once, in one of them; the accounts that one opened are filled by both; the answer on completion comes to
// both.
func TestTwoEngineProcessesAreOneEngine(t *testing.T) {
	o := fresh()
	const accounts, adds = 4, 5
	ok(t, open(t, o).Close()) // the tables, once
	reports := make([]replicaReport, 2)
	var all sync.WaitGroup
	for i := range reports {
		all.Go(func() {
			text, err := json.Marshal(replicaOptions{
				Name: fmt.Sprint("replica-", i), URL: o.URL, Schema: o.Schema, Connections: 4, Lanes: 2, Accounts: accounts, Adds: adds,
			})
			if err != nil {
				reports[i].Error = err.Error()
				return
			}
			c := exec.CommandContext(t.Context(), os.Args[0])
			c.Env = append(os.Environ(), replicaVar+"="+string(text))
			var out, errs bytes.Buffer
			c.Stdout, c.Stderr = &out, &errs
			err = c.Run()
			if broken := json.Unmarshal(out.Bytes(), &reports[i]); err != nil || broken != nil {
				reports[i].Error = fmt.Sprintf("%v, %v: %s%s", err, broken, out.String(), errs.String())
			}
		})
	}
	all.Wait()
	judgeReplicas(t, reports, accounts, adds)
	judgeAccounts(t, o.Schema, accounts, adds)
}

func judgeReplicas(t *testing.T, reports []replicaReport, accounts, adds int) {
	t.Helper()
	effects, emitted := 0, map[string]int{}
	for i, r := range reports {
		if r.Error != "" {
			t.Fatalf("replica %d: %s", i, r.Error)
		}
		effects += r.Effects
		for id, n := range r.Emitted {
			emitted[id] += n
		}
	}
	if effects != accounts*adds {
		t.Errorf("%d additions took effect, want %d: %+v", effects, accounts*adds, reports)
	}
	if len(emitted) != accounts*adds {
		t.Errorf("%d emissions left, want %d: %v", len(emitted), accounts*adds, emitted)
	}
	for id, n := range emitted { //order:each is judged alone
		if n != 1 {
			t.Errorf("emission %s left %d times, and nobody died", id, n)
		}
	}
}

func judgeAccounts(t *testing.T, schema string, accounts, adds int) {
	t.Helper()
	conn := connect(t, schema)
	var ended, claimed, right int
	ok(t, conn.QueryRow(context.Background(), `
		select count(*) filter (where status = 3), count(*) filter (where incarnation <> 0),
			count(*) filter (where (convert_from(result, 'UTF8')::jsonb->>'total')::bigint = $1)
		from instances where flow <> ''`, 1<<adds-1).Scan(&ended, &claimed, &right))
	if ended != accounts || claimed != 0 || right != accounts {
		t.Errorf("of %d accounts %d have ended, %d are claimed, %d have the right total", accounts, ended, claimed, right)
	}
}

// Eight lanes on two connections: an operation holds one at a time and waits for none meanwhile, so nothing stands still.
func TestEightLanesOnTwoConnections(t *testing.T) {
	o := fresh()
	r, err := runReplica(replicaOptions{Name: "a", URL: o.URL, Schema: o.Schema, Connections: 2, Lanes: 8, Accounts: 8, Adds: 4})
	ok(t, err)
	if r.Effects != 32 || len(r.Emitted) != 32 {
		t.Errorf("%+v", r)
	}
	judgeAccounts(t, o.Schema, 8, 4)
}
