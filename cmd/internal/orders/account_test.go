package orders

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// outcome is a right outcome of a small input, which a test then spoils.
type outcome struct {
	in               *Input
	entries          []Entry
	ledger, approved []string
	flows            FlowCount
}

func rightOutcome(t *testing.T) *outcome {
	t.Helper()
	x := &outcome{in: Generate(7, 1200, 50)}
	seen := map[string]bool{}
	for i, body := range x.in.Bodies {
		var a Answer
		for n, l := range body {
			switch {
			case l.Order == nil:
				a.Rejected = append(a.Rejected, Rejection{n + 1, "syntax: at 7"})
			case seen[l.Order.ID]:
				a.Duplicates++
			default:
				seen[l.Order.ID] = true
				a.Accepted++
				x.write(t, *l.Order)
			}
		}
		x.entries = append(x.entries, Entry{i, a})
	}
	if len(x.approved) < 2 || x.in.Bad < 2 || x.in.Copies < 2 || x.flows.Started <= len(x.approved) {
		t.Fatalf("the input does not have every kind of line: %d approved, %d bad, %d copies", len(x.approved), x.in.Bad, x.in.Copies)
	}
	return x
}

func (x *outcome) write(t *testing.T, o Order) {
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	row := string(text) + "\n"
	if o.Large() {
		x.flows.Started++
		x.flows.Completed++
	}
	switch {
	case !o.Large():
		x.ledger = append(x.ledger, row)
	case o.Approved():
		x.approved = append(x.approved, row)
	}
}

func (x *outcome) balance(t *testing.T) *Account {
	t.Helper()
	dir := t.TempDir()
	for name, rows := range map[string][]string{"ledger.ndjson": x.ledger, "approved.ndjson": x.approved} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Join(rows, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a, err := Balance(x.in, x.entries, dir)
	if err != nil {
		t.Fatal(err)
	}
	a.CheckFlows(x.flows)
	return a
}

func TestRightOutcomeBalances(t *testing.T) {
	x := rightOutcome(t)
	a := x.balance(t)
	if len(a.Faults) > 0 {
		t.Fatalf("faults %q", a.Faults)
	}
	if a.Accepted != len(x.in.Unique) || a.Duplicates != x.in.Copies || a.Rejected != x.in.Bad || a.Reasons["syntax"] != x.in.Bad {
		t.Errorf("account %+v", a)
	}
}

// Records that were committed before their answer was lost come back as duplicates: that is no fault.
func TestDuplicatesAfterALostAnswerBalance(t *testing.T) {
	x := rightOutcome(t)
	x.entries[3].Answer.Duplicates += x.entries[3].Answer.Accepted
	x.entries[3].Answer.Accepted = 0
	if a := x.balance(t); len(a.Faults) > 0 {
		t.Errorf("faults %q", a.Faults)
	}
}

// An account that cannot fail says nothing: each way to spoil the outcome is found, and named.
func TestEveryDifferenceIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(x *outcome)
		want  string
	}{
		"lost row":             {func(x *outcome) { x.ledger = slices.Delete(x.ledger, 4, 5) }, "is lost"},
		"lost approval":        {func(x *outcome) { x.approved = x.approved[1:] }, "approved.ndjson: order"},
		"doubled row":          {func(x *outcome) { x.ledger = append(x.ledger, x.ledger[9]) }, "is written 2 times"},
		"doubled approval":     {func(x *outcome) { x.approved = append(x.approved, x.approved[0]) }, "is written 2 times"},
		"changed amount":       {func(x *outcome) { x.ledger[2] = strings.Replace(x.ledger[2], `"amount":`, `"amount":1`, 1) }, "was changed"},
		"changed customer":     {func(x *outcome) { x.ledger[2] = strings.Replace(x.ledger[2], `"c-`, `"x-`, 1) }, "was changed"},
		"changed time":         {func(x *outcome) { x.ledger[2] = strings.Replace(x.ledger[2], "2026-", "2027-", 1) }, "was changed"},
		"foreign row":          {func(x *outcome) { x.ledger = append(x.ledger, `{"order_id":"o-999999"}`+"\n") }, "does not belong"},
		"large order":          {func(x *outcome) { x.ledger = append(x.ledger, x.approved[0]) }, "ledger.ndjson:"},
		"no row":               {func(x *outcome) { x.ledger = append(x.ledger, "garbage\n") }, "not a row"},
		"torn row":             {func(x *outcome) { x.ledger[len(x.ledger)-1] = strings.TrimSuffix(x.ledger[len(x.ledger)-1], "\n") }, "without its end"},
		"unanswered body":      {func(x *outcome) { x.entries = x.entries[1:] }, "body 0: answered 0 times"},
		"body answered twice":  {func(x *outcome) { x.entries = append(x.entries, x.entries[2]) }, "body 2: answered 2 times"},
		"body never sent":      {func(x *outcome) { x.entries = append(x.entries, Entry{Body: 10_000}) }, "never sent"},
		"line not answered":    {func(x *outcome) { x.entries[1].Answer.Accepted-- }, "49 lines answered of 50"},
		"valid line rejected":  {func(x *outcome) { reject(&x.entries[0], 1) }, "rejected, want"},
		"bad line accepted":    {acceptBad, "rejected, want"},
		"copy accepted as new": {acceptCopy, "accepted as new"},
		"flow lost":            {func(x *outcome) { x.flows.Started--; x.flows.Completed-- }, "flows:"},
		"flow doubled":         {func(x *outcome) { x.flows.Started++; x.flows.Completed++ }, "flows:"},
		"flow still runs":      {func(x *outcome) { x.flows.Completed--; x.flows.Running++ }, "flows:"},
		"flow failed":          {func(x *outcome) { x.flows.Completed--; x.flows.Failed++ }, "flows:"},
		"emission stays":       {func(x *outcome) { x.flows.Emissions++ }, "flows:"},
	} {
		t.Run(name, func(t *testing.T) {
			x := rightOutcome(t)
			c.spoil(x)
			if a := x.balance(t); !strings.Contains(strings.Join(a.Faults, "\n"), c.want) {
				t.Errorf("no %q in %q", c.want, a.Faults)
			}
		})
	}
}

