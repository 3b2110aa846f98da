package engine

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/core/feel"
	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/task"
)

// Bounds of what workers ask for.
const (
	MaxFetch = 100            // tasks in one fetch, and task types
	MaxLock  = 24 * time.Hour // length of a lock
	MaxName  = store.MaxName  // bytes of a worker's name, an error code
)

// TaskRef names an external task as its holder knows it.
type TaskRef struct {
	Instance store.InstanceID
	Wait     uint64
	Lock     uint64
	Worker   string // who says that it holds the task; "" is not compared, the lock says enough
}

// Task is an external task that was locked.
type Task struct {
	Ref TaskRef
	flow.Locked
}

// Fetch is what a worker asks for.
type Fetch struct {
	Worker string
	Types  []string
	Max    int           // tasks at most
	Lock   time.Duration // how long they are locked
	Wait   time.Duration // how long to wait for the first one; 0 not at all
}

// ErrRequest is wrapped by the faults of a request that can never be met.
var ErrRequest = errors.New("request is not valid")

// Validate joins every fault of the request.
func (f Fetch) Validate() error {
	var faults []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrRequest}, args...)...))
		}
	}
	refuse(f.Worker == "" || len(f.Worker) > MaxName, "worker: a name of 1 to %d bytes", MaxName)
	refuse(len(f.Types) == 0 || len(f.Types) > MaxFetch, "types: 1 to %d task types", MaxFetch)
	for _, name := range f.Types {
		refuse(name == "" || len(name) > flow.MaxTaskType, "types: %.40q is not a task type of 1 to %d bytes", name, flow.MaxTaskType)
	}
	refuse(f.Max < 1 || f.Max > MaxFetch, "max: %d is not in 1 … %d", f.Max, MaxFetch)
	refuse(f.Lock < time.Millisecond || f.Lock > MaxLock, "lock: %v is not in 1ms … %v", f.Lock, MaxLock)
	refuse(f.Wait < 0 || f.Wait > time.Hour, "wait: %v is not in 0 … 1h", f.Wait)
	return errors.Join(faults...)
}

// FetchTasks locks tasks for a worker, those that were offered first before others. It waits until there is one, for f.Wait at
// most; nothing is no error. The answer is durable: each lock is a step of its instance.
func (e *Engine) FetchTasks(scope *sched.Scope, f Fetch) ([]Task, error) {
	if err := f.Validate(); err != nil {
		return nil, fmt.Errorf("fetch tasks: %w", err)
	}
	x := fetching{Fetch: f, e: e, scope: scope}
	patience := scope
	if f.Wait > 0 {
		patience = scope.ChildTimeout("fetch tasks", f.Wait)
		defer patience.Close()
	}
	if err := e.board.Wait(patience, x.look); err != nil {
		return nil, fmt.Errorf("fetch tasks for %s: %w", f.Worker, err)
	}
	if len(x.tasks) == 0 { // a lock is durable; that there is nothing to lock rests on what was read
		if err := e.store.WaitDurable(scope, x.seen); err != nil {
			return nil, fmt.Errorf("fetch tasks for %s: %w: %w", f.Worker, ErrStore, err)
		}
	}
	return x.tasks, nil
}

// fetching is one FetchTasks under way.
type fetching struct {
	Fetch
	e     *Engine
	scope *sched.Scope
	tasks []Task       // locked so far
	seen  store.Ticket // covers what was read
}

func (x *fetching) full() bool { return len(x.tasks) >= x.Max }

// look locks what is offered now, and reports whether the worker is answered.
func (x *fetching) look() (done bool, err error) {
	lock := x.lockOffered
	if x.e.options.Shared {
		lock = x.lockReserved
	}
	for _, name := range x.Types {
		if err = lock(name); err != nil || x.full() {
			break
		}
	}
	if len(x.tasks) > 0 {
		return true, nil // what is locked is told, whatever came after
	}
	return x.Wait == 0, err
}

// read notes what a read of offers saw.
func (x *fetching) read(seen store.Ticket, err error) error {
	if err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	x.seen = max(x.seen, seen)
	return nil
}

