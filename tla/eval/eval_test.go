package eval_test

import (
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/tla/config"
	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/modules"
	"github.com/millrace-dev/millrace/tla/value"
)

const actions = `---- MODULE A ----
EXTENDS Naturals
VARIABLES x, y
vars == <<x, y>>
Init == x \in 0..2 /\ y = x
One == x' = x + 1 /\ UNCHANGED y
Pick == \E d \in {1, 2} : x' = d /\ y' \in {x, d}
Keep(A) == A /\ y' = y
ByName == Keep(x' = 7)
Late == y' = x' /\ x' = 1
Same == UNCHANGED vars
Stop == x > 100 /\ One
====`

func load(t *testing.T) *eval.Program {
	t.Helper()
	p, err := eval.Load("A", eval.Options{Natives: modules.All(), Sources: map[string]string{"A": actions}})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Build(&config.Config{}); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestActionsEnumerateSuccessors lists the successors of x = 0, y = 5 under each action.
func TestActionsEnumerateSuccessors(t *testing.T) {
	p := load(t)
	for name, want := range map[string]string{
		"One": "1,5", "Pick": "1,0 1,1 2,0 2,2", "ByName": "7,5", "Same": "0,5", "Stop": "",
		"Late": "error: A:10:14: x' has no value yet",
	} {
		term, err := p.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		a, err := p.CompileNext(term, false)
		if err != nil {
			t.Fatal(err)
		}
		c := eval.NewCtx(&eval.Run{Prog: p}, len(p.Vars))
		c.Cur[0], c.Cur[1] = value.MakeInt(0), value.MakeInt(5)
		var got []string
		err = a.Each(c, func(c *eval.Ctx) bool {
			got = append(got, c.Next[0].String()+","+c.Next[1].String())
			return false
		})
		text := strings.Join(got, " ")
		if err != nil {
			text = "error: " + err.Error()
		}
		if text != want {
			t.Errorf("%s: expected %q, found %q", name, want, text)
		}
	}
}

// TestInitialStates enumerates an initial predicate, and stops when asked to.
func TestInitialStates(t *testing.T) {
	p := load(t)
	term, err := p.Lookup("Init")
	if err != nil {
		t.Fatal(err)
	}
	a, err := p.CompileInit(term)
	if err != nil {
		t.Fatal(err)
	}
	for _, stopAfter := range []int{1, 9} {
		n := 0
		c := eval.NewCtx(&eval.Run{Prog: p}, len(p.Vars))
		if err := a.Each(c, func(*eval.Ctx) bool { n++; return n >= stopAfter }); err != nil {
			t.Fatal(err)
		}
		if want := min(stopAfter, 3); n != want {
			t.Errorf("%d initial states, expected %d", n, want)
		}
	}
}
