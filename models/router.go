package models

// Router is the reference of L2: lanes that requests arrive on in turn, and the one change of lanes that each may ask for.
type Router struct {
	Lanes    int
	Arrivals int
	Closed   bool
}

// RouterAnswer is how a request ends.
type RouterAnswer uint8

// The answers. A request that was refused for its second hop ran where it asked; one that met closed lanes ran nowhere.
const (
	RouterDone RouterAnswer = iota
	RouterSecondHop
	RouterStopped
)

// Deliver returns the lanes that a request meets which asks to hop that often, and how it ends. Owner is the lane of its instance.
func (r *Router) Deliver(owner, hops int) ([]int, RouterAnswer) {
	arrival := r.Arrivals % r.Lanes
	r.Arrivals++
	if r.Closed || hops == 0 {
		return r.Straight(arrival, 0)
	}
	_, answer := r.Straight(owner, hops-1)
	return []int{arrival, owner}, answer
}

// Straight is Deliver of a request that goes to the lane of its instance at once.
func (r *Router) Straight(owner, hops int) ([]int, RouterAnswer) {
	switch {
	case r.Closed:
		return nil, RouterStopped
	case hops > 0:
		return []int{owner}, RouterSecondHop
	default:
		return []int{owner}, RouterDone
	}
}
