package trace

import (
	"fmt"
	"strings"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/value"
)

// maxNesting bounds how deep an explanation follows a formula.
const maxNesting = 12

// explain says why no state allows the step. With several states it explains the first.
func (s *Spec) explain(action string, args []value.Value, shown State, first []value.Value, states int) error {
	s.explaining.Lock()
	defer s.explaining.Unlock()
	x := explainer{spec: s, cur: first, shown: shown}
	st := s.steps[action]
	var b strings.Builder
	fmt.Fprintf(&b, "%s(", action)
	for i, a := range args {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(a.String())
	}
	b.WriteString(") is not allowed")
	if states > 1 {
		fmt.Fprintf(&b, " in any of %d states; in the first of them", states)
	}
	b.WriteString("\n" + x.failing(s.prog.Body(st, args), nil, 0))
	b.WriteString("\nstate before\n" + s.text(first))
	return &Illegal{s.Name, action, b.String()}
}

// text renders a state; variables that are not shown are left out.
func (s *Spec) text(vals []value.Value) string {
	var b strings.Builder
	for i, v := range vals {
		if v != nil {
			fmt.Fprintf(&b, "  %s = %s\n", s.Vars[i], brief(v))
		}
	}
	return b.String()
}

// manyKeys is the size from which a function is shown by what differs from its most frequent value.
const manyKeys = 6

// brief renders a value; of a large function it leaves out the keys that have the value of most others.
func brief(v value.Value) string {
	f, ok := v.(*value.Fcn)
	if !ok || f.Dom == nil || len(f.Vals) < manyKeys || f.IsRecord() {
		return v.String()
	}
	count, most := map[uint64]int{}, f.Vals[0].Hash()
	for _, x := range f.Vals {
		if count[x.Hash()]++; count[x.Hash()] > count[most] {
			most = x.Hash()
		}
	}
	var b strings.Builder
	rest := ""
	for i, x := range f.Vals {
		if x.Hash() == most {
			rest = x.String()
			continue
		}
		fmt.Fprintf(&b, "%s :> %s @@ ", f.Key(i), x)
	}
	return fmt.Sprintf("(%s%d others :> %s)", b.String(), count[most], rest)
}

type explainer struct {
	spec  *Spec
	cur   []value.Value
	shown State
}

// ctx is a context in the state before whose next state holds what is shown.
func (x explainer) ctx() *eval.Ctx {
	c := eval.NewCtx(&eval.Run{Prog: x.spec.prog}, len(x.spec.Vars))
	c.Cur = x.cur
	copy(c.Next, x.shown)
	return c
}

// allows reports whether the conjunction of terms, which may be unfinished, has a successor with what is shown. It
// returns the variables that the first one assigns.
func (x explainer) allows(terms []eval.Term) (next []value.Value, ok bool, err error) {
	if len(terms) == 0 {
		return append([]value.Value(nil), x.shownOrNothing()...), true, nil
	}
	a, err := x.spec.prog.CompileAction(eval.Conjoin(terms))
	if err != nil {
		return nil, false, err
	}
	err = a.Each(x.ctx(), func(c *eval.Ctx) bool {
		next, ok = append(next, c.Next...), true
		return true
	})
	return next, ok, err
}

func (x explainer) shownOrNothing() []value.Value {
	if x.shown == nil {
		return make([]value.Value, len(x.spec.Vars))
	}
	return x.shown
}

// failing finds the part of t that fails when the terms before hold.
func (x explainer) failing(t eval.Term, before []eval.Term, depth int) string {
	op, of, err := x.spec.prog.Operands(t)
	if err != nil || depth > maxNesting {
		return x.leaf(t, op, of, before)
	}
	switch op {
	case "==":
		return x.failing(of[0], before, depth+1)
	case "/\\":
		held := before
		for _, part := range of {
			_, ok, err := x.allows(append(held[:len(held):len(held)], part))
			if err != nil {
				return fmt.Sprintf("cannot evaluate %s: %v", place(part), err)
			}
			if !ok {
				return x.failing(part, held, depth+1)
			}
			held = append(held[:len(held):len(held)], part)
		}
	case "\\/":
		var lines []string
		for _, part := range of {
			lines = append(lines, x.failing(part, before, depth+1))
		}
		return "none of\n" + strings.Join(lines, "\n")
	case "IF":
		if _, ok, err := x.allows(append(before[:len(before):len(before)], of[0])); err == nil && ok {
			return x.failing(of[1], before, depth+1)
		}
		return x.failing(of[2], before, depth+1)
	}
	return x.leaf(t, op, of, before)
}

// leaf names one formula that fails, with the values of its sides.
func (x explainer) leaf(t eval.Term, op string, of, before []eval.Term) string {
	text := fmt.Sprintf("fails: %s  (%s)", oneLine(t.String()), place(t))
	if len(of) == 0 || len(of) > 2 {
		return text
	}
	next, ok, err := x.allows(before)
	if err != nil || !ok {
		return text
	}
	for _, side := range of {
		text += fmt.Sprintf("\n  %s is %s", oneLine(side.String()), x.value(side, next))
	}
	if name, ok := strings.CutSuffix(of[0].String(), "'"); ok && op == "=" && x.shown != nil && x.shown[x.indexOf(name)] != nil {
		text += fmt.Sprintf("\n  (the program shows the first, the specification demands the second of %s)", name)
	}
	return text
}

func (x explainer) indexOf(name string) int {
	for i, v := range x.spec.Vars {
		if v == name {
			return i
		}
	}
	return 0
}

func (x explainer) value(t eval.Term, next []value.Value) string {
	e, err := x.spec.prog.Compile(t)
	if err != nil {
		return fmt.Sprintf("not a value (%v)", err)
	}
	c := x.ctx()
	copy(c.Next, next)
	v, err := e.Eval(c)
	if err != nil {
		return fmt.Sprintf("undefined (%v)", err)
	}
	return v.String()
}

func place(t eval.Term) string {
	file, pos := t.Place()
	return fmt.Sprintf("%s:%s", file, pos)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
