package tla_test

import (
	"strings"
	"testing"

	"github.com/millrace-dev/millrace/tla/eval"
	"github.com/millrace-dev/millrace/tla/modules"
)

const scratch = `---- MODULE Scratch ----
EXTENDS Integers, Sequences, FiniteSets, TLC, Bags, FiniteSetsExt, SequencesExt, Functions, Bitwise, Graphs, Json, Statistics, GraphViz, Quorum, BagsExt
RECURSIVE Fact(_), Even(_), Odd(_)
Fact(n) == IF n = 0 THEN 1 ELSE n * Fact(n - 1)
Even(n) == IF n = 0 THEN TRUE ELSE Odd(n - 1)
Odd(n) == IF n = 0 THEN FALSE ELSE Even(n - 1)
Twice(F(_), x) == F(F(x))
Inc(x) == x + 1
fib[n \in Nat] == IF n < 2 THEN n ELSE fib[n - 1] + fib[n - 2]
a \prec b == a < b
Pair(x, y) == <<x, y>>
Labeled(x) == /\ first:: x > 1
              /\ second:: x > 2
Guarded(s) == LET h == Head(s) IN IF s = <<>> THEN 0 ELSE h
RECURSIVE SumOver(_, _)
SumOver(f, S) == IF S = {} THEN 0 ELSE LET x == CHOOSE x \in S : TRUE IN f[x] + SumOver(f, S \ {x})
====`

// TestExpressions evaluates the expressions of testdata/expressions.tsv; each is written with the
// value it must have, or with "error:" and a part of the message.
func TestExpressions(t *testing.T) {
	p, err := eval.Load("Scratch", eval.Options{Natives: modules.All(), Sources: map[string]string{"Scratch": scratch}})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Build(nil); err != nil {
		t.Fatal(err)
	}
	rows := readTSV(t, "testdata/expressions.tsv")
	if len(rows) < 100 {
		t.Fatalf("only %d expressions", len(rows))
	}
	for _, row := range rows {
		got := evaluate(p, row[0])
		want := row[1]
		if want == got || strings.HasPrefix(want, "error:") && strings.HasPrefix(got, "error:") && strings.Contains(got, strings.TrimSpace(want[6:])) {
			continue
		}
		t.Errorf("%s\n  expected %s\n  found    %s", row[0], want, got)
	}
}

func evaluate(p *eval.Program, src string) string {
	term, err := p.Parse(src)
	if err != nil {
		return "error: " + err.Error()
	}
	x, err := p.Compile(term)
	if err != nil {
		return "error: " + err.Error()
	}
	v, err := x.Eval(eval.NewCtx(&eval.Run{Prog: p, Random: func(int) int { return 0 }}, 0))
	if err != nil {
		return "error: " + err.Error()
	}
	return v.String()
}
