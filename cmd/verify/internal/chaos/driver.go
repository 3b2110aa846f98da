package chaos

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// driver carries out the plan of a run.
type driver struct {
	world   *world
	history *History
	plan    []Event

	mu       sync.Mutex // guards the rest
	wrong    []string
	versions Versions
}

func (d *driver) fault(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wrong = append(d.wrong, fmt.Sprintf(format, args...))
}

// tasks is a group whose end can be waited for with patience.
type tasks struct{ sync.WaitGroup }

func (t *tasks) within(patience time.Duration) bool {
	ended := make(chan struct{})
	go func() {
		t.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-time.After(patience):
		return false
	}
}

// carryOut lets every event happen at its time, or when its replica is whole again: events of one replica never overlap, those of
// different ones do.
func (d *driver) carryOut(ctx context.Context, length time.Duration) {
	began := time.Now()
	var all sync.WaitGroup
	for _, e := range d.plan {
		if pause(ctx, time.Until(began.Add(e.At))) != nil {
			break
		}
		all.Go(func() {
			if err := d.happen(ctx, e); err != nil && ctx.Err() == nil {
				d.fault("%v: %v", e, err)
			}
		})
	}
	all.Wait()
	_ = pause(ctx, time.Until(began.Add(length))) // the caller sees that ctx has ended
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// happen is one event, from its beginning until its replica is whole again.
func (d *driver) happen(ctx context.Context, e Event) error {
	r := d.world.replicas[e.Replica]
	if e.Fault == Activate {
		return errors.Join(d.dieActivating(ctx, r, e.Point), d.activate(ctx, e.Replica))
	}
	if e.Fault == Crash {
		return d.world.crash(ctx)
	}
	r.busy.Lock() // an earlier event took longer than it was planned to
	defer r.busy.Unlock()
	if !r.running() {
		return fmt.Errorf("replica %s ended by itself:\n%s", r.name, r.log())
	}
	switch e.Fault {
	case Kill:
		return d.again(ctx, r, e, r.Kill)
	case Restart:
		return d.again(ctx, r, e, func() error {
			r.Package = d.world.packages[1]
			return r.Stop(ctx)
		})
	case Pause:
		err := r.Signal(syscall.SIGSTOP)
		return errors.Join(err, pause(ctx, e.For), r.Signal(syscall.SIGCONT))
	default:
	}
	switch e.Fault {
	case Cut:
		r.proxy.Cut()
	case Delay:
		r.proxy.Delay(e.Late)
	case Mute:
		r.proxy.Mute()
	default:
		r.proxy.HalfClose(e.Fault == HalfTo)
	}
	err := pause(ctx, e.For)
	r.proxy.Heal()
	return err
}

// again ends a replica and starts it after the time of the event.
func (d *driver) again(ctx context.Context, r *replica, e Event, end func() error) error {
	if err := end(); err != nil {
		return fmt.Errorf("it ended with %w:\n%s", err, r.log())
	}
	if err := pause(ctx, e.For); err != nil {
		return err
	}
	d.world.up.RLock()
	defer d.world.up.RUnlock()
	return d.world.start(ctx, r)
}

// applyTime bounds one attempt to activate, applyAttempts the attempts: each at the next replica.
const (
	applyTime     = 20 * time.Second
	applyAttempts = 20
)

// dieActivating activates on a replica that dies at a point of it. Before the decision is durable nothing may be left of the attempt,
// after it the second version is active, whoever starts with which folder.
func (d *driver) dieActivating(ctx context.Context, r *replica, point string) error {
	r.busy.Lock()
	defer r.busy.Unlock()
	d.world.up.RLock() // who is to die at its point must get there
	defer d.world.up.RUnlock()
	env := r.Env
	r.Env = append(env[:len(env):len(env)], "MILLRACE_FAILPOINT="+point+":1")
	err := errors.Join(r.Kill(), d.world.start(ctx, r))
	r.Env = env
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.versions.Before = d.history.Mark()
	d.mu.Unlock()
	out, err := d.apply(ctx, r)
	if err == nil {
		return fmt.Errorf("replica %s was to die at %s, and answered %s", r.name, point, out)
	}
	select {
	case <-r.Gone():
	case <-time.After(applyTime):
		return fmt.Errorf("replica %s was to die at %s, and lives: %w: %s", r.name, point, err, out)
	}
	active, err := d.world.active(ctx)
	want := d.world.identities[1]
	if point == Points()[0] {
		want = d.world.identities[0]
	}
	if err == nil && active != want {
		err = fmt.Errorf("after a death at %s the active deployment is %s, want %s", point, active, want)
	}
	return errors.Join(err, r.Kill(), d.world.start(ctx, r))
}

// apply is one attempt.
func (d *driver) apply(ctx context.Context, r *replica) (said string, err error) {
	attempt, stop := context.WithTimeout(ctx, applyTime)
	defer stop()
	out, err := exec.CommandContext(attempt, d.world.binary, "apply", "--node", "http://"+r.Address, d.world.packages[1]).CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// activate is what an operator does: millrace apply, until a node has answered that it is done.
func (d *driver) activate(ctx context.Context, replica int) error {
	var said []string
	for n := range applyAttempts {
		r := d.world.replicas[(replica+n)%len(d.world.replicas)]
		out, err := d.apply(ctx, r)
		if err == nil {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.versions.After = d.history.Mark()
			return nil
		}
		said = append(said, fmt.Sprintf("%s: %v: %s", r.name, err, out))
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("not activated in %d attempts:\n%s", applyAttempts, strings.Join(said, "\n"))
}

// whole ends all faults: every replica runs, and every connection passes.
func (d *driver) whole(ctx context.Context) error {
	for _, r := range d.world.replicas {
		r.proxy.Heal()
		if !r.running() {
			if err := d.world.start(ctx, r); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}
