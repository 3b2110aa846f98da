package sched_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

// patience bounds every wait of a test on the real runtime; it decides nothing but a failure.
const patience = 20 * time.Second

// A signal that comes when its waiter was woken already takes nothing from the waiter after it.
func TestLateSignalsCostNoWaiter(t *testing.T) {
	s := sched.Scheduler{}
	m := sched.NewMutex(s, "m")
	c := sched.NewCond(s, "c", &m)
	for what, late := range map[string]func(){"signal": c.SignalLate, "broadcast": c.BroadcastLate} { //order:each is judged alone
		late()
		woken := make(chan struct{})
		go func() {
			m.Lock()
			c.Wait()
			m.Unlock()
			close(woken)
		}()
		for end := time.Now().Add(patience); c.Waiting() == 0 && time.Now().Before(end); {
			runtime.Gosched()
		}
		m.Lock() // the waiter is past its registration
		c.Signal()
		m.Unlock()
		select {
		case <-woken:
		case <-time.After(patience):
			t.Fatalf("after a late %s nobody wakes the next waiter", what)
		}
	}
}

// A scope that was closed leaves no clock behind, which would keep it until its time is over.
func TestClosedScopeStopsItsClock(t *testing.T) {
	top := sched.Scheduler{}.NewScope("top")
	for range 3 {
		k := top.ChildTimeout("timed", time.Hour)
		k.Close()
		if k.Armed() {
			t.Error("the clock of a closed scope goes on")
		}
	}
	if n := top.Children(); n != 0 {
		t.Errorf("%d closed scopes are kept by the one above", n)
	}
}
