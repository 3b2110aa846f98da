package flow

import (
	"bytes"
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/core/feel"
)

// A context that is not taken through JSON is what JSON would have made of it.
func TestPlainContextsAreWhatJSONMakesOfThem(t *testing.T) {
	one := func(v feel.Value) *feel.Context { return feel.NewContext(feel.Entry{Key: "k", Value: v}) }
	three := feel.NewContext(feel.Entry{Key: "b", Value: feel.Bool(true)}, feel.Entry{Key: "a", Value: feel.Null{}},
		feel.Entry{Key: "\"<\u2028", Value: feel.String("\x00\t\\\"&\u2029\U0001F600")})
	for name, c := range map[string]struct { //order:each has its own place
		value *feel.Context
		plain bool
	}{
		"nothing":      {feel.NewContext(), true},
		"texts":        {three, true},
		"no text":      {one(feel.String("a\xffb")), false},
		"no key":       {feel.NewContext(feel.Entry{Key: "\xff", Value: feel.Null{}}), false},
		"long text":    {one(feel.String(strings.Repeat("x", maxPlain+1))), false},
		"inner":        {one(feel.NewContext()), false},
		"list":         {one(feel.List{}), false},
		"many entries": {one(feel.String(strings.Repeat("x", maxPlain))), false},
	} {
		if got := plain(c.value); got != c.plain {
			t.Errorf("%s: plain is %t", name, got)
		}
		if !c.plain {
			continue
		}
		before, err := feel.AppendJSON(nil, c.value)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := feel.ParseJSON(before)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		after, err := feel.AppendJSON(nil, again)
		if err != nil || !bytes.Equal(before, after) || again.String() != c.value.String() {
			t.Errorf("%s: %s becomes %s, %v", name, c.value, again, err)
		}
	}
}
