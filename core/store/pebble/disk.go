package pebble

import "fmt"

// DiskFree returns the bytes that are free on the file system of the store.
func (e *Engine) DiskFree() (uint64, error) {
	usage, err := e.options.FS.GetDiskUsage(e.options.Dir)
	if err != nil {
		return 0, fmt.Errorf("read free space of %q: %w", e.options.Dir, err)
	}
	return usage.AvailBytes, nil
}

// LowWater says when a node refuses input because its disk is nearly full: before the log meets an error and halts the
// engine. Refusing ends only above Resume, so that a node does not change its mind with every record.
type LowWater struct {
	Refuse uint64 // bytes free; below it input is refused. 0 never refuses
	Resume uint64 // bytes free from which input is taken again; at least Refuse
}

// Validate refuses marks in the wrong order.
func (w LowWater) Validate() error {
	if w.Resume < w.Refuse {
		return fmt.Errorf("low water: resume at %d bytes is below refuse at %d", w.Resume, w.Refuse)
	}
	return nil
}

// Refuses returns whether input is refused with that many bytes free, given whether it was refused until now.
func (w LowWater) Refuses(free uint64, refusing bool) bool {
	if refusing {
		return free < w.Resume
	}
	return free < w.Refuse
}
