package check

import (
	"errors"
	"fmt"
	"strings"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

// errReplay says that a trace could not be rebuilt, which a specification that draws at random causes.
var errReplay = errors.New("trace cannot be rebuilt: the specification is not deterministic")

// path returns the numbers of the states from an initial state to id.
func (s *search) path(id uint32) []uint32 {
	var rev []uint32
	all := s.allRows()
	for id != noState && len(rev) <= s.table.len() {
		rev = append(rev, id)
		id = all.get(id).pred
	}
	for i, j := 0, len(rev)-1; i < j; i, j = i+1, j-1 {
		rev[i], rev[j] = rev[j], rev[i]
	}
	return rev
}

// allRows returns the states by number; when they have to be collected, once after the search.
func (s *search) allRows() *rows {
	if s.table.live != nil {
		return s.table.live
	}
	if s.rows == nil {
		s.rows = s.table.byNumber()
	}
	return s.rows
}

// replay rebuilds the states along a path; a step to the same number may be a stutter.
func (s *search) replay(path []uint32) ([]State, error) {
	c := s.newCtx()
	var out []State
	all := s.allRows()
	for i, id := range path {
		want := all.get(id).fp
		var st *State
		match := func(vals []value.Value, action, place string) bool {
			side := s.newCtx()
			side.Level = i + 1
			fp, err := s.fingerprint(side, vals)
			if err != nil || key(fp) != want {
				return false
			}
			st = &State{Action: action, Place: place, vals: append([]value.Value(nil), vals...)}
			return true
		}
		var err error
		c.Level = max(i, 1)
		if i == 0 {
			clear(c.Cur)
			err = s.m.init.Each(c, func(c *eval.Ctx) bool { return match(c.Cur, "Initial predicate", "") })
		} else {
			if id == path[i-1] && match(out[i-1].vals, "Stuttering", "") {
				out = append(out, *st)
				continue
			}
			c.Cur = out[i-1].vals
			c.Action = -1
			clear(c.Next)
			err = s.m.next.Each(c, func(c *eval.Ctx) bool {
				return match(c.Next, s.actionName(c.Action), s.actionPlace(c.Action))
			})
		}
		if err != nil {
			return out, err
		}
		if st == nil {
			return out, errReplay
		}
		out = append(out, *st)
	}
	return out, nil
}

func (s *search) actionPlace(i int) string {
	if s.m.next == nil || i < 0 || i >= len(s.m.next.Infos) {
		return ""
	}
	in := s.m.next.Infos[i]
	return in.File + ":" + in.Pos.String()
}

// explain builds the trace of the violation and names the conjunct that fails.
func (s *search) explain() {
	f := s.found
	if s.res.Trace == nil {
		var path []uint32
		switch {
		case f.id != noState:
			path = s.path(f.id)
		case f.from != noState:
			path = s.path(f.from)
		}
		trace, err := s.replay(path)
		if err != nil && f.err == nil {
			s.res.Warnings = append(s.res.Warnings, err.Error())
		}
		if f.id == noState && f.last != nil {
			trace = append(trace, s.lastState(trace, f.last))
		}
		s.res.Trace = trace
	}
	if f.term != nil && f.err == nil {
		s.res.Conjunct = s.failing(*f.term, 0)
	}
	s.present()
}

// lastState finds the action that leads to the values of a state outside the table.
func (s *search) lastState(trace []State, vals []value.Value) State {
	st := State{Action: "Next", vals: vals}
	if len(trace) == 0 {
		st.Action = "Initial predicate"
		return st
	}
	c := s.newCtx()
	c.Cur, c.Level = trace[len(trace)-1].vals, len(trace)
	err := s.m.next.Each(c, func(c *eval.Ctx) bool {
		for i, v := range c.Next {
			if v == nil || vals[i] == nil || v.Hash() != vals[i].Hash() {
				return false
			}
		}
		st.Action, st.Place = s.actionName(c.Action), s.actionPlace(c.Action)
		return true
	})
	if err != nil {
		st.Action = "Next"
	}
	return st
}

// failing descends into the conjuncts of a formula that is false and returns the innermost one.
func (s *search) failing(t eval.Term, depth int) string {
	c := s.newCtx()
	n := len(s.res.Trace)
	if n > 0 {
		c.Cur = s.res.Trace[n-1].vals
		c.Level = n
	}
	if n > 1 && s.found.id == noState {
		c.Cur, c.Next = s.res.Trace[n-2].vals, s.res.Trace[n-1].vals
		c.Level = n - 1
	}
	for range 50 {
		next, ok := s.falsePart(c, t)
		if !ok {
			break
		}
		t = next
	}
	return fmt.Sprintf("%s: %s", placeOf(t), strings.Join(strings.Fields(t.String()), " "))
}

func (s *search) falsePart(c *eval.Ctx, t eval.Term) (eval.Term, bool) {
	for _, part := range s.m.Prog.Parts(t) {
		x, err := s.m.Prog.Compile(part)
		if err != nil {
			continue
		}
		if ok, err := x.Holds(c); err == nil && !ok {
			return part, true
		}
	}
	return t, false
}

// present fills in the variables of the trace, or what the ALIAS makes of them.
func (s *search) present() {
	for i := range s.res.Trace {
		st := &s.res.Trace[i]
		if s.m.alias != nil {
			if vars, err := s.aliased(i); err == nil {
				st.Vars = vars
			} else {
				s.res.Warnings = append(s.res.Warnings, "ALIAS: "+err.Error())
			}
		}
		if st.Vars == nil {
			for j, name := range s.m.Prog.Vars {
				if st.vals[j] != nil {
					st.Vars = append(st.Vars, Var{Name: name, Value: st.vals[j].String(), v: st.vals[j]})
				}
			}
		}
		if i > 0 {
			mark(s.res.Trace[i-1].Vars, st.Vars)
		}
	}
}

func mark(before, now []Var) {
	for i := range now {
		now[i].Changed = i >= len(before) || before[i].Value != now[i].Value
	}
}

func (s *search) aliased(i int) ([]Var, error) {
	c := s.newCtx()
	c.Cur, c.Level = s.res.Trace[i].vals, i+1
	c.Next = c.Cur
	if i+1 < len(s.res.Trace) {
		c.Next = s.res.Trace[i+1].vals
	}
	v, err := s.m.alias.Eval(c)
	if err != nil {
		return nil, err
	}
	f, ok := v.(*value.Fcn)
	if !ok || !f.IsRecord() {
		return nil, fmt.Errorf("expected a record, found %s", value.Short(v))
	}
	var out []Var
	for i, x := range f.Vals {
		out = append(out, Var{Name: f.Key(i).(*value.Atom).Name, Value: x.String(), v: x})
	}
	return out, nil
}

// currentTrace answers the operator Trace of module TLCExt: the states up to the one in c.
func (s *search) currentTrace(c *eval.Ctx) []value.Value {
	fp, err := s.fingerprint(s.newCtx(), c.Cur)
	if err != nil {
		return nil
	}
	e, ok := s.table.find(fp)
	if !ok || s.table.live == nil {
		return nil
	}
	states, err := s.replay(s.path(e.id))
	if err != nil {
		return nil
	}
	var out []value.Value
	for _, st := range states {
		out = append(out, s.stateRecord(st.vals))
	}
	return out
}

func (s *search) stateRecord(vals []value.Value) value.Value {
	var pairs []any
	for i, name := range s.m.Prog.Vars {
		pairs = append(pairs, name, vals[i])
	}
	return s.record(pairs...)
}

// Text renders the trace for people; changed variables are marked with an asterisk.
func (r *Result) Text() string {
	var b strings.Builder
	for i, st := range r.Trace {
		fmt.Fprintf(&b, "State %d: %s", i+1, st.Action)
		if st.Place != "" {
			fmt.Fprintf(&b, " (%s)", st.Place)
		}
		if i == r.Loop {
			b.WriteString("  <-- the behavior returns here")
		}
		b.WriteString("\n")
		for _, v := range st.Vars {
			m := "  "
			if v.Changed {
				m = "* "
			}
			fmt.Fprintf(&b, "%s%s = %s\n", m, v.Name, v.Value)
		}
	}
	switch {
	case r.Stutters:
		b.WriteString("The behavior stays in its last state for ever.\n")
	case r.Loop >= 0:
		fmt.Fprintf(&b, "Back to state %d.\n", r.Loop+1)
	}
	return b.String()
}
