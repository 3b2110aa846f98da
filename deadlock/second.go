package deadlock

import (
	"bytes"
	"strings"
	"sync"

	"github.com/petermattis/goid"
	library "github.com/sasha-s/go-deadlock"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/sim/inventory"
)

// opinion is a lock of go-deadlock that is taken before a mutex of the program and freed before it, so that the library sees the
// same waits. A lock that was got by an attempt has none: the library would have to wait for it.
type opinion interface {
	take(read bool)
	free(read bool)
}

type exclusive struct{ mu library.Mutex }

func (x *exclusive) take(bool) { x.mu.Lock() }
func (x *exclusive) free(bool) { x.mu.Unlock() }

type shared struct{ mu library.RWMutex }

func (x *shared) take(read bool) {
	if read {
		x.mu.RLock()
		return
	}
	x.mu.Lock()
}

func (x *shared) free(read bool) {
	if read {
		x.mu.RUnlock()
		return
	}
	x.mu.Unlock()
}

func newOpinion(kind sched.Kind) opinion {
	configure.Do(func() {
		library.Opts.DeadlockTimeout = 0 // no verdict by the clock
		library.Opts.LogBuf = &heard.text
		library.Opts.OnPotentialDeadlock = heard.report
	})
	if kind == sched.KindRWMutex {
		return &shared{}
	}
	return &exclusive{}
}

// configure sets the library's options, which are global, once.
var configure sync.Once

// heard is where the library writes. It calls back without arguments while it holds its own lock, so nothing here takes another.
var heard listener

type listener struct {
	text bytes.Buffer // guarded by the lock that the library holds while it writes and calls back

	mu   sync.Mutex // guards the rest
	from map[int64]*monitor
	said map[*monitor][]inventory.Verdict
}

// report takes what the library has written for the monitor whose task it called back in.
func (l *listener) report() {
	text := l.text.String()
	l.text.Reset()
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.from[goid.Get()]
	if m == nil {
		return // the lock of another program
	}
	id := "second order"
	if strings.Contains(text, "Recursive locking") {
		id = "second recursive"
	}
	l.said[m] = append(l.said[m], inventory.Verdict{Kind: inventory.KindDeadlock, ID: id, Message: text})
	select {
	case m.opined <- struct{}{}:
	default:
	}
}

// listen makes m the one who is told about the calling goroutine.
func (l *listener) listen(gid int64, m *monitor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.from == nil {
		l.from, l.said = map[int64]*monitor{}, map[*monitor][]inventory.Verdict{}
	}
	l.from[gid] = m
}

func (l *listener) forget(gid int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.from, gid)
}

// take returns what the library said about m, once.
func (l *listener) take(m *monitor) []inventory.Verdict {
	l.mu.Lock()
	defer l.mu.Unlock()
	said := l.said[m]
	delete(l.said, m)
	return said
}

// opine takes the second opinion of a lock that t is about to take.
func (m *monitor) opine(t *task, o *object, op sched.Op) {
	if o.second == nil || op != sched.OpLock && op != sched.OpRLock {
		return
	}
	gid := goid.Get()
	heard.listen(gid, m)
	o.second.take(op == sched.OpRLock)
	heard.forget(gid)
	m.mu.Lock()
	t.shadowed = o
	m.mu.Unlock()
}
