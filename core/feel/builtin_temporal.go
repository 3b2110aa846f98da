package feel

import (
	"time"

	"github.com/cockroachdb/apd/v3"
)

func temporalBuiltins() []builtin {
	return []builtin{
		{name: "date", params: "from | year, month, day", run: runDate},
		{name: "time", params: "from | hour, minute, second, offset?", run: runTime},
		{name: "date and time", params: "from | date, time", run: runDateAndTime},
		{name: "duration", params: "from", run: runDuration},
		{name: "years and months duration", params: "from, to", run: runMonthsBetween},
		{name: "now", params: "", run: runNow},
		{name: "today", params: "", run: runToday},
		{name: "day of year", params: "date", run: ofDate(func(t time.Time) Value { return Int(int64(t.YearDay())) })},
		{name: "day of week", params: "date", run: ofDate(func(t time.Time) Value { return String(t.Weekday().String()) })},
		{name: "month of year", params: "date", run: ofDate(func(t time.Time) Value { return String(t.Month().String()) })},
		{name: "week of year", params: "date", run: ofDate(weekOfYear)},
		{name: "last day of month", params: "date", run: ofDate(lastDayOfMonth)},
	}
}

func weekOfYear(t time.Time) Value {
	_, week := t.ISOWeek()
	return Int(int64(week))
}

func lastDayOfMonth(t time.Time) Value {
	return Date{time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, time.UTC)}
}

// dateOf returns argument i as a date.
func (c *call) dateOf(i int) Date {
	switch v := c.single(i).(type) {
	case Date:
		return v
	case DateTime:
		return v.date()
	}
	c.wrong(i, "date")
	return Date{}
}

func ofDate(f func(time.Time) Value) func(*call) Value {
	return func(c *call) Value {
		d := c.dateOf(0)
		if c.bad {
			return Null{}
		}
		return f(d.t)
	}
}

// inRange returns argument i as an integer between the bounds.
func (c *call) inRange(i int, low, high int64) int {
	n := c.integer(i)
	if !c.bad && (n < low || n > high) {
		c.null("argument %d is %d, not in %d..%d", i+1, n, low, high)
		c.bad = true
	}
	return int(n)
}

func runDate(c *call) Value {
	if len(c.args) == 3 {
		year, month, day := c.inRange(0, -maxYear, maxYear), c.inRange(1, 1, 12), c.inRange(2, 1, 31)
		if c.bad {
			return Null{}
		}
		if d, ok := NewDate(year, time.Month(month), day); ok {
			return d
		}
		return c.null("there is no such day")
	}
	if _, isText := c.single(0).(String); !isText {
		d := c.dateOf(0)
		if c.bad {
			return Null{}
		}
		return d
	}
	s := c.text(0)
	if d, ok := parseDate(s); ok {
		return d
	}
	if d, ok := parseDateTime(s, c.m.zone); ok {
		return d.date()
	}
	return c.null("%.40q is not a date", s)
}

func runTime(c *call) Value {
	if len(c.args) > 1 {
		return c.timeOfParts()
	}
	switch v := c.single(0).(type) {
	case Time:
		return v
	case DateTime:
		return v.time()
	case Date:
		return Time{zone: offsetZone(0)} // a date counts as midnight in UTC
	}
	s := c.text(0)
	if c.bad {
		return Null{}
	}
	if t, ok := parseTime(s, c.m.zone); ok {
		return t
	}
	if d, ok := parseDateTime(s, c.m.zone); ok {
		return d.time()
	}
	return c.null("%.40q is not a time", s)
}

func (c *call) timeOfParts() Value {
	hour, minute := c.inRange(0, 0, 23), c.inRange(1, 0, 59)
	second, ok := daysTimeOf(c.number(2))
	if c.bad || !ok || second.sign() < 0 || second.seconds > 59 {
		return c.null("the seconds are not in 0..59")
	}
	var z zone
	if c.given(3) {
		offset, isDuration := c.args[3].(DaysTime)
		if !isDuration || offset.seconds > 18*3600 || offset.seconds < -18*3600 {
			return c.null("the offset is not a duration within 18 hours")
		}
		z = offsetZone(int(offset.seconds))
	}
	since := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute +
		time.Duration(second.seconds)*time.Second + time.Duration(second.nanos)
	return Time{since, z}
}

func runDateAndTime(c *call) Value {
	if len(c.args) == 2 {
		d := c.dateOf(0)
		t, ok := c.single(1).(Time)
		if !ok {
			c.wrong(1, "time")
		}
		if c.bad {
			return Null{}
		}
		return combine(d, t)
	}
	switch v := c.single(0).(type) {
	case DateTime:
		return v
	case Date:
		return v.midnight()
	}
	s := c.text(0)
	if c.bad {
		return Null{}
	}
	if d, ok := parseDateTime(s, c.m.zone); ok {
		return d
	}
	if d, ok := parseDate(s); ok {
		return d.midnight()
	}
	return c.null("%.40q is not a date and time", s)
}

