// Package sched may do everything: it is the boundary.
package sched

import "sync"

// Mutex is a primitive.
type Mutex struct{ mu sync.Mutex }

// Lock locks.
func (m *Mutex) Lock() { m.mu.Lock() }

// Go starts f.
func Go(f func()) { go f() }
