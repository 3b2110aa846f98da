package option_test

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/option"
	"github.com/millrace-dev/millrace/sim"
)

func TestMain(m *testing.M) { sim.Main(m) }

func TestRangesHoldTheirBounds(t *testing.T) {
	for _, c := range []struct {
		number int
		span   time.Duration
		want   string
	}{
		{1, time.Millisecond, ""},
		{8, time.Hour, ""},
		{0, time.Second, "pump option Size: 0 is not in 1 … 8"},
		{9, time.Second, "pump option Size: 9 is not in 1 … 8"},
		{-1, time.Millisecond - 1, "pump option Size: -1 is not in 1 … 8\npump option Poll: 999.999µs is not in 1ms … 1h0m0s"},
		{3, time.Hour + 1, "pump option Poll: 1h0m0.000000001s is not in 1ms … 1h0m0s"},
	} {
		r := option.Of("pump")
		r.Number("Size", c.number, 8)
		r.Span("Poll", c.span, time.Hour)
		got := ""
		if err := r.Join(nil); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%d and %v: %q, want %q", c.number, c.span, got, c.want)
		}
	}
	other := errors.New("other")
	if err := option.Of("pump").Join(other); !errors.Is(err, other) {
		t.Errorf("a fault of another kind is lost: %v", err)
	}
}

func TestDefaultLeavesWhatWasGiven(t *testing.T) {
	size, name := 0, "given"
	option.Default(&size, 7)
	option.Default(&name, "default")
	if size != 7 || name != "given" {
		t.Errorf("got %d and %q", size, name)
	}
}