func reject(e *Entry, line int) {
	e.Answer.Accepted--
	e.Answer.Rejected = append(e.Answer.Rejected, Rejection{line, "syntax"})
}

func acceptBad(x *outcome) {
	for i := range x.entries {
		if a := &x.entries[i].Answer; len(a.Rejected) > 0 {
			a.Rejected = a.Rejected[1:]
			a.Accepted++
			return
		}
	}
}

func acceptCopy(x *outcome) {
	for i := range x.entries {
		if a := &x.entries[i].Answer; a.Duplicates > 0 {
			a.Duplicates--
			a.Accepted++
			return
		}
	}
}

// Few faults are shown, and all of them are kept: each order that is lost has a line.
func TestShownFaultsAreBoundedAndKeptOnesAreAll(t *testing.T) {
	x := rightOutcome(t)
	lost := len(x.ledger)
	x.ledger = nil
	a := x.balance(t)
	shown := a.Shown()
	if len(shown) != maxFaults+1 || !strings.Contains(shown[maxFaults], fmt.Sprintf("and %d more", lost-maxFaults)) || len(a.Faults) != lost {
		t.Errorf("%d faults of %d lost orders, the last shown is %q", len(a.Faults), lost, shown[len(shown)-1])
	}
	dir := t.TempDir()
	if err := a.Keep(dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, FaultsFile))
	if err != nil || strings.Count(string(text), "is lost\n") != lost {
		t.Errorf("%d lost orders are kept, want %d: %v", strings.Count(string(text), "is lost\n"), lost, err)
	}
	if err := a.Keep(filepath.Join(dir, "none")); err == nil {
		t.Error("no folder, no error")
	}
}

// What the account is balanced with is on the disk: an entry that was lost or torn there is seen.
func TestAccountReadsTheLogBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "client.log")
	log, err := NewLog(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := log.Write(Entry{Body: i}); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := ReadLog(path)
	if err != nil || len(entries) != 3 || entries[2].Body != 2 {
		t.Errorf("read %v, %v", entries, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text[:len(text)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := BalanceLog(Generate(1, 10, 5), path, t.TempDir()); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("a torn entry: %v", err)
	}
	if _, err := ReadLog(path + "x"); err == nil {
		t.Error("no log, no error")
	}
}

func TestMissingOutputIsAnError(t *testing.T) {
	if _, err := Balance(Generate(1, 10, 5), nil, t.TempDir()); err == nil {
		t.Error("no output files, no error")
	}
}
