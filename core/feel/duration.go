package feel

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/apd/v3"
)

// DaysTime is a duration of days, hours, minutes and seconds, to the nanosecond. It spans more than every
// two dates are apart, which a time.Duration does not.
type DaysTime struct {
	seconds int64
	nanos   int32 // 0 … 999,999,999; the value is seconds + nanos/1e9, also when negative
}

// YearsMonths is a duration of whole months.
type YearsMonths struct{ months int64 }

// maxMonths bounds years and months durations.
const maxMonths = 2 * maxYear * 12

// NewDaysTime returns the duration d.
func NewDaysTime(d time.Duration) DaysTime {
	seconds := floorDiv(int64(d), int64(time.Second))
	return DaysTime{seconds, int32(int64(d) - seconds*int64(time.Second))}
}

// NewYearsMonths returns the duration of that many months.
func NewYearsMonths(months int64) (YearsMonths, bool) {
	return YearsMonths{months}, months <= maxMonths && months >= -maxMonths
}

// Duration returns d as a time.Duration, and false when it is too long for one (292 years).
func (d DaysTime) Duration() (time.Duration, bool) {
	const most = int64(1<<63-1)/int64(time.Second) - 1
	if d.seconds > most || d.seconds < -most {
		return 0, false
	}
	return time.Duration(d.seconds)*time.Second + time.Duration(d.nanos), true
}

// Months returns the number of months.
func (d YearsMonths) Months() int64 { return d.months }

// After returns the moment that lies d after t.
func (d DaysTime) After(t time.Time) (time.Time, bool) { return addSpan(t, d) }

// After returns the moment that lies d after t, on the last day of the month when t's day is not in it.
func (d YearsMonths) After(t time.Time) (time.Time, bool) { return addMonths(t, d.months) }

// Kind returns KindDaysTime.
func (DaysTime) Kind() Kind { return KindDaysTime }

// Kind returns KindYearsMonths.
func (YearsMonths) Kind() Kind { return KindYearsMonths }

func (d DaysTime) sign() int {
	switch {
	case d.seconds < 0:
		return -1
	case d.seconds > 0 || d.nanos > 0:
		return 1
	}
	return 0
}

func (d DaysTime) neg() DaysTime {
	if d.nanos == 0 {
		return DaysTime{-d.seconds, 0}
	}
	return DaysTime{-d.seconds - 1, int32(time.Second) - d.nanos}
}

// add returns the sum, and false beyond the longest duration.
func (d DaysTime) add(o DaysTime) (DaysTime, bool) {
	sum := DaysTime{d.seconds + o.seconds, d.nanos + o.nanos}
	if sum.nanos >= int32(time.Second) {
		sum.seconds, sum.nanos = sum.seconds+1, sum.nanos-int32(time.Second)
	}
	return sum, sum.seconds <= maxSpanSeconds && sum.seconds >= -maxSpanSeconds
}

func (d DaysTime) compare(o DaysTime) int {
	switch {
	case d.seconds != o.seconds:
		return pickInt(d.seconds < o.seconds)
	case d.nanos != o.nanos:
		return pickInt(d.nanos < o.nanos)
	}
	return 0
}

func pickInt(less bool) int {
	if less {
		return -1
	}
	return 1
}

// number is the duration in seconds.
func (d DaysTime) number() Number {
	n := Int(d.seconds)
	fraction := Number{apd.New(int64(d.nanos), -9)}
	sum, _ := n.add(fraction) // at most 28 digits: exact
	return sum
}

// daysTimeOf is the duration of n seconds, cut to the nanosecond.
func daysTimeOf(n Number) (DaysTime, bool) {
	whole, ok := n.round(0, apd.RoundFloor)
	if !ok {
		return DaysTime{}, false
	}
	seconds, fits := whole.Int64()
	fraction, ok := n.sub(whole)
	if !fits || !ok || seconds > maxSpanSeconds || seconds < -maxSpanSeconds {
		return DaysTime{}, false
	}
	scaled, ok := fraction.mul(Int(int64(time.Second)))
	if !ok {
		return DaysTime{}, false
	}
	nanos, ok := scaled.round(0, apd.RoundDown)
	if !ok {
		return DaysTime{}, false
	}
	i, _ := nanos.Int64() // below 1e9
	return DaysTime{seconds, int32(i)}, true
}

// String returns the duration in ISO 8601, such as P1DT2H or -PT0.5S.
func (d DaysTime) String() string {
	sign := ""
	if d.sign() < 0 {
		sign, d = "-", d.neg()
	}
	var date, clock string
	if days := d.seconds / 86400; days > 0 {
		date = strconv.FormatInt(days, 10) + "D"
	}
	if hours := d.seconds / 3600 % 24; hours > 0 {
		clock += fmt.Sprintf("%dH", hours)
	}
	if minutes := d.seconds / 60 % 60; minutes > 0 {
		clock += fmt.Sprintf("%dM", minutes)
	}
	if seconds := d.seconds % 60; seconds > 0 || d.nanos > 0 {
		clock += strconv.FormatInt(seconds, 10)
		if d.nanos > 0 {
			clock += strings.TrimRight(fmt.Sprintf(".%09d", d.nanos), "0")
		}
		clock += "S"
	}
	switch {
	case clock != "":
		return sign + "P" + date + "T" + clock
	case date != "":
		return sign + "P" + date
	}
	return "PT0S"
}

// String returns the duration in ISO 8601, such as P1Y2M.
func (d YearsMonths) String() string {
	months, sign := d.months, ""
	if months < 0 {
		months, sign = -months, "-"
	}
	text := ""
	if months/12 > 0 {
		text = strconv.FormatInt(months/12, 10) + "Y"
	}
	if months%12 > 0 || text == "" {
		text += strconv.FormatInt(months%12, 10) + "M"
	}
	return sign + "P" + text
}
