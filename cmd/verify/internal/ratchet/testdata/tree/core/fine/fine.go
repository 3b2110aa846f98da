// Package fine breaks no rule, although each line looks like one that could.
package fine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"example.org/m/core/sched"
)

// ErrFine is a sentinel.
var ErrFine = errors.New("fine")

var names = map[int]string{1: "one"}

var table = [...]string{"a", "b"}

const wait = 3 * time.Second

// Owner holds a primitive, which is its business.
type Owner struct {
	mu   sched.Mutex
	rows map[string]int
	keys []string
}

// Name reads a table.
func Name(i int) string { return names[i] + table[0] }

// Wait names a duration and a context, and starts neither.
func Wait(ctx context.Context) (time.Duration, error) { return wait, context.Cause(ctx) }

// Sum does in any order what has no order.
func (o *Owner) Sum() (int, int) {
	sum, count := 0, 0
	for range o.rows {
		count++
	}
	for _, v := range o.rows {
		if v == 7 {
			continue
		}
		sum += v
	}
	return sum, count
}

// Keys sorts what it collects.
func (o *Owner) Keys() []string {
	var keys []string
	for k := range o.rows {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range slices.Sorted(maps.Keys(o.rows)) {
		keys = append(keys, k)
	}
	return keys
}

// Copy writes under the range's own key, and deletes.
func (o *Owner) Copy() map[string]int {
	other := map[string]int{}
	for k, v := range o.rows {
		other[k] = v
		if v == 0 {
			delete(o.rows, k)
		}
	}
	for _, v := range o.rows {
		if v > 9 {
			return nil
		}
	}
	//order: the last one is asked for, whichever it is, by a caller that does not care
	for k := range o.rows {
		o.keys = []string{k}
	}
	return other
}
