package sched

import "sync"

// Mutex is a mutual exclusion lock.
type Mutex struct {
	h  *Hook
	mu sync.Mutex
}

// NewMutex returns an unlocked mutex.
func NewMutex(s Scheduler, name string) (m Mutex) {
	m.h = s.object(KindMutex, name, 0)
	return
}

// Lock waits until the mutex is free and takes it. The wait has no bound of its own: whoever holds a
// mutex must not wait for anything else.
func (m *Mutex) Lock() {
	if m.h != nil {
		m.lock()
		return
	}
	m.mu.Lock()
}

// TryLock takes the mutex if it is free, and reports whether it did.
func (m *Mutex) TryLock() bool {
	if m.h != nil {
		return m.tryLock()
	}
	return m.mu.TryLock()
}

// Unlock frees the mutex. It is a fatal error when it is not locked.
func (m *Mutex) Unlock() {
	if m.h != nil {
		m.unlock()
		return
	}
	m.mu.Unlock()
}

// Held reports whether somebody holds the mutex, without announcing a read. For invariants only: an
// invariant over guarded state holds where its guard is free.
func (m *Mutex) Held() bool {
	if m.mu.TryLock() {
		m.mu.Unlock()
		return false
	}
	return true
}

func (m *Mutex) lock() {
	m.h.B.Block(Arm{H: m.h, Op: OpLock})
	m.mu.Lock()
	m.h.B.Outcome(m.h, OpLock, 1)
}

func (m *Mutex) tryLock() bool {
	m.h.B.Point(m.h, OpTryLock)
	ok := m.mu.TryLock()
	m.h.B.Outcome(m.h, OpTryLock, bit(ok))
	return ok
}

func (m *Mutex) unlock() {
	m.h.B.Point(m.h, OpUnlock)
	m.mu.Unlock()
	m.h.B.Outcome(m.h, OpUnlock, 1)
}

// RWMutex is a lock for one writer or many readers. As in the standard library a waiting writer keeps new
// readers out, so a task must not take a read lock twice.
type RWMutex struct {
	h  *Hook
	mu sync.RWMutex
}

// NewRWMutex returns an unlocked lock.
func NewRWMutex(s Scheduler, name string) (m RWMutex) {
	m.h = s.object(KindRWMutex, name, 0)
	return
}

// Lock waits until no reader and no other writer holds the lock and takes it for writing.
func (m *RWMutex) Lock() {
	if m.h == nil {
		m.mu.Lock()
		return
	}
	m.h.B.Block(Arm{H: m.h, Op: OpIntend})
	m.h.B.Outcome(m.h, OpIntend, 1)
	m.h.B.Block(Arm{H: m.h, Op: OpLock})
	m.mu.Lock()
	m.h.B.Outcome(m.h, OpLock, 1)
}

// TryLock takes the lock for writing if nobody holds it, and reports whether it did.
func (m *RWMutex) TryLock() bool {
	if m.h == nil {
		return m.mu.TryLock()
	}
	if m.h.B.Try(Arm{H: m.h, Op: OpTryLock}).Index == NotReady {
		m.h.B.Outcome(m.h, OpTryLock, 0)
		return false
	}
	ok := m.mu.TryLock()
	m.h.B.Outcome(m.h, OpTryLock, bit(ok))
	return ok
}

// Unlock frees a lock taken for writing.
func (m *RWMutex) Unlock() {
	if m.h == nil {
		m.mu.Unlock()
		return
	}
	m.h.B.Point(m.h, OpUnlock)
	m.mu.Unlock()
	m.h.B.Outcome(m.h, OpUnlock, 1)
}

// RLock waits until no writer holds the lock or waits for it, and takes it for reading.
func (m *RWMutex) RLock() {
	if m.h == nil {
		m.mu.RLock()
		return
	}
	m.h.B.Block(Arm{H: m.h, Op: OpRLock})
	m.mu.RLock()
	m.h.B.Outcome(m.h, OpRLock, 1)
}

// TryRLock takes the lock for reading if that is possible at once, and reports whether it did.
func (m *RWMutex) TryRLock() bool {
	if m.h == nil {
		return m.mu.TryRLock()
	}
	if m.h.B.Try(Arm{H: m.h, Op: OpTryRLock}).Index == NotReady {
		m.h.B.Outcome(m.h, OpTryRLock, 0)
		return false
	}
	ok := m.mu.TryRLock()
	m.h.B.Outcome(m.h, OpTryRLock, bit(ok))
	return ok
}

// RUnlock frees a lock taken for reading.
func (m *RWMutex) RUnlock() {
	if m.h == nil {
		m.mu.RUnlock()
		return
	}
	m.h.B.Point(m.h, OpRUnlock)
	m.mu.RUnlock()
	m.h.B.Outcome(m.h, OpRUnlock, 1)
}
