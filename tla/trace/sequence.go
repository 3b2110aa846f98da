package trace

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/tla/eval"
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

// Urgent are events that the program tells by itself as soon as they are possible: no move makes them, and the next move comes
// when none is possible any more.
type Urgent []Event

// Graph is the part of a specification's state graph that moves reach.
type Graph struct {
	States int
	Edges  int
	out    [][]arc // by state, in the order of the moves
	spec   *Spec
}

type arc struct {
	move, to int
	told     []string // the actions of the move, and those that followed by themselves
}

// Knows reports whether an event is one of the specification: programs tell those of others, too.
func (g *Graph) Knows(action string) bool { return g.spec.steps[action] != nil }

// maxUrgent bounds the events that follow one move.
const maxUrgent = 64

// ErrGraph means that the graph is larger than its bound, that a move leads to several states, or that urgent events go on
// for ever.
var ErrGraph = errors.New("trace: the graph of moves cannot be covered")

// Explore returns the graph that moves span from the initial state with the values shown, of at most limit states.
func (s *Spec) Explore(shown State, moves []Move, urgent Urgent, limit int) (*Graph, error) {
	r, err := s.Start(shown)
	if err != nil {
		return nil, err
	}
	if len(r.states) != 1 {
		return nil, fmt.Errorf("%w: %d initial states", ErrGraph, len(r.states))
	}
	g := &Graph{spec: s}
	states := [][]value.Value{r.states[0].vals}
	number := map[uint64]int{hash(states[0]): 0}
	for at := 0; at < len(states); at++ {
		g.out = append(g.out, nil)
		for m, move := range moves {
			next, told, ok, err := r.move(states[at], move, urgent)
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
			g.out[at] = append(g.out[at], arc{m, to, told})
			g.Edges++
		}
	}
	g.States = len(states)
	return g, nil
}

// move takes all events of a move from one state, and then what is urgent. It reports whether the specification allows them.
func (r *Run) move(from []value.Value, m Move, urgent Urgent) (to []value.Value, told []string, ok bool, err error) {
	r.states = []reached{{vals: from}}
	for _, e := range m.Events {
		if ok, err := r.event(e); !ok || err != nil {
			return nil, nil, false, err
		}
		told = append(told, e.Action)
	}
	for follows := true; follows; {
		follows = false
		for _, e := range urgent {
			happened, err := r.event(e)
			if err != nil {
				return nil, nil, false, err
			}
			if happened {
				told, follows = append(told, e.Action), true
			}
		}
		if len(told) > maxUrgent {
			return nil, nil, false, fmt.Errorf("%w: move %s is followed by %d events", ErrGraph, m.Name, len(told))
		}
	}
	if len(r.states) != 1 {
		return nil, nil, false, fmt.Errorf("%w: move %s leads to %d states", ErrGraph, m.Name, len(r.states))
	}
	return r.states[0].vals, told, true, nil
}

// event takes one event in all states, and changes nothing when no state allows it.
func (r *Run) event(e Event) (happened bool, err error) {
	r.next, r.before = nil, eval.AllVars
	for _, cur := range r.states {
		if err := r.take(r.spec.steps[e.Action], cur.vals, e.Args, nil); err != nil {
			return false, err
		}
	}
	if len(r.next) > 0 {
		r.turn()
		happened = true
	}
	return happened, nil
}

// Taken is one move of a sequence with all events that it makes the program tell.
type Taken struct {
	Move   int
	Events []string
}

// Sequences returns sequences of moves that together take every edge of the graph. Each begins in the initial
// state; none is longer than length, but for what it takes to reach its first new edge.
func (g *Graph) Sequences(length int) [][]Taken {
	done := make([]int, g.States) // of each state, the edges taken; they are taken in order
	var all [][]Taken
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
				seq, at = append(seq, a.taken()), a.to
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
			seq = append(seq, a.taken())
		}
		all = append(all, seq)
	}
}

func (a arc) taken() Taken { return Taken{a.move, a.told} }

// toNew returns the shortest path from a state to one with an edge that was not taken, empty when it is that one, nil when
// there is none.
func (g *Graph) toNew(from int, done []int) (path []Taken, to int) {
	type step struct {
		before int
		took   Taken
	}
	came := map[int]step{from: {before: -1}}
	queue := []int{from}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if done[at] < len(g.out[at]) {
			path, to = []Taken{}, at
			for came[at].before >= 0 {
				path = append([]Taken{came[at].took}, path...)
				at = came[at].before
			}
			return path, to
		}
		for _, a := range g.out[at] {
			if _, seen := came[a.to]; !seen {
				came[a.to] = step{at, a.taken()}
				queue = append(queue, a.to)
			}
		}
	}
	return nil, 0
}

// Step is one call of a sequence, and the actions that it makes the program tell.
type Step[C any] struct {
	Call   C
	Events []string
}

// Plan is what a test makes of a specification: calls that cover every edge of the graph which they span.
type Plan[C any] struct {
	*Graph
	Sequences [][]Step[C]
}

// Planner collects the calls of a test with their moves. One call may have several, of which the state allows one.
type Planner[C any] struct {
	calls []C
	moves []Move
}

// Add says that a call can make the program tell these events. The name is that of the move, for errors.
func (p *Planner[C]) Add(name string, call C, events ...Event) {
	p.calls, p.moves = append(p.calls, call), append(p.moves, Move{Name: name, Events: events})
}

// Cover explores the graph that the calls span, and covers it with sequences of about the given length.
func (p *Planner[C]) Cover(s *Spec, shown State, urgent Urgent, limit, length int) (*Plan[C], error) {
	g, err := s.Explore(shown, p.moves, urgent, limit)
	if err != nil {
		return nil, err
	}
	plan := &Plan[C]{Graph: g}
	for _, taken := range g.Sequences(length) {
		var seq []Step[C]
		for _, x := range taken {
			seq = append(seq, Step[C]{p.calls[x.Move], x.Events})
		}
		plan.Sequences = append(plan.Sequences, seq)
	}
	return plan, nil
}
