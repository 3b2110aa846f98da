package bpmn

import (
	"cmp"
	"fmt"
	"slices"
)

// Fault is one thing that is wrong with a file, or, as a warning, one thing in it that has no effect.
type Fault struct {
	File    string
	Line    int    // from 1; 0 when the whole file is meant
	Column  int    // from 1, in bytes
	Element string // the id of the element, when it has one
	Reason  string
	Warning bool // the file can be deployed all the same
}

// String returns "file:line:column: element "id": reason".
func (f Fault) String() string {
	text := fmt.Sprintf("%s:%d:%d: ", f.File, f.Line, f.Column)
	if f.Warning {
		text += "warning: "
	}
	if f.Element != "" {
		text += fmt.Sprintf("element %q: ", f.Element)
	}
	return text + f.Reason
}

// Refused reports whether the faults contain one that is not a warning.
func Refused(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool { return !f.Warning })
}

// sortFaults brings faults into document order. Faults at one place keep the order they were found in.
func sortFaults(faults []Fault) {
	slices.SortStableFunc(faults, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
