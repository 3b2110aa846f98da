package feel

// The relations of points and ranges (chapter 10.3.4.9). Each is written for two ranges; a point p counts
// as the range [p..p] where the standard allows one.
func rangeBuiltins() []builtin {
	pointOrRange := "point1, point2 | point, range | range, point | range1, range2"
	ranges := "range1, range2"
	return []builtin{
		{name: "before", params: pointOrRange, run: relation(before)},
		{name: "after", params: pointOrRange, run: relation(func(a, b *interval) bool { return before(b, a) })},
		{name: "meets", params: ranges, run: relation(meets)},
		{name: "met by", params: ranges, run: relation(func(a, b *interval) bool { return meets(b, a) })},
		{name: "overlaps", params: ranges, run: relation(overlaps)},
		{name: "overlaps before", params: ranges, run: relation(overlapsBefore)},
		{name: "overlaps after", params: ranges, run: relation(func(a, b *interval) bool { return overlapsBefore(b, a) })},
		{name: "finishes", params: "point, range | range1, range2", run: relation(finishes)},
		{name: "finished by", params: "range, point | range1, range2", run: relation(func(a, b *interval) bool { return finishes(b, a) })},
		{name: "includes", params: "range, point | range1, range2", run: relation(includes)},
		{name: "during", params: "point, range | range1, range2", run: relation(func(a, b *interval) bool { return includes(b, a) })},
		{name: "starts", params: "point, range | range1, range2", run: relation(starts)},
		{name: "started by", params: "range, point | range1, range2", run: relation(func(a, b *interval) bool { return starts(b, a) })},
		{name: "coincides", params: "point1, point2 | range1, range2", run: relation(coincides)},
	}
}

// interval is a bounded range whose endpoints all have one order.
type interval struct {
	low, high     Value
	lowIn, highIn bool
}

func intervalOf(v Value) (*interval, bool) {
	r, ok := v.(*Range)
	if !ok {
		return &interval{v, v, true, true}, true
	}
	if r.Low == nil || r.High == nil {
		return nil, false
	}
	return &interval{r.Low, r.High, r.LowIncluded, r.HighIncluded}, true
}

func relation(f func(a, b *interval) bool) func(*call) Value {
	return func(c *call) Value {
		a, okA := intervalOf(c.single(0))
		b, okB := intervalOf(c.single(1))
		if !okA || !okB {
			return c.null("a range without end has no relation")
		}
		for _, pair := range [...][2]Value{{a.low, a.high}, {a.low, b.low}, {b.low, b.high}} {
			if _, ok := compare(pair[0], pair[1]); !ok {
				return c.null("%s and %s have no order", describe(pair[0]), describe(pair[1]))
			}
		}
		return Bool(f(a, b))
	}
}

// cmp orders two endpoints that are known to be ordered.
func cmp(a, b Value) int {
	c, _ := compare(a, b)
	return c
}

func before(a, b *interval) bool {
	c := cmp(a.high, b.low)
	return c < 0 || c == 0 && !(a.highIn && b.lowIn)
}

func meets(a, b *interval) bool { return a.highIn && b.lowIn && cmp(a.high, b.low) == 0 }

func overlaps(a, b *interval) bool { return !before(a, b) && !before(b, a) }

// lowCompare orders low endpoints: an included one comes before an excluded one of the same value.
func lowCompare(a, b *interval) int {
	if c := cmp(a.low, b.low); c != 0 || a.lowIn == b.lowIn {
		return c
	}
	return pickInt(a.lowIn)
}

// highCompare orders high endpoints: an excluded one comes before an included one of the same value.
func highCompare(a, b *interval) int {
	if c := cmp(a.high, b.high); c != 0 || a.highIn == b.highIn {
		return c
	}
	return pickInt(b.highIn)
}

func overlapsBefore(a, b *interval) bool {
	return overlaps(a, b) && lowCompare(a, b) < 0 && highCompare(a, b) <= 0
}

func finishes(a, b *interval) bool { return highCompare(a, b) == 0 && lowCompare(a, b) >= 0 }

func starts(a, b *interval) bool { return lowCompare(a, b) == 0 && highCompare(a, b) <= 0 }

func includes(a, b *interval) bool { return lowCompare(a, b) <= 0 && highCompare(a, b) >= 0 }

func coincides(a, b *interval) bool { return lowCompare(a, b) == 0 && highCompare(a, b) == 0 }
