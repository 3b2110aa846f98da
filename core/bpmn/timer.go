package bpmn

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/core/feel"
)

// TimerKind is one of the three ways to say when.
type TimerKind uint8

// The kinds of timers.
const (
	TimerDate     TimerKind = iota // once, at a moment
	TimerDuration                  // once, after a duration
	TimerCycle                     // repeatedly
)

// String returns the name of the XML element.
func (k TimerKind) String() string {
	names := [...]string{"timeDate", "timeDuration", "timeCycle"}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown timer"
}

// ErrTimer is wrapped by the errors of a timer whose value does not say when.
var ErrTimer = errors.New("timer")

// Timer is a timer's definition. An engine evaluates Value when the wait is entered and turns the result
// into a Schedule:
//
//	value, err := timer.Value.Evaluate(scope, options)
//	…
//	schedule, err := timer.Schedule(value, now)
type Timer struct {
	Kind  TimerKind
	Value feel.Attribute // a literal's form was checked when the file was read
}

// Unlimited is the number of firings of a cycle without end.
const Unlimited = -1

// Schedule says when a timer fires, as plain data that can be stored.
type Schedule struct {
	Start     time.Time `json:"start"`     // what Due is counted from
	Due       time.Time `json:"due"`       // the next firing
	Remaining int       `json:"remaining"` // firings left, the one at Due included; Unlimited; 1 when it does not repeat
	Interval  string    `json:"interval"`  // ISO 8601 duration between firings; empty when it does not repeat
}

// maxYear keeps moments within what RFC 3339 can write.
const maxYear = 9999

// Schedule turns the value of the timer into its schedule. Errors wrap ErrTimer. A moment that has passed,
// or a negative duration, is due at once: its Due is not after now.
func (t *Timer) Schedule(value feel.Value, now time.Time) (Schedule, error) {
	s, err := t.schedule(value, now)
	if err == nil && (s.Due.Year() > maxYear || s.Due.Year() < 0) {
		err = fmt.Errorf("the moment %v is out of range", s.Due)
	}
	if err != nil {
		return Schedule{}, fmt.Errorf("%w: %v: %w", ErrTimer, t.Kind, err)
	}
	return s, nil
}

func (t *Timer) schedule(value feel.Value, now time.Time) (Schedule, error) {
	switch t.Kind {
	case TimerDate:
		due, err := moment(value)
		return Schedule{Start: due, Due: due, Remaining: 1}, err
	case TimerDuration:
		interval, err := duration(value)
		if err != nil {
			return Schedule{}, err
		}
		due, err := after(now, interval, 1)
		return Schedule{Start: now, Due: due, Remaining: 1}, err
	case TimerCycle:
		return cycle(value, now)
	}
	return Schedule{}, fmt.Errorf("the kind %d is unknown", t.Kind)
}

// moment reads a date and time; without a time zone it counts as UTC.
func moment(value feel.Value) (time.Time, error) {
	if text, ok := value.(feel.String); ok {
		parsed, err := feel.ParseTemporal(strings.TrimSpace(string(text)))
		if err != nil {
			return time.Time{}, err
		}
		value = parsed
	}
	switch v := value.(type) {
	case feel.DateTime:
		return v.In(time.UTC).UTC(), nil
	case feel.Date:
		return v.In(time.UTC), nil
	}
	return time.Time{}, fmt.Errorf("a %s is not a date and time", value.Kind())
}

// duration reads a duration value or text.
func duration(value feel.Value) (feel.Value, error) {
	switch v := value.(type) {
	case feel.DaysTime, feel.YearsMonths:
		return v, nil
	case feel.String:
		return feel.ParseDuration(strings.TrimSpace(string(v)))
	}
	return nil, fmt.Errorf("a %s is not a duration", value.Kind())
}

// after returns the moment n intervals after start.
func after(start time.Time, interval feel.Value, n int64) (time.Time, error) {
	moved, ok := start, false
	switch d := interval.(type) {
	case feel.DaysTime:
		span, fits := d.Duration()
		if fits && (n == 1 || span <= (1<<62)/time.Duration(n)) {
			moved, ok = feel.NewDaysTime(span * time.Duration(n)).After(start)
		}
	case feel.YearsMonths:
		if total, fits := feel.NewYearsMonths(d.Months() * n); fits {
			moved, ok = total.After(start)
		}
	}
	if !ok || moved.Year() > maxYear {
		return time.Time{}, fmt.Errorf("%d times %v after %v is out of range", n, interval, start)
	}
	return moved, nil
}

