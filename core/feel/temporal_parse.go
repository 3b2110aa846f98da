package feel

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// zoneFinder resolves a time zone's name.
type zoneFinder func(id string) (zone, bool)

// errTemporal is the common cause of a text that is no temporal value.
var errTemporal = errors.New("not a date, time, date and time or duration")

// maxTemporalText bounds the text of a temporal value.
const maxTemporalText = 100

// ParseTemporal reads an ISO 8601 date, time, date and time or duration; zone names are not known.
func ParseTemporal(text string) (Value, error) {
	return parseTemporal(text, func(string) (zone, bool) { return zone{}, false })
}

// ParseDuration reads an ISO 8601 duration: a DaysTime or a YearsMonths.
func ParseDuration(text string) (Value, error) {
	if v, ok := parseDuration(text); ok {
		return v, nil
	}
	return nil, fmt.Errorf("read duration %.40q: not an ISO 8601 duration of years and months or of days and time", text)
}

func parseTemporal(text string, zones zoneFinder) (Value, error) {
	if len(text) > maxTemporalText {
		return nil, fmt.Errorf("read %.40q: %w", text, errTemporal)
	}
	if v, ok := parseDuration(text); ok {
		return v, nil
	}
	if v, ok := parseDateTime(text, zones); ok {
		return v, nil
	}
	if v, ok := parseDate(text); ok {
		return v, nil
	}
	if v, ok := parseTime(text, zones); ok {
		return v, nil
	}
	return nil, fmt.Errorf("read %q: %w", text, errTemporal)
}

// digitsOf reads between least and most digits from the start of s.
func digitsOf(s string, least, most int) (n int, rest string, ok bool) {
	end := 0
	for end < len(s) && end < most && isDigit(rune(s[end])) {
		end++
	}
	if end < least {
		return 0, s, false
	}
	n, err := strconv.Atoi(s[:end])
	return n, s[end:], err == nil
}

// parseDate reads [-]YYYY-MM-DD with at least four digits of year, and no leading zero beyond four.
func parseDate(text string) (Date, bool) {
	s, negative := strings.CutPrefix(text, "-")
	year, rest, ok := digitsOf(s, 4, 9)
	if !ok || len(s)-len(rest) > 4 && s[0] == '0' {
		return Date{}, false
	}
	if negative {
		year = -year
	}
	month, rest, ok := digitsOf(after(rest, "-"), 2, 2)
	if !ok {
		return Date{}, false
	}
	day, rest, ok := digitsOf(after(rest, "-"), 2, 2)
	if !ok || rest != "" || month < 1 || month > 12 {
		return Date{}, false
	}
	return NewDate(year, time.Month(month), day)
}

// after cuts the separator off, or returns "" when it is not there, which no number matches.
func after(s, separator string) string {
	rest, ok := strings.CutPrefix(s, separator)
	if !ok {
		return ""
	}
	return rest
}

// parseTime reads hh:mm:ss[.fraction][Z | ±hh:mm[:ss] | @zone]. Hour 24 is not a time.
func parseTime(text string, zones zoneFinder) (Time, bool) {
	text = strings.TrimPrefix(text, "T")
	hour, rest, ok := digitsOf(text, 2, 2)
	if !ok || hour > 23 {
		return Time{}, false
	}
	minute, rest, ok := digitsOf(after(rest, ":"), 2, 2)
	if !ok || minute > 59 {
		return Time{}, false
	}
	second, rest, ok := digitsOf(after(rest, ":"), 2, 2)
	if !ok || second > 59 {
		return Time{}, false
	}
	nanos, rest, ok := parseFraction(rest)
	if !ok {
		return Time{}, false
	}
	z, ok := parseZone(rest, zones)
	since := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	return Time{since + time.Duration(nanos), z}, ok
}

// parseFraction reads an optional fraction of a second; digits beyond nanoseconds are cut.
func parseFraction(s string) (nanos int64, rest string, ok bool) {
	digits, found := strings.CutPrefix(s, ".")
	if !found {
		return 0, s, true
	}
	end := 0
	for end < len(digits) && isDigit(rune(digits[end])) {
		end++
	}
	if end == 0 {
		return 0, s, false
	}
	padded := (digits[:end] + "000000000")[:9]
	nanos, err := strconv.ParseInt(padded, 10, 64)
	return nanos, digits[end:], err == nil
}

