package bpmn

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/feel"
)

// value makes a timer's value: a text as it stands, or, with "=", the value of an expression.
func value(t *testing.T, text string) feel.Value {
	t.Helper()
	a, err := feel.ParseAttribute(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := a.Evaluate(nil, feel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestSchedule(t *testing.T) {
	now := time.Date(2024, 1, 31, 12, 0, 0, 0, time.UTC)
	cases := []struct {
		kind TimerKind
		text string
		due  string
		left int
	}{
		{TimerDate, "2024-03-01T00:00:00Z", "2024-03-01T00:00:00Z", 1},
		{TimerDate, "2024-03-01T00:00:00+02:00", "2024-02-29T22:00:00Z", 1},
		{TimerDate, "2024-03-01T00:00:00", "2024-03-01T00:00:00Z", 1},
		{TimerDate, `=@"2024-03-01"`, "2024-03-01T00:00:00Z", 1},
		{TimerDate, `=date and time("2020-01-01T00:00:00Z")`, "2020-01-01T00:00:00Z", 1},
		{TimerDuration, "PT90S", "2024-01-31T12:01:30Z", 1},
		{TimerDuration, "P1M", "2024-02-29T12:00:00Z", 1},
		{TimerDuration, `=@"P1D" * 2`, "2024-02-02T12:00:00Z", 1},
		{TimerDuration, "-PT1H", "2024-01-31T11:00:00Z", 1},
		{TimerCycle, "R3/PT10S", "2024-01-31T12:00:10Z", 3},
		{TimerCycle, "R/P1M", "2024-02-29T12:00:00Z", Unlimited},
		{TimerCycle, "R2/2024-05-01T00:00:00Z/P1D", "2024-05-01T00:00:00Z", 2},
		{TimerCycle, `=@"PT1H"`, "2024-01-31T13:00:00Z", Unlimited},
	}
	for _, c := range cases {
		s, err := (&Timer{Kind: c.kind}).Schedule(value(t, c.text), now)
		if err != nil || s.Due.UTC().Format(time.RFC3339) != c.due || s.Remaining != c.left {
			t.Errorf("%v %s is %+v, %v; want %s, %d left", c.kind, c.text, s, err, c.due, c.left)
		}
	}
	faults := []struct {
		kind TimerKind
		text string
	}{
		{TimerDate, "PT1S"},
		{TimerDate, "=null"},
		{TimerDate, ""},
		{TimerDate, "10000-01-01T00:00:00Z"},
		{TimerDuration, "2024-01-01"},
		{TimerDuration, "=5"},
		{TimerDuration, "P9000Y"},
		{TimerDuration, "P1Y1D"},
		{TimerCycle, "PT1S"},
		{TimerCycle, "R0/PT1S"},
		{TimerCycle, "R-1/PT1S"},
		{TimerCycle, "R/PT0S"},
		{TimerCycle, "R/-PT1S"},
		{TimerCycle, "R99999999999/PT1S"},
		{TimerCycle, "R/a/b/c"},
		{TimerCycle, "R/x/PT1S"},
		{TimerCycle, "=true"},
		{TimerKind(9), "PT1S"},
	}
	for _, c := range faults {
		if s, err := (&Timer{Kind: c.kind}).Schedule(value(t, c.text), now); !errors.Is(err, ErrTimer) {
			t.Errorf("%v %q is %+v, %v; want ErrTimer", c.kind, c.text, s, err)
		}
	}
}

// A cycle keeps its beat, and after downtime fires once for all it missed.
func TestCycle(t *testing.T) {
	start := time.Date(2024, 1, 31, 12, 0, 0, 0, time.UTC)
	steps := []struct {
		text  string
		fired []string // the moments at which firings happen
		due   []string // the next due moment after each; "" when the cycle is over
	}{
		{"R3/PT10S", []string{"12:00:10", "12:00:21", "12:00:30"}, []string{"12:00:20", "12:00:30", ""}},
		{"R/PT10S", []string{"12:00:10", "12:10:05", "12:10:10"}, []string{"12:00:20", "12:10:10", "12:10:20"}},
		{"R/PT10S", []string{"12:00:10", "12:00:20"}, []string{"12:00:20", "12:00:30"}},
		{"R/PT10S", []string{"12:00:05"}, []string{"12:00:20"}}, // fired early by a clock that went back
	}
	for _, s := range steps {
		schedule, err := (&Timer{Kind: TimerCycle}).Schedule(feel.String(s.text), start)
		if err != nil {
			t.Fatal(err)
		}
		for i, fired := range s.fired {
			now, err := time.Parse(time.DateTime, "2024-01-31 "+fired)
			if err != nil {
				t.Fatal(err)
			}
			next, more, err := schedule.Next(now)
			if err != nil || more != (s.due[i] != "") || more && next.Due.Format(time.TimeOnly) != s.due[i] {
				t.Errorf("%s fired at %s gives %+v, %v, %v; want %q", s.text, fired, next, more, err, s.due[i])
			}
			schedule = next
		}
	}
}

// Months are counted from the start, so a short month does not shorten the ones after it.
// What somebody else has fired is left out, and counted.
func TestBehind(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC)
	at := func(hour, minute int) time.Time { return time.Date(2026, 1, 1, hour, minute, 0, 0, time.UTC) }
	for _, c := range []struct {
		kind      TimerKind
		text      string
		fired     time.Time
		due       time.Time // zero: nothing is left
		remaining int
	}{
		{TimerDate, "2026-01-01T02:00:00Z", at(1, 59), at(2, 0), 1},
		{TimerDate, "2026-01-01T02:00:00Z", at(2, 0), time.Time{}, 0},
		{TimerDate, "2026-01-01T02:00:00Z", at(3, 0), time.Time{}, 0},
		{TimerCycle, "R3/2026-01-01T00:00:00Z/PT1H", at(0, 0).Add(-time.Second), at(0, 0), 3},
		{TimerCycle, "R3/2026-01-01T00:00:00Z/PT1H", at(0, 0), at(1, 0), 2},
		{TimerCycle, "R3/2026-01-01T00:00:00Z/PT1H", at(1, 30), at(2, 0), 1},
		{TimerCycle, "R3/2026-01-01T00:00:00Z/PT1H", at(2, 0), time.Time{}, 0},
		{TimerCycle, "R1/2026-01-01T00:00:00Z/PT1H", at(0, 0), time.Time{}, 0},
		{TimerCycle, "R/2026-01-01T00:00:00Z/PT1H", at(9, 0), at(10, 0), Unlimited},
		{TimerCycle, "R3/PT1H", at(0, 20), at(1, 30), 3},
		{TimerCycle, "R3/PT1H", at(1, 30), at(2, 30), 2},
		{TimerCycle, "R3/PT1H", at(3, 30), time.Time{}, 0},
	} {
		s, err := (&Timer{Kind: c.kind}).Schedule(feel.String(c.text), now)
		if err != nil {
			t.Fatal(err)
		}
		rest, left, err := s.Behind(c.fired)
		if err != nil || left == c.due.IsZero() || !rest.Due.Equal(c.due) || rest.Remaining != c.remaining {
			t.Errorf("%s behind %v: %+v %t %v", c.text, c.fired, rest, left, err)
		}
	}
	broken := Schedule{Start: now, Due: now, Remaining: Unlimited, Interval: "P1"}
	if _, _, err := broken.Behind(now); !errors.Is(err, ErrTimer) {
		t.Errorf("behind a broken interval: %v", err)
	}
}

func TestMonthlyCycle(t *testing.T) {
	schedule, err := (&Timer{Kind: TimerCycle}).Schedule(feel.String("R/2024-01-31T00:00:00Z/P1M"), time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range [...]string{"2024-02-29", "2024-03-31", "2024-04-30", "2024-05-31"} {
		next, more, err := schedule.Next(schedule.Due)
		if err != nil || !more || next.Due.Format(time.DateOnly) != want {
			t.Fatalf("after %v comes %v, %v, %v; want %s", schedule.Due, next.Due, more, err, want)
		}
		schedule = next
	}
	later, _, err := schedule.Next(time.Date(2999, 3, 1, 0, 0, 0, 0, time.UTC))
	if err != nil || later.Due.Format(time.DateOnly) != "2999-03-31" {
		t.Errorf("after a thousand years comes %v, %v", later.Due, err)
	}
	if _, _, err := schedule.Next(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)); !errors.Is(err, ErrTimer) {
		t.Errorf("after the last year: %v, want ErrTimer", err)
	}
	once, err := (&Timer{Kind: TimerDuration}).Schedule(feel.String("PT1S"), time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, more, err := once.Next(time.Unix(1, 0)); more || err != nil {
		t.Errorf("a timer that fires once has another firing: %v", err)
	}
}