// cycle reads R[n]/duration and R[n]/start/duration, or a duration that repeats without end.
func cycle(value feel.Value, now time.Time) (Schedule, error) {
	s := Schedule{Start: now, Remaining: Unlimited}
	text, isText := value.(feel.String)
	var parts []string
	if isText {
		parts = strings.Split(strings.TrimSpace(string(text)), "/")
		if err := s.readCycle(parts); err != nil {
			return Schedule{}, err
		}
		value = feel.String(parts[len(parts)-1])
	}
	interval, err := duration(value)
	if err != nil {
		return Schedule{}, err
	}
	next, err := after(s.Start, interval, 1)
	if err != nil {
		return Schedule{}, err
	}
	if !next.After(s.Start) {
		return Schedule{}, fmt.Errorf("the interval %v is not longer than nothing", interval)
	}
	s.Interval = interval.String()
	if s.Due = next; len(parts) == 3 {
		s.Due = s.Start // an interval with a start fires there first
	}
	return s, nil
}

// readCycle reads the parts before the interval.
func (s *Schedule) readCycle(parts []string) error {
	count, repeats := strings.CutPrefix(parts[0], "R")
	if !repeats || len(parts) < 2 || len(parts) > 3 {
		return fmt.Errorf("%.60q is not R[n]/duration or R[n]/start/duration", strings.Join(parts, "/"))
	}
	if count != "" {
		n, err := strconv.ParseUint(count, 10, 31)
		if err != nil || n == 0 {
			return fmt.Errorf("%.20q is not a number of repetitions", count)
		}
		s.Remaining = int(n)
	}
	if len(parts) == 3 {
		start, err := moment(feel.String(parts[1]))
		if err != nil {
			return err
		}
		s.Start = start
	}
	return nil
}

// Next returns the schedule after a firing at now, and false when that was the last one. The next firing
// is the first one after now that lies a whole number of intervals after Start: ticks that were missed
// while nothing ran are not made up for, the one firing stands for all of them. Errors wrap ErrTimer: there
// is no such moment before the year 10,000, or, for an interval of days and time, within 292 years of Start.
func (s Schedule) Next(now time.Time) (Schedule, bool, error) {
	if s.Interval == "" || s.Remaining == 1 {
		return Schedule{}, false, nil
	}
	due, _, err := s.following(now)
	if err != nil {
		return Schedule{}, false, err
	}
	s.Due = due
	if s.Remaining != Unlimited {
		s.Remaining--
	}
	return s, true, nil
}

// Behind returns what is left of a schedule that has fired nothing yet when its moments up to t are somebody else's, and false when that is
// nothing. Errors are those of Next.
func (s Schedule) Behind(t time.Time) (Schedule, bool, error) {
	if t.Before(s.Due) {
		return s, true, nil
	}
	if s.Interval == "" || s.Remaining == 1 {
		return Schedule{}, false, nil
	}
	due, n, err := s.following(t)
	if err != nil {
		return Schedule{}, false, err
	}
	if s.Due.After(s.Start) {
		n-- // the first moment was one interval after the start
	}
	if s.Remaining != Unlimited && int64(s.Remaining) <= n {
		return Schedule{}, false, nil
	}
	if s.Due = due; s.Remaining != Unlimited {
		s.Remaining -= int(n)
	}
	return s, true, nil
}

// following returns the first moment after both now and Due, and how many intervals after Start it lies.
func (s Schedule) following(now time.Time) (due time.Time, n int64, err error) {
	interval, err := feel.ParseDuration(s.Interval)
	if err != nil {
		return due, 0, fmt.Errorf("%w: next firing: %w", ErrTimer, err)
	}
	passed := max(intervals(interval, s.Start, now), intervals(interval, s.Start, s.Due), 1)
	for n := passed; n <= passed+maxEstimate; n++ {
		due, err := after(s.Start, interval, n)
		if err != nil {
			return due, 0, fmt.Errorf("%w: next firing: %w", ErrTimer, err)
		}
		if due.After(now) && due.After(s.Due) {
			return due, n, nil
		}
	}
	return due, 0, fmt.Errorf("%w: next firing: no moment after %v", ErrTimer, now)
}

// maxEstimate is more than intervals can be short by.
const maxEstimate = 3

// intervals is the number of whole intervals between two moments; it may be one or two short, never more
// than there are. Intervals of days and time are counted over at most 292 years.
func intervals(interval feel.Value, from, to time.Time) int64 {
	switch interval := interval.(type) {
	case feel.DaysTime:
		if span, ok := interval.Duration(); ok && span > 0 {
			return int64(to.Sub(from) / span)
		}
	case feel.YearsMonths:
		if months := interval.Months(); months > 0 {
			return (int64(to.Year()-from.Year())*12 + int64(to.Month()-from.Month()) - 1) / months
		}
	}
	return 0
}