func runDuration(c *call) Value {
	switch v := c.single(0).(type) {
	case DaysTime, YearsMonths:
		return v
	}
	s := c.text(0)
	if c.bad {
		return Null{}
	}
	v, err := ParseDuration(s)
	if err != nil {
		return c.null("%v", err)
	}
	return v
}

// runMonthsBetween returns the whole months from one date to another.
func runMonthsBetween(c *call) Value {
	from, to := c.dateOf(0), c.dateOf(1)
	if c.bad {
		return Null{}
	}
	months := int64(to.t.Year()-from.t.Year())*12 + int64(to.t.Month()-from.t.Month())
	switch {
	case months > 0 && to.t.Day() < from.t.Day():
		months--
	case months < 0 && to.t.Day() > from.t.Day():
		months++
	}
	return YearsMonths{months}
}

func runNow(c *call) Value {
	if c.m.options.Now.IsZero() {
		return c.null("the evaluation has no clock")
	}
	return NewDateTime(c.m.options.Now)
}

func runToday(c *call) Value {
	if c.m.options.Now.IsZero() {
		return c.null("the evaluation has no clock")
	}
	return NewDateTime(c.m.options.Now).date()
}

// property returns a named part of a temporal value or range.
func property(v Value, name string) (Value, bool) {
	switch v := v.(type) {
	case Date:
		return dateProperty(v, name)
	case DateTime:
		if p, ok := dateProperty(v.date(), name); ok {
			return p, true
		}
		return clockProperty(v.t.Hour(), v.t.Minute(), v.t.Second(), v.t.Nanosecond(), v.zone, v.t, name)
	case Time:
		hour, minute, second, nanos := v.clock()
		return clockProperty(hour, minute, second, nanos, v.zone, v.onEpoch(), name)
	case DaysTime:
		return durationProperty(v, name)
	case YearsMonths:
		switch name {
		case "years":
			return Int(v.months / 12), true
		case "months":
			return Int(v.months % 12), true
		}
	case *Range:
		return rangeProperty(v, name)
	}
	return nil, false
}

func dateProperty(d Date, name string) (Value, bool) {
	switch name {
	case "year":
		return Int(int64(d.t.Year())), true
	case "month":
		return Int(int64(d.t.Month())), true
	case "day":
		return Int(int64(d.t.Day())), true
	case "weekday":
		return Int(int64((d.t.Weekday()+6)%7 + 1)), true // Monday is 1
	}
	return nil, false
}

func clockProperty(hour, minute, second, nanos int, z zone, instant time.Time, name string) (Value, bool) {
	switch name {
	case "hour":
		return Int(int64(hour)), true
	case "minute":
		return Int(int64(minute)), true
	case "second":
		if nanos == 0 {
			return Int(int64(second)), true
		}
		return Number{apd.New(int64(second)*1_000_000_000+int64(nanos), -9)}, true
	case "time offset":
		if z.loc == nil {
			return Null{}, true
		}
		_, offset := instant.In(z.loc).Zone()
		return DaysTime{seconds: int64(offset)}, true
	case "timezone":
		if z.id == "" {
			return Null{}, true
		}
		return String(z.id), true
	}
	return nil, false
}

// durationProperty gives the parts of a duration; all have the duration's sign.
func durationProperty(d DaysTime, name string) (Value, bool) {
	sign := int64(1)
	if d.sign() < 0 {
		sign, d = -1, d.neg()
	}
	switch name {
	case "days":
		return Int(sign * (d.seconds / 86400)), true
	case "hours":
		return Int(sign * (d.seconds / 3600 % 24)), true
	case "minutes":
		return Int(sign * (d.seconds / 60 % 60)), true
	case "seconds":
		if d.nanos == 0 {
			return Int(sign * (d.seconds % 60)), true
		}
		return Number{apd.New(sign*(d.seconds%60*1_000_000_000+int64(d.nanos)), -9)}, true
	}
	return nil, false
}

func rangeProperty(r *Range, name string) (Value, bool) {
	end := func(v Value) (Value, bool) {
		if v == nil {
			return Null{}, true
		}
		return v, true
	}
	switch name {
	case "start":
		return end(r.Low)
	case "end":
		return end(r.High)
	case "start included":
		return Bool(r.LowIncluded), true
	case "end included":
		return Bool(r.HighIncluded), true
	}
	return nil, false
}
