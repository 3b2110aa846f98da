package models

// Ledger is the reference of a commit point: what its files and its store hold once units were settled.
type Ledger struct {
	Files []string
	Keys  map[string]bool
}

// Piece is data that a unit adds to one file.
type Piece struct {
	File int
	Data string
}

// NewLedger returns a ledger of n empty files.
func NewLedger(n int) Ledger { return Ledger{Files: make([]string, n), Keys: map[string]bool{}} }

// Commit applies a unit: its keys, and its pieces in the order of their staging.
func (l *Ledger) Commit(keys []string, pieces []Piece) {
	for _, key := range keys {
		l.Keys[key] = true
	}
	for _, x := range pieces {
		l.Files[x.File] += x.Data
	}
}

// Load is what counts of a unit when units are taken into a group.
type Load struct{ Rows, Bytes int }

// Groups splits units that wait together: a group takes the next one until it has that many units, more rows, or as many bytes
// as given, so it exceeds the last two by at most one unit.
func Groups(units []Load, most int, bound Load) [][]int {
	var groups [][]int
	var sum Load
	for i, u := range units {
		last := len(groups) - 1
		if last < 0 || len(groups[last]) == most || sum.Rows > bound.Rows || sum.Bytes >= bound.Bytes {
			groups, sum = append(groups, nil), Load{}
			last++
		}
		groups[last] = append(groups[last], i)
		sum.Rows, sum.Bytes = sum.Rows+u.Rows, sum.Bytes+u.Bytes
	}
	return groups
}
