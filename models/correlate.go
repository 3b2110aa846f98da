package models

// Correlation is the reference of L8: instances, each parked for some (channel, key), and what a key resolves to. A resolved
// target may be used later; it holds only if the same wait of the same instance is still what the key resolves to.
type Correlation struct {
	Waits map[CorrelationKey]CorrelationWait
	Last  map[string]uint64 // generations by running instance
}

// CorrelationKey is what a message names.
type CorrelationKey struct{ Channel, Key string }

// CorrelationWait is what a key resolves to.
type CorrelationWait struct {
	Instance   string
	Generation uint64
}

// NewCorrelation returns running instances that wait for nothing.
func NewCorrelation(instances ...string) *Correlation {
	c := &Correlation{Waits: map[CorrelationKey]CorrelationWait{}, Last: map[string]uint64{}}
	for _, i := range instances {
		c.Last[i] = 0
	}
	return c
}

// Park is a step of a running instance that closes all its waits and opens others. It is refused, and changes nothing, when
// another instance holds one of the keys or when a key stands twice. Without keys the instance ends.
func (c *Correlation) Park(instance string, keys []CorrelationKey) bool {
	last, running := c.Last[instance]
	if !running {
		return false
	}
	twice := map[CorrelationKey]bool{}
	for _, k := range keys {
		if w, held := c.Waits[k]; twice[k] || (held && w.Instance != instance) {
			return false
		}
		twice[k] = true
	}
	for k, w := range c.Waits {
		if w.Instance == instance {
			delete(c.Waits, k)
		}
	}
	if len(keys) == 0 {
		delete(c.Last, instance)
		return true
	}
	for i, k := range keys {
		c.Waits[k] = CorrelationWait{instance, last + 1 + uint64(i)}
	}
	c.Last[instance] = last + uint64(len(keys))
	return true
}

// Holds reports whether a target that the key resolved to before may be resumed now.
func (c *Correlation) Holds(k CorrelationKey, target CorrelationWait) bool {
	return c.Waits[k] == target
}