// holdOffer is how long a replica keeps an offer from the others while it locks the task. What could not be locked then is theirs.
const holdOffer = time.Second

// lockOffered locks tasks of one type. Who is busy, was faster or is gone is passed over.
func (x *fetching) lockOffered(name string) error {
	const page = 100
	space, after := taskSpace(name), ""
	for rounds := 0; rounds < page && !x.full(); rounds++ {
		rows, seen, err := x.e.store.Rows(x.scope, space, after, page)
		if err := x.read(seen, err); err != nil {
			return err
		}
		for _, row := range rows {
			at, ref, err := readTaskKey(row.Key)
			if err != nil {
				return err
			}
			if at.After(x.e.s.Now()) || x.full() {
				return nil // rows are in the order in which they are offered
			}
			after = row.Key
			if err := x.lock(ref); err != nil {
				return err
			}
		}
		if len(rows) < page {
			return nil
		}
	}
	return nil
}

// lockReserved is lockOffered among replicas: each tries offers of its own, as many as are wanted, so that none is tried in vain because
// another replica has just locked it.
func (x *fetching) lockReserved(name string) error {
	const rounds = 100
	first, until := "", taskKey(x.e.s.Now().Add(1), "", 0) // behind what is offered now
	for n := 0; n < rounds && !x.full(); n++ {
		limit := x.Max - len(x.tasks)
		rows, seen, err := x.e.store.Reserve(x.scope, taskSpace(name), until, holdOffer, limit)
		if err := x.read(seen, err); err != nil {
			return err
		}
		if len(rows) > 0 && rows[0].Key == first {
			return nil // it cannot be locked now, and its reservation has ended or there is none
		}
		for _, row := range rows {
			first = rows[0].Key
			_, ref, err := readTaskKey(row.Key)
			if err != nil {
				return err
			}
			if err := x.lock(ref); err != nil {
				return err
			}
		}
		if len(rows) < limit {
			return nil
		}
	}
	return nil
}

// lock locks one task, unless it cannot be locked now.
func (x *fetching) lock(ref TaskRef) error {
	r, err := x.e.straight(x.scope, ref.Instance, flow.Input{Kind: flow.Lock, Wait: ref.Wait, Worker: x.Worker, Until: x.e.s.Now().Add(x.Lock)})
	switch {
	case err == nil && r.locked != nil:
		ref.Lock = r.locked.Lock
		x.tasks = append(x.tasks, Task{ref, *r.locked})
		return nil
	case errors.Is(err, ErrBusy), errors.Is(err, ErrNotWaiting), errors.Is(err, ErrNoInstance):
		return nil
	}
	return err
}

// CompleteExternal completes an external task with its result. Errors: ErrLease when the lock is not held any more, ErrNotWaiting
// when the task is settled, ErrBusy; the answer is durable.
func (e *Engine) CompleteExternal(scope *sched.Scope, ref TaskRef, result *feel.Context) (Reply, error) {
	return e.settleTask(scope, "complete", ref, flow.Input{Kind: flow.Complete, Payload: result})
}

// ExtendTask keeps a task locked for a time from now. The errors are those of CompleteExternal.
func (e *Engine) ExtendTask(scope *sched.Scope, ref TaskRef, lock time.Duration) (Reply, error) {
	if lock < time.Millisecond || lock > MaxLock {
		return Reply{}, fmt.Errorf("extend task %s/%d: %w: lock: %v is not in 1ms … %v", ref.Instance, ref.Wait, ErrRequest, lock, MaxLock)
	}
	return e.settleTask(scope, "extend", ref, flow.Input{Kind: flow.Extend, Until: e.s.Now().Add(lock)})
}

// FailTask gives a task up, with attempts left and a pause before the next one. Without attempts it is an incident.
func (e *Engine) FailTask(scope *sched.Scope, ref TaskRef, retries int, backoff time.Duration, reason string) (Reply, error) {
	if retries < 0 || retries > flow.MaxRetries || backoff < 0 || backoff > MaxLock {
		return Reply{}, fmt.Errorf("fail task %s/%d: %w: retries: 0 … %d; backoff: 0 … %v", ref.Instance, ref.Wait, ErrRequest, flow.MaxRetries, MaxLock)
	}
	return e.settleTask(scope, "fail", ref, flow.Input{Kind: flow.Fail, Retries: retries, Until: e.s.Now().Add(backoff), Reason: reason})
}

