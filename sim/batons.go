//go:build !race

package sim

import "unsafe"

// batons is true in a simulator that hands over without telling Go's race detector: see the file for that build.
const batons = false

// baton is that build's part of a slot.
type baton struct{}

// raceState is that build's part of a world.
type raceState struct{} //nolint:unused // the other build has the same world

func (c *coroutine) startWithBaton() {}

func (c *coroutine) endsAt(*slot) {}

func (from *slot) handBaton(*slot) {}

func (w *World) raceFound() bool { return false }

func (w *World) raceBegins() {}

func (w *World) raceEnds() {}

func (w *World) retire(*coroutine) {}

func (w *World) drained() {}

func raceRelease(unsafe.Pointer) {}

func raceAcquire(unsafe.Pointer) {}

func (w *World) raceUnwinds() {}

func quietly(f func()) { f() }
