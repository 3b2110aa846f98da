package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Fault is one reason why a package is refused.
type Fault struct {
	// File is the name within the package folder.
	File string `json:"file"`
	// Line and Column are 1-based; 0 means the file as a whole.
	Line   int `json:"line"`
	Column int `json:"column"`
	// Path names the place in millrace.yaml, as in sources.intake.http.path.
	Path string `json:"path"`
	// Reason says what is wrong and, where it is known, what would be right.
	Reason string `json:"reason"`
}

// Error returns "millrace.yaml:12:5: sources.intake.http: reason".
func (f Fault) Error() string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d", f.Line)
	}
	if f.Line > 0 && f.Column > 0 {
		fmt.Fprintf(&b, ":%d", f.Column)
	}
	b.WriteString(": ")
	if f.Path != "" {
		b.WriteString(f.Path + ": ")
	}
	return b.String() + f.Reason
}

// sortFaults orders faults by file, place and text and drops repetitions.
func sortFaults(faults []Fault) []Fault {
	slices.SortFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.Reason, b.Reason))
	})
	return slices.Compact(faults)
}

// suggest returns the candidate that name was probably meant to be, or "". It allows one slip in
// three characters; ties go to the first candidate.
func suggest(name string, candidates []string) string {
	best, distance := "", max(1, len(name)/3)+1
	for _, c := range candidates {
		if d := editDistance(strings.ToLower(name), strings.ToLower(c)); d < distance {
			best, distance = c, d
		}
	}
	return best
}

// hint appends what was probably meant, else what there is.
func hint(name string, candidates []string) string {
	if s := suggest(name, candidates); s != "" {
		return fmt.Sprintf("; did you mean %s?", s)
	}
	if len(candidates) == 0 {
		return "; there are none"
	}
	return "; there are " + strings.Join(candidates[:min(len(candidates), 20)], ", ")
}

// editDistance counts insertions, deletions, replacements and swaps of neighbours. Names are bounded
// by maxNameBytes; anything longer is never a slip of a name.
func editDistance(a, b string) int {
	if len(a) > maxNameBytes || len(b) > maxNameBytes {
		return maxNameBytes
	}
	width := len(b) + 1
	rows := make([]int, (len(a)+1)*width)
	at := func(i, j int) *int { return &rows[i*width+j] }
	for j := range width {
		*at(0, j) = j
	}
	for i := 1; i <= len(a); i++ {
		*at(i, 0) = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			d := min(*at(i-1, j)+1, *at(i, j-1)+1, *at(i-1, j-1)+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, *at(i-2, j-2)+1)
			}
			*at(i, j) = d
		}
	}
	return *at(len(a), len(b))
}
