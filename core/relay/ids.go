package relay

import "strconv"

// IDs are the delivery ids of a batch's rows: what an inbox knows a row by. An id is the same whenever the source
// sends the row again, so it is a function of where the row came from or, after a deduplicator, of its key. Rows
// need not pay for a string each: ids are put together when somebody asks.
type IDs struct {
	prefix string
	lines  []int32
	keys   []string
}

// LineIDs names the rows of one delivery by their lines in it: "prefix/line".
func LineIDs(prefix string, lines []int32) IDs { return IDs{prefix: prefix + "/", lines: lines} }

// KeyIDs names rows by keys that are unique below the prefix: "prefix/key".
func KeyIDs(prefix string, keys []string) IDs { return IDs{prefix: prefix + "/", keys: keys} }

// Len returns the number of rows.
func (d IDs) Len() int { return max(len(d.lines), len(d.keys)) }

// At returns the id of row i.
func (d IDs) At(i int) string {
	if d.keys != nil {
		return d.prefix + d.keys[i]
	}
	return d.prefix + strconv.Itoa(int(d.lines[i]))
}

// Select returns the ids of the given rows in the given order.
func (d IDs) Select(rows []int32) IDs {
	if d.keys != nil {
		return IDs{prefix: d.prefix, keys: pick(d.keys, rows)}
	}
	return IDs{prefix: d.prefix, lines: pick(d.lines, rows)}
}

func pick[T any](from []T, rows []int32) []T {
	out := make([]T, len(rows))
	for i, row := range rows {
		out[i] = from[row]
	}
	return out
}