func parseZone(s string, zones zoneFinder) (zone, bool) {
	switch {
	case s == "":
		return zone{}, true
	case s == "Z" || s == "z":
		return offsetZone(0), true
	case s[0] == '@' && len(s) > 1:
		z, ok := zones(s[1:])
		z.id = s[1:]
		return z, ok
	case s[0] != '+' && s[0] != '-':
		return zone{}, false
	}
	hours, rest, ok := digitsOf(s[1:], 2, 2)
	if !ok || hours > 18 {
		return zone{}, false
	}
	minutes, rest, ok := digitsOf(after(rest, ":"), 2, 2)
	if !ok || minutes > 59 {
		return zone{}, false
	}
	seconds := 0
	if rest != "" {
		if seconds, rest, ok = digitsOf(after(rest, ":"), 2, 2); !ok || rest != "" || seconds > 59 {
			return zone{}, false
		}
	}
	total := hours*3600 + minutes*60 + seconds
	if s[0] == '-' {
		total = -total
	}
	return offsetZone(total), true
}

func parseDateTime(text string, zones zoneFinder) (DateTime, bool) {
	day, clock, found := strings.Cut(text, "T")
	if !found {
		return DateTime{}, false
	}
	d, ok := parseDate(day)
	if !ok || strings.HasPrefix(clock, "T") {
		return DateTime{}, false
	}
	t, ok := parseTime(clock, zones)
	return combine(d, t), ok
}

// parseDuration reads [-]PnYnM or [-]PnDTnHnMnS. A mixture of both kinds is not a FEEL duration.
func parseDuration(text string) (Value, bool) {
	s, negative := strings.CutPrefix(text, "-")
	s, found := strings.CutPrefix(s, "P")
	if !found || len(s) < 2 || len(text) > maxTemporalText {
		return nil, false
	}
	date, clock, hasClock := strings.Cut(s, "T")
	if hasClock && clock == "" {
		return nil, false
	}
	parts, rest := durationParts(date, "YMD")
	times, restClock := durationParts(clock, "HMS")
	if rest != "" || restClock != "" || parts[0].fraction != "" || parts[1].fraction != "" || parts[2].fraction != "" ||
		times[0].fraction != "" || times[1].fraction != "" {
		return nil, false
	}
	calendar := parts[0].given || parts[1].given
	if calendar && (parts[2].given || hasClock) {
		return nil, false
	}
	if calendar {
		return yearsMonthsOf(parts[0].count, parts[1].count, negative)
	}
	return daysTimeFrom(parts[2].count, times, negative)
}

type durationPart struct {
	given    bool
	count    int64
	fraction string
}

// durationParts reads numbers with the three designators, in their order, each at most once.
func durationParts(s, designators string) (parts [3]durationPart, rest string) {
	for i := range designators {
		n, tail, ok := digitsOf(s, 1, 18)
		if !ok {
			return parts, s
		}
		fraction := ""
		if strings.HasPrefix(tail, ".") {
			end := 1
			for end < len(tail) && isDigit(rune(tail[end])) {
				end++
			}
			fraction, tail = tail[:end], tail[end:]
		}
		if tail == "" || tail[0] != designators[i] {
			continue // perhaps the next designator
		}
		parts[i] = durationPart{true, int64(n), fraction}
		s = tail[1:]
	}
	return parts, s
}

func yearsMonthsOf(years, months int64, negative bool) (Value, bool) {
	if years > maxMonths || months > maxMonths {
		return nil, false
	}
	total := years*12 + months
	if negative {
		total = -total
	}
	return NewYearsMonths(total)
}

func daysTimeFrom(days int64, times [3]durationPart, negative bool) (Value, bool) {
	if days > maxSpanSeconds/86400 || times[0].count > maxSpanSeconds/3600 || times[1].count > maxSpanSeconds/60 ||
		times[2].count > maxSpanSeconds {
		return nil, false
	}
	nanos, rest, ok := parseFraction(times[2].fraction)
	if !ok || rest != "" {
		return nil, false
	}
	d := DaysTime{days*86400 + times[0].count*3600 + times[1].count*60 + times[2].count, int32(nanos)}
	if d.seconds > maxSpanSeconds {
		return nil, false
	}
	if negative {
		d = d.neg()
	}
	return d, true
}
