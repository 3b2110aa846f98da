package trace

import (
	"errors"
	"fmt"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

// MaxStates bounds the states that are consistent with what was seen; MaxSilent the silent steps between two events.
const (
	MaxStates = 4096
	MaxSilent = 16
)

// ErrTooManyStates means that too much is hidden: the events say too little to check.
var ErrTooManyStates = errors.New("trace: too many states are consistent with the events")

// Illegal is the error of an event that the specification does not allow, or of a state that breaks one of its
// invariants.
type Illegal struct {
	Spec   string
	Action string // or the invariant
	Text   string // what fails, with values, and the state before
}

// Error renders the explanation.
func (e *Illegal) Error() string { return fmt.Sprintf("%s.%s: %s", e.Spec, e.Action, e.Text) }

// ID returns "Spec.Action", which verdicts name.
func (e *Illegal) ID() string { return e.Spec + "." + e.Action }

// Run checks the events of one execution. It belongs to one goroutine at a time.
type Run struct {
	spec   *Spec
	c      *eval.Ctx
	states []reached
	next   []reached
	before eval.Vars           // what changed on the way to the state whose successors are being added
	seen   map[uint64]struct{} // hashes of next, once it has more than one state
	err    error
	emit   func(c *eval.Ctx) bool
}

// reached is a state that is consistent with what was seen.
type reached struct {
	vals    []value.Value
	changed eval.Vars // the variables that changed since invariants were last evaluated on the way to it
}

// Start begins with the initial states that agree with what is shown.
func (s *Spec) Start(shown State) (*Run, error) {
	r := &Run{spec: s, c: eval.NewCtx(&eval.Run{Prog: s.prog}, len(s.Vars)), seen: map[uint64]struct{}{}}
	r.emit = func(c *eval.Ctx) bool { return r.keep(c.Next) }
	copy(r.c.Cur, shown)
	r.before = eval.AllVars
	err := s.init.Each(r.c, func(c *eval.Ctx) bool { return r.keep(c.Cur) })
	if err = errors.Join(err, r.err); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Name, err)
	}
	if len(r.next) == 0 {
		return nil, &Illegal{s.Name, "Init", "no initial state has the values shown:\n" + s.text(shown)}
	}
	r.turn()
	return r, r.judge()
}

// Step takes one event: the action with its arguments leads to a state with the values shown. The error is *Illegal, or
// says that the specification could not be evaluated. After an error the run is over.
func (r *Run) Step(action string, args []value.Value, shown State) error {
	st := r.spec.steps[action]
	if st == nil {
		return &Illegal{r.spec.Name, action, "the specification has no such action"}
	}
	if r.spec.silent != nil {
		if err := r.silently(); err != nil {
			return err
		}
	}
	for _, cur := range r.states {
		r.before = cur.changed
		if err := r.take(st, cur.vals, args, shown); err != nil {
			return err
		}
	}
	if len(r.next) == 0 {
		return r.spec.explain(action, args, shown, r.states[0].vals, len(r.states))
	}
	r.turn()
	r.spec.taken[action].Add(1)
	return r.judge()
}

// take adds the successors of cur under st that have the values shown to next.
func (r *Run) take(st *eval.Step, cur, args []value.Value, shown State) error {
	r.c.Cur = cur
	if shown == nil {
		clear(r.c.Next)
	} else {
		for i, v := range shown {
			// What did not change is the same object again: comparing it, and its parts, takes no look inside.
			if v != nil && value.Identical(v, cur[i]) {
				v = cur[i]
			}
			r.c.Next[i] = v
		}
	}
	if err := st.Each(r.c, args, r.emit); err != nil {
		return fmt.Errorf("take %s.%s: %w", r.spec.Name, st.Name, err)
	}
	return r.err
}

// silently adds what silent steps lead to.
func (r *Run) silently() error {
	for range MaxSilent {
		before := len(r.states)
		for _, cur := range r.states {
			r.c.Cur, r.before = cur.vals, cur.changed
			r.keep(cur.vals)
		}
		for _, cur := range r.states {
			r.before = cur.changed
			if err := r.take(r.spec.silent, cur.vals, nil, nil); err != nil {
				return err
			}
		}
		r.turn()
		if len(r.states) == before {
			break
		}
	}
	return nil
}

// keep adds a state to next, unless it is there. It reports true to stop the enumeration, after an error.
func (r *Run) keep(vals []value.Value) bool {
	for i, v := range vals {
		if v == nil {
			r.err = &Illegal{r.spec.Name, r.spec.Vars[i], "the action does not assign this variable"}
			return true
		}
	}
	if len(r.next) > 0 {
		if len(r.seen) == 0 {
			r.seen[hash(r.next[0].vals)] = struct{}{}
		}
		h := hash(vals)
		if _, again := r.seen[h]; again {
			return false
		}
		r.seen[h] = struct{}{}
	}
	if len(r.next) >= MaxStates {
		r.err = ErrTooManyStates
		return true
	}
	changed := r.before
	for i, v := range vals {
		if !value.Same(v, r.c.Cur[i]) {
			changed |= eval.VarSet(i)
		}
	}
	r.next = append(r.next, reached{append(make([]value.Value, 0, len(vals)), vals...), changed})
	return false
}

// turn makes next the states.
func (r *Run) turn() {
	r.states, r.next = r.next, r.states[:0]
	clear(r.seen)
}

// hash is a fingerprint of a state.
func hash(vals []value.Value) uint64 {
	var h uint64
	for i, v := range vals {
		h = value.Mix(h ^ v.Hash() + uint64(i))
	}
	return h
}

// judge drops the states that break an invariant; when none is left, that is an illegal event too.
func (r *Run) judge() error {
	for _, x := range r.spec.invariants {
		n := 0
		var broken []value.Value
		for _, s := range r.states {
			r.c.Cur = s.vals
			ok, err := x.parts.Hold(r.c, s.changed)
			switch {
			case err != nil:
				return fmt.Errorf("evaluate invariant %s.%s: %w", r.spec.Name, x.name, err)
			case ok:
				r.states[n] = s
				n++
			default:
				broken = s.vals
			}
		}
		if n == 0 {
			return &Illegal{r.spec.Name, x.name, "the invariant does not hold in the state\n" + r.spec.text(broken)}
		}
		r.states = r.states[:n]
	}
	for i := range r.states {
		r.states[i].changed = 0
	}
	return nil
}

// States returns how many states are consistent with the events so far.
func (r *Run) States() int { return len(r.states) }
