package feel

import (
	"fmt"
	"strings"
	"time"
)

// maxYear is the largest year, and its negation the smallest, that the standard allows.
const maxYear = 999_999_999

// zone is the time zone of a time or date and time: none (local), an offset, or a name whose rules came
// from Options.Zone.
type zone struct {
	loc *time.Location // nil: local
	id  string         // the name, for a named zone
}

func offsetZone(seconds int) zone {
	if seconds == 0 {
		return zone{loc: time.UTC}
	}
	return zone{loc: time.FixedZone("", seconds)}
}

// location is the zone for arithmetic; local values count as if they were in UTC.
func (z zone) location() *time.Location {
	if z.loc == nil {
		return time.UTC
	}
	return z.loc
}

// suffix prints the zone after a time; instant decides the offset of an unnamed zone.
func (z zone) suffix(instant time.Time) string {
	switch {
	case z.id != "":
		return "@" + z.id
	case z.loc == nil:
		return ""
	}
	_, offset := instant.In(z.loc).Zone()
	return offsetText(offset)
}

func offsetText(seconds int) string {
	if seconds == 0 {
		return "Z"
	}
	sign := "+"
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	text := fmt.Sprintf("%s%02d:%02d", sign, seconds/3600, seconds/60%60)
	if s := seconds % 60; s != 0 {
		text += fmt.Sprintf(":%02d", s)
	}
	return text
}

// Date is a day of the proleptic Gregorian calendar, without a time zone.
type Date struct{ t time.Time } // midnight UTC

// Time is a time of day with an optional time zone. A named zone counts with the offset that it has on
// 1 January 1970, because a time alone has no date.
type Time struct {
	sinceMidnight time.Duration
	zone          zone
}

// DateTime is a day and time with an optional time zone. Without one it is local: it has no instant, and
// it is neither before nor after a value with a zone.
type DateTime struct {
	t    time.Time // in zone.location()
	zone zone
}

// NewDate returns the day, and false when there is no such day.
func NewDate(year int, month time.Month, day int) (Date, bool) {
	t := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if y, m, d := t.Date(); y != year || m != month || d != day || year > maxYear || year < -maxYear {
		return Date{}, false
	}
	return Date{t}, true
}

// NewDateTime returns the instant t in t's own location. A location with a name other than UTC and Local
// keeps its name; every other is reduced to its offset.
func NewDateTime(t time.Time) DateTime {
	t = t.Round(0) // without the monotonic reading
	if name := t.Location().String(); strings.Contains(name, "/") {
		return DateTime{t, zone{t.Location(), name}}
	}
	_, offset := t.Zone()
	z := offsetZone(offset)
	return DateTime{t.In(z.location()), z}
}

// Instant returns the moment, and false for a local date and time, which has none.
func (d DateTime) Instant() (time.Time, bool) { return d.t, d.zone.loc != nil }

// In returns the moment, reading a local date and time in the given location.
func (d DateTime) In(loc *time.Location) time.Time {
	if d.zone.loc != nil {
		return d.t
	}
	y, m, day := d.t.Date()
	return time.Date(y, m, day, d.t.Hour(), d.t.Minute(), d.t.Second(), d.t.Nanosecond(), loc)
}

// In returns the first moment of the day in the given location.
func (d Date) In(loc *time.Location) time.Time {
	y, m, day := d.t.Date()
	return time.Date(y, m, day, 0, 0, 0, 0, loc)
}

// Kind returns KindDate.
func (Date) Kind() Kind { return KindDate }

// Kind returns KindTime.
func (Time) Kind() Kind { return KindTime }

// Kind returns KindDateTime.
func (DateTime) Kind() Kind { return KindDateTime }

// String returns the day in ISO 8601.
func (d Date) String() string {
	y, m, day := d.t.Date()
	if y < 0 {
		return fmt.Sprintf("-%04d-%02d-%02d", -y, m, day)
	}
	return fmt.Sprintf("%04d-%02d-%02d", y, m, day)
}

func clockText(hour, minute, second, nanos int) string {
	text := fmt.Sprintf("%02d:%02d:%02d", hour, minute, second)
	if nanos != 0 {
		text += strings.TrimRight(fmt.Sprintf(".%09d", nanos), "0")
	}
	return text
}

// onEpoch is the time on 1 January 1970 in its zone.
func (t Time) onEpoch() time.Time {
	hour, minute, second, nanos := t.clock()
	return time.Date(1970, 1, 1, hour, minute, second, nanos, t.zone.location())
}

func (t Time) clock() (hour, minute, second, nanos int) {
	d := t.sinceMidnight
	return int(d / time.Hour), int(d / time.Minute % 60), int(d / time.Second % 60), int(d % time.Second)
}

// String returns the time in ISO 8601.
func (t Time) String() string {
	hour, minute, second, nanos := t.clock()
	return clockText(hour, minute, second, nanos) + t.zone.suffix(t.onEpoch())
}

// String returns the date and time in ISO 8601.
func (d DateTime) String() string {
	return d.date().String() + "T" + clockText(d.t.Hour(), d.t.Minute(), d.t.Second(), d.t.Nanosecond()) + d.zone.suffix(d.t)
}

// date is the day part.
func (d DateTime) date() Date {
	y, m, day := d.t.Date()
	return Date{time.Date(y, m, day, 0, 0, 0, 0, time.UTC)}
}

// time is the time part.
func (d DateTime) time() Time {
	since := time.Duration(d.t.Hour())*time.Hour + time.Duration(d.t.Minute())*time.Minute +
		time.Duration(d.t.Second())*time.Second + time.Duration(d.t.Nanosecond())
	return Time{since, d.zone}
}

// midnight is the day as a local date and time.
func (d Date) midnight() DateTime { return DateTime{t: d.t} }

// combine is the day at the time.
func combine(d Date, t Time) DateTime {
	y, m, day := d.t.Date()
	hour, minute, second, nanos := t.clock()
	return DateTime{time.Date(y, m, day, hour, minute, second, nanos, t.zone.location()), t.zone}
}

// zoned reports whether the value names a time zone.
func zoned(v Value) bool {
	switch v := v.(type) {
	case Time:
		return v.zone.id != ""
	case DateTime:
		return v.zone.id != ""
	}
	return false
}

// addMonths moves the day by whole months and keeps it inside the month it lands in.
func addMonths(t time.Time, months int64) (time.Time, bool) {
	y, m, day := t.Date()
	total := int64(y)*12 + int64(m) - 1 + months
	if total/12 > maxYear || total/12 < -maxYear {
		return t, false
	}
	year, month := int(floorDiv(total, 12)), time.Month(total-floorDiv(total, 12)*12+1)
	if last := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day(); day > last {
		day = last
	}
	return time.Date(year, month, day, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location()), true
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// maxSpanSeconds is more than the time between any two dates.
const maxSpanSeconds = 2 * maxYear * 366 * 86400

// addSpan moves t by a duration that may be longer than a time.Duration.
func addSpan(t time.Time, d DaysTime) (time.Time, bool) {
	if d.seconds > maxSpanSeconds || d.seconds < -maxSpanSeconds {
		return t, false
	}
	moved := time.Unix(t.Unix()+d.seconds, int64(t.Nanosecond())+int64(d.nanos)).In(t.Location())
	return moved, moved.Year() <= maxYear && moved.Year() >= -maxYear
}