// ThrowError ends a task with a BPMN error. The variables go to where it is caught.
func (e *Engine) ThrowError(scope *sched.Scope, ref TaskRef, code, reason string, variables *feel.Context) (Reply, error) {
	if code == "" || len(code) > MaxName {
		return Reply{}, fmt.Errorf("throw error at task %s/%d: %w: code: a text of 1 to %d bytes", ref.Instance, ref.Wait, ErrRequest, MaxName)
	}
	return e.settleTask(scope, "throw error at", ref, flow.Input{Kind: flow.Throw, Code: code, Reason: reason, Payload: variables})
}

func (e *Engine) settleTask(scope *sched.Scope, what string, ref TaskRef, in flow.Input) (Reply, error) {
	if ref.Lock == 0 { // no lock has this number, and an input without one completes a user task
		return Reply{}, fmt.Errorf("%s task %s/%d: %w: %w", what, ref.Instance, ref.Wait, ErrLease, task.ErrNotHeld)
	}
	in.Wait, in.Lock, in.Worker = ref.Wait, ref.Lock, ref.Worker
	r, err := e.once(scope, ref.Instance, in)
	if err != nil {
		return r, fmt.Errorf("%s task %s/%d: %w", what, ref.Instance, ref.Wait, err)
	}
	return r, nil
}

// taskSpace is the space whose rows offer the tasks of a type. A row's key is when it is offered, then whose task it is.
func taskSpace(name string) string { return "task" + separator + name }

func taskKey(at time.Time, id store.InstanceID, wait uint64) string {
	return fmt.Sprintf("%020d/%s/%d", at.UnixNano(), id, wait)
}

var errTaskKey = errors.New("task row has a key that nobody wrote")

func readTaskKey(key string) (time.Time, TaskRef, error) {
	at, rest, _ := strings.Cut(key, "/")
	slash := strings.LastIndexByte(rest, '/')
	nanos, err := strconv.ParseInt(at, 10, 64)
	if err != nil || slash < 0 {
		return time.Time{}, TaskRef{}, fmt.Errorf("%w: %q", errTaskKey, key)
	}
	wait, err := strconv.ParseUint(rest[slash+1:], 10, 64)
	if err != nil {
		return time.Time{}, TaskRef{}, fmt.Errorf("%w: %q", errTaskKey, key)
	}
	return time.Unix(0, nanos), TaskRef{Instance: store.InstanceID(rest[:slash]), Wait: wait}, nil
}

// offerRows are the rows by which a step's offers change what workers find.
func offerRows(id store.InstanceID, offers []flow.Offer) []store.Row {
	var rows []store.Row
	for _, o := range offers {
		if !o.Was.IsZero() {
			rows = append(rows, store.Row{Space: taskSpace(o.Type), Key: taskKey(o.Was, id, o.Wait), Delete: true})
		}
		if !o.At.IsZero() {
			rows = append(rows, store.Row{Space: taskSpace(o.Type), Key: taskKey(o.At, id, o.Wait), Value: []byte{1}})
		}
	}
	return rows
}

// offered reports whether a step offers something that was not offered before.
func offered(offers []flow.Offer) bool {
	return slices.ContainsFunc(offers, func(o flow.Offer) bool { return !o.At.IsZero() })
}

// leaseFault sorts the refusals of a step.
func leaseFault(err error) error {
	switch {
	case errors.Is(err, task.ErrNotHeld), errors.Is(err, task.ErrExpired):
		return fmt.Errorf("%w: %w", ErrLease, err)
	case errors.Is(err, ErrNotWaiting), errors.Is(err, flow.ErrCalled):
		return err
	}
	return fmt.Errorf("%w: %w", ErrNotWaiting, err)
}
