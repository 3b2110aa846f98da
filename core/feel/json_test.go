package feel

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/scan"
)

func TestJSONRoundTrip(t *testing.T) {
	for _, text := range [...]string{
		`null`, `true`, `12.5`, `"a\"b"`, `[]`, `{}`, `[1,[2,null]]`, `{"z":1,"a":{"b":[true]}}`,
		`123456789012345678901234567890.5`, `{"k1":1,"k2":2,"k3":3,"k4":4,"k5":5,"k6":6,"k7":7,"k8":8,"k9":9}`,
	} {
		v, err := ParseJSON([]byte(text))
		if err != nil {
			t.Errorf("read %s: %v", text, err)
			continue
		}
		d, _ := scan.New([]byte(text))
		if fast, ok := ScanJSON(d); !ok || !d.Ended() || !reflect.DeepEqual(fast, v) {
			t.Errorf("scanned %s is %v, %v", text, fast, ok)
		}
		if out, err := AppendJSON(nil, v); err != nil || string(out) != text {
			t.Errorf("%s comes back as %s, %v", text, out, err)
		}
		plain, err := ToGo(v)
		if err != nil {
			t.Errorf("%s to Go: %v", text, err)
		}
		if again, err := FromGo(plain); err != nil || !Equal(again, v) {
			t.Errorf("%s through Go is %v, %v", text, again, err)
		}
	}
}

func TestJSONFaults(t *testing.T) {
	for _, text := range [...]string{
		``, `[1`, `{"a":`, `{"a"}`, `1 2`, `[1,]`, `nul`, `1e999999`, "\"\xff\"", strings.Repeat("[", 100_000),
	} {
		if v, err := ParseJSON([]byte(text)); !errors.Is(err, ErrConvert) {
			t.Errorf("%.20q is %v, %v; want ErrConvert", text, v, err)
		}
	}
	for _, source := range [...]string{"[1..2]", "function(x) x", "{a: abs}"} {
		v, err := evaluate(t, source, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		prefix := []byte("kept")
		if out, err := AppendJSON(prefix, v); !errors.Is(err, ErrConvert) || string(out) != "kept" {
			t.Errorf("%s as JSON: %s, %v; want ErrConvert", source, out, err)
		}
	}
}

func TestFromGo(t *testing.T) {
	type colour string
	moment := time.Date(2024, 1, 2, 3, 4, 5, 6000, time.FixedZone("", 3600))
	for want, v := range map[string]any{
		"null": nil, "true": true, `"x"`: "x", "5": 5, "7": uint8(7), "0.1": 0.1, "1.5": json.Number("1.50"),
		"2024-01-02T03:04:05.000006+01:00": moment, "PT1M30S": 90 * time.Second, "-PT0.5S": -500 * time.Millisecond,
		`{a: 1, b: [2]}`: map[string]any{"b": []any{2}, "a": 1}, "18446744073709551615": uint64(1<<64 - 1), "P1M": YearsMonths{1},
	} {
		if got, err := FromGo(v); err != nil || got.String() != want {
			t.Errorf("%v is %v, %v; want %s", v, got, err, want)
		}
	}
	for _, v := range [...]any{make(chan int), struct{}{}, colour("red"), []any{func() {}}, map[string]any{"a": []int{1}}} {
		if got, err := FromGo(v); !errors.Is(err, ErrConvert) {
			t.Errorf("%T is %v, %v; want ErrConvert", v, got, err)
		}
	}
	cycle := map[string]any{}
	cycle["self"] = cycle
	if _, err := FromGo(cycle); !errors.Is(err, ErrConvert) {
		t.Errorf("a cycle: %v, want ErrConvert", err)
	}
}

func TestTemporalGo(t *testing.T) {
	v, err := ParseTemporal("2024-01-02T03:04:05")
	if err != nil {
		t.Fatal(err)
	}
	local := v.(DateTime)
	if _, ok := local.Instant(); ok {
		t.Error("a local date and time has an instant")
	}
	east := time.FixedZone("", 7200)
	if got := local.In(east).UTC().Hour(); got != 1 {
		t.Errorf("read two hours east it is %d h UTC, want 1", got)
	}
	long, err := ParseDuration("P365000D")
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := long.(DaysTime).Duration(); ok {
		t.Error("a thousand years fit a time.Duration")
	}
	start := time.Date(2024, 1, 31, 0, 0, 0, 0, time.UTC)
	if due, ok := long.(DaysTime).After(start); !ok || due.Year() != 3023 {
		t.Errorf("a thousand years later is %v, %v", due, ok)
	}
	month, err := ParseDuration("P1M")
	if err != nil {
		t.Fatal(err)
	}
	if due, ok := month.(YearsMonths).After(start); !ok || due.Day() != 29 {
		t.Errorf("a month later is %v, %v", due, ok)
	}
	if _, err := ParseDuration("2024-01-01"); err == nil {
		t.Error("a date is a duration")
	}
	if _, err := ParseTemporal("2024-01-01T00:00:00@Europe/Paris"); err == nil {
		t.Error("a zone is known")
	}
}
