package feelin

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/millrace-dev/millrace/core/feel"
)

// Packages are the oracle and all that it is made of, exactly.
func Packages() []string {
	return []string{
		"feelin@8.2.0", "lezer-feel@3.0.1", "@lezer/common@1.5.5", "@lezer/highlight@1.2.5", "@lezer/lr@1.4.12", "min-dash@5.1.0",
		"temporal-polyfill@1.0.8", "temporal-spec@1.0.1", "temporal-utils@1.0.4",
	}
}

//go:embed oracle.mjs
var oracle []byte

// Case is one expression, and what we make of it.
type Case struct {
	Expression string `json:"expression"`
	Literal    string `json:"literal"` // our value, as an expression
}

// Answer is what the oracle makes of a case.
type Answer struct {
	Same    bool   `json:"same"`
	Theirs  string `json:"theirs,omitempty"`
	Refused string `json:"refused,omitempty"` // it failed, and why
}

// Cases draws n expressions and evaluates them. Depths go round from 1 to 4.
func Cases(seed uint64, n int) ([]Case, error) {
	var cases []Case
	for i := range n {
		c, err := CaseOf(Expression(seed, uint64(i), 1+i%4))
		if err != nil {
			return nil, fmt.Errorf("expression %d of seed %d: %w", i, seed, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

var (
	errScope   = errors.New("the scope is no context")
	errAnswers = errors.New("the oracle answers other cases than it was asked")
)

// parsedScope is what every expression is evaluated over, which none changes.
var parsedScope = sync.OnceValues(func() (*feel.Context, error) {
	v, err := feel.ParseJSON([]byte(Scope))
	if err != nil {
		return nil, fmt.Errorf("read scope: %w", err)
	}
	scope, ok := v.(*feel.Context)
	if !ok {
		return nil, errScope
	}
	return scope, nil
})

// CaseOf evaluates an expression over the scope.
func CaseOf(text string) (Case, error) {
	scope, err := parsedScope()
	if err != nil {
		return Case{}, err
	}
	e, err := feel.Parse(text)
	if err != nil {
		return Case{}, fmt.Errorf("parse %q: %w", text, err)
	}
	value, err := e.Evaluate(scope, feel.Options{})
	if err != nil {
		return Case{}, fmt.Errorf("evaluate %q: %w", text, err)
	}
	return Case{Expression: text, Literal: feel.Literal(value)}, nil
}

// patience bounds one run of the oracle, which is a second for some thousand cases.
const patience = 2 * time.Minute

// Ask lets the oracle evaluate the cases. It is installed in the folder.
func Ask(ctx context.Context, dir string, cases []Case) ([]Answer, error) {
	script := filepath.Join(dir, "oracle.mjs")
	if err := os.WriteFile(script, oracle, 0o600); err != nil {
		return nil, fmt.Errorf("write oracle: %w", err)
	}
	in, err := json.Marshal(struct {
		Scope json.RawMessage `json:"scope"`
		Cases []Case          `json:"cases"`
	}{json.RawMessage(Scope), cases})
	if err != nil {
		return nil, fmt.Errorf("write cases: %w", err)
	}
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	var out, said bytes.Buffer
	cmd := exec.CommandContext(ctx, "node", script)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = bytes.NewReader(in), &out, &said, time.Second
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run oracle: %w\n%s", err, said.Bytes())
	}
	var answers []Answer
	if err := json.Unmarshal(out.Bytes(), &answers); err != nil {
		return nil, fmt.Errorf("read what the oracle says: %w", err)
	}
	if len(answers) != len(cases) {
		return nil, fmt.Errorf("%w: %d answers to %d", errAnswers, len(answers), len(cases))
	}
	return answers, nil
}
