package main

import (
	"math"
	"strconv"
	"testing"
)

// Names count once, also after the bound, beyond which the count is an estimate in memory that does not grow.
func TestDistinctNamesAreCounted(t *testing.T) {
	d := newTraceCount(200_000)
	for _, n := range []int{1, 200_000, 200_001, 2_000_000} {
		for i := range n {
			d.add("check", strconv.Itoa(i))
		}
		got, exact := d.count(), n <= 200_000
		if d.estimated() == exact || exact && got != n || math.Abs(float64(got)/float64(n)-1) > 0.02 {
			t.Errorf("%d names: %d, estimated %t", n, got, d.estimated())
		}
	}
	if len(d.exact) != 0 || len(d.registers) != 1<<distinctBits {
		t.Errorf("%d names and %d registers are kept", len(d.exact), len(d.registers))
	}
}

// The same name in another space is another one.
func TestDistinctNamesBelongToTheirSpace(t *testing.T) {
	d := newTraceCount(10)
	for _, space := range []string{"a", "b", "a"} {
		d.add(space, "x")
	}
	if got := d.count(); got != 2 {
		t.Errorf("%d names", got)
	}
}
