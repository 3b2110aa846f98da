package deploy

// Deployment is one package as lanes use it. Its definitions are immutable.
type Deployment[D any] struct {
	// ID is the content hash of the package.
	ID          string
	Definitions D
}

// View is what all lanes see at once. It is immutable.
type View[D any] struct {
	// Number counts the decisions that led here, activations and retirements alike.
	Number uint64
	// Active is the deployment that spawns.
	Active Deployment[D]
	// Draining are the deployments whose instances are still reachable, newest first: the tail of correlation.
	Draining []Deployment[D]
}

// All returns the active deployment and those that drain, newest first.
func (v *View[D]) All() []Deployment[D] {
	return append([]Deployment[D]{v.Active}, v.Draining...)
}

// Find returns a deployment of the view.
func (v *View[D]) Find(id string) (d Deployment[D], found bool) {
	for _, d := range v.All() {
		if d.ID == id {
			return d, true
		}
	}
	return d, false
}

// With is the view after d became active. One that drains may come back: that is a rollback.
func (v *View[D]) With(d Deployment[D]) *View[D] {
	next := &View[D]{Number: v.Number + 1, Active: d}
	for _, x := range v.All() {
		if x.ID != d.ID {
			next.Draining = append(next.Draining, x)
		}
	}
	return next
}

// retired is the view without a deployment that drained.
func (v *View[D]) retired(id string) *View[D] {
	next := &View[D]{Number: v.Number + 1, Active: v.Active}
	for _, x := range v.Draining {
		if x.ID != id {
			next.Draining = append(next.Draining, x)
		}
	}
	return next
}
