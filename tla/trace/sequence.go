package trace

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/tla/value"
)

// Event is an action with its arguments.
type Event struct {
	Action string
	Args   []value.Value
}

// Move is what a test makes the program do in one go, with the events that it tells then.
type Move struct {
	Name   string
	Events []Event
}

// Graph is the part of a specification's state graph that moves reach.
type Graph struct {
	States int
	Edges  int
	out    [][]arc // by state, in the order of the moves
}

type arc struct{ move, to int }

// ErrGraph means that the graph is larger than its bound, or that a move leads to several states.
var ErrGraph = errors.New("trace: the graph of moves cannot be covered")

// Explore returns the graph that moves span from the initial state with the values shown, of at most limit states.
func (s *Spec) Explore(shown State, moves []Move, limit int) (*Graph, error) {
	r, err := s.Start(shown)
	if err != nil {
		return nil, err
	}
	if len(r.states) != 1 {
		return nil, fmt.Errorf("%w: %d initial states", ErrGraph, len(r.states))
	}
	g := &Graph{}
	states := [][]value.Value{r.states[0]}
	number := map[uint64]int{hash(states[0]): 0}
	for at := 0; at < len(states); at++ {
		g.out = append(g.out, nil)
		for m, move := range moves {
			next, ok, err := r.move(states[at], move)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			to, known := number[hash(next)]
			if !known {
				if to = len(states); to >= limit {
					return nil, fmt.Errorf("%w: more than %d states", ErrGraph, limit)
				}
				number[hash(next)] = to
				states = append(states, next)
			}
			g.out[at] = append(g.out[at], arc{m, to})
			g.Edges++
		}
	}
	g.States = len(states)
	return g, nil
}

// move takes all events of a move from one state. It reports whether the specification allows them.
func (r *Run) move(from []value.Value, m Move) (to []value.Value, ok bool, err error) {
	r.states = [][]value.Value{from}
	for _, e := range m.Events {
		before := r.states
		r.next = nil
		for _, cur := range before {
			if err := r.take(r.spec.steps[e.Action], cur, e.Args, nil); err != nil {
				return nil, false, err
			}
		}
		if len(r.next) == 0 {
			return nil, false, nil
		}
		r.turn()
	}
	if len(r.states) != 1 {
		return nil, false, fmt.Errorf("%w: move %s leads to %d states", ErrGraph, m.Name, len(r.states))
	}
	return r.states[0], true, nil
}

// Sequences returns sequences of moves, by index, that together take every edge of the graph. Each begins in the initial
// state; none is longer than length, but for what it takes to reach its first new edge.
func (g *Graph) Sequences(length int) [][]int {
	done := make([]int, g.States) // of each state, the edges taken; they are taken in order
	var all [][]int
	for {
		path, at := g.toNew(0, done)
		if path == nil {
			return all
		}
		seq := path
		for len(seq) < length {
			if done[at] < len(g.out[at]) {
				a := g.out[at][done[at]]
				done[at]++
				seq, at = append(seq, a.move), a.to
				continue
			}
			more, to := g.toNew(at, done)
			if more == nil || len(seq)+len(more) >= length {
				break
			}
			seq, at = append(seq, more...), to
		}
		if len(seq) == len(path) { // reached, and too long already
			a := g.out[at][done[at]]
			done[at]++
			seq = append(seq, a.move)
		}
		all = append(all, seq)
	}
}

// toNew returns the shortest path from a state to one with an edge that was not taken, empty when it is that one, nil when
// there is none.
func (g *Graph) toNew(from int, done []int) (path []int, to int) {
	type step struct{ before, move int }
	came := map[int]step{from: {-1, -1}}
	queue := []int{from}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if done[at] < len(g.out[at]) {
			path, to = []int{}, at
			for came[at].before >= 0 {
				path = append([]int{came[at].move}, path...)
				at = came[at].before
			}
			return path, to
		}
		for _, a := range g.out[at] {
			if _, seen := came[a.to]; !seen {
				came[a.to] = step{at, a.move}
				queue = append(queue, a.to)
			}
		}
	}
	return nil, 0
}
