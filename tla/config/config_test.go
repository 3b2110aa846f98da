package config_test

import (
	"reflect"
	"testing"

	"github.com/millrace-dev/millrace/tla/config"
)

func TestParseEveryStatement(t *testing.T) {
	c, err := config.Parse("M.cfg", `\* a comment
SPECIFICATION Spec (* another *)
CONSTANTS N = -3 S = {a, "b", {1}} T = <<TRUE>>
  F <- G
  H <- [Other] K
  V = [Other] v
INVARIANTS I J
PROPERTY P
CONSTRAINT C
ACTION_CONSTRAINT D
SYMMETRY Sym
VIEW View
ALIAS Alias
POSTCONDITION Post
CHECK_DEADLOCK FALSE
`)
	if err != nil {
		t.Fatal(err)
	}
	if c.Spec != "Spec" || c.View != "View" || c.Alias != "Alias" || c.Postcondition != "Post" || c.CheckDeadlock || !c.CheckDeadlockStated {
		t.Errorf("%+v", c)
	}
	for _, g := range []struct{ got, want []string }{
		{c.Invariants, []string{"I", "J"}},
		{c.Properties, []string{"P"}},
		{c.Constraints, []string{"C"}},
		{c.ActionConstraints, []string{"D"}},
		{c.Symmetry, []string{"Sym"}},
	} {
		if !reflect.DeepEqual(g.got, g.want) {
			t.Errorf("expected %v, found %v", g.want, g.got)
		}
	}
	if len(c.Constants) != 6 || c.Constants[0].Value.Text != "-3" || c.Constants[3].Def != "G" || c.Constants[4].Module != "Other" || c.Constants[5].Module != "Other" || c.Constants[5].Value.Kind != config.Model {
		t.Errorf("%+v", c.Constants)
	}
	if s := c.Constants[1].Value; s.Kind != config.Set || len(s.Elems) != 3 || s.Elems[2].Kind != config.Set {
		t.Errorf("%+v", s)
	}
}
