package pebble

import (
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/millrace-dev/millrace/core/store"
)

// syncer tells commits when they are durable. Commits reach the log in the order of their positions, because they are
// handed over inside the commit section, so a sync that covers one covers all before it, and one goroutine can wait
// for them in turn. It is a goroutine of its own so that nobody else waits inside of the library: after a
// halt that wait never ends.
//
// Invariants: everything up to durable is synced; jobs are in the order of their positions.
type syncer struct {
	f       *fence
	jobs    chan *job
	durable atomic.Uint64
	after   func() // failpoint
	ended   chan struct{}

	mu   sync.Mutex
	last *job // newest job handed over; guarded by mu
}

// job is one commit whose sync was requested.
type job struct {
	position store.Ticket
	batch    *pebble.Batch
	done     chan struct{} // closed when everything up to position is durable
}

// maxJobs bounds the commits that wait for their sync; the next one waits in the commit section.
const maxJobs = 4096

func newSyncer(f *fence, after func()) *syncer {
	s := &syncer{f: f, jobs: make(chan *job, maxJobs), after: after, ended: make(chan struct{})}
	go s.run()
	return s
}

func (s *syncer) run() {
	defer close(s.ended)
	for j := range s.jobs {
		if err := j.batch.SyncWait(); err != nil {
			s.f.halt(err)
		}
		if halted, _ := s.f.isHalted(); halted {
			return // jobs left are never done: their waiters see the halt
		}
		s.durable.Store(uint64(j.position))
		s.after()
		close(j.done)
		_ = j.batch.Close() // an applied batch has no error left to report
	}
}

// add hands a commit over. The caller holds the commit section.
func (s *syncer) add(position store.Ticket, batch *pebble.Batch) *job {
	j := &job{position: position, batch: batch, done: make(chan struct{})}
	s.mu.Lock()
	s.last = j
	s.mu.Unlock()
	select {
	case s.jobs <- j:
	case <-s.f.halted:
	}
	return j
}

// covering returns a job under way that makes t durable, or nil.
func (s *syncer) covering(t store.Ticket) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != nil && s.last.position >= t {
		return s.last
	}
	return nil
}

func (s *syncer) covers(t store.Ticket) bool { return uint64(t) <= s.durable.Load() }

// close ends the goroutine. The caller holds the commit section, so no job comes any more.
func (s *syncer) close() {
	close(s.jobs)
	<-s.ended
}
