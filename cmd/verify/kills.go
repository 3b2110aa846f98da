package main

import "fmt"

// kills is what is known of the mutants that one check is to reject, or of those of one owner.
type kills struct {
	Declared int `json:"declared"`
	Tried    int `json:"tried"` // in the last complete qualification, or later
	Killed   int `json:"killed"`
}

// text is a cell of a table: killed of tried, and how many there are when some were not tried.
func (k kills) text() string {
	switch {
	case k.Declared == 0:
		return "none names it"
	case k.Tried == 0:
		return fmt.Sprintf("%d not tried", k.Declared)
	case k.Tried < k.Declared:
		return fmt.Sprintf("%d/%d (of %d)", k.Killed, k.Tried, k.Declared)
	}
	return fmt.Sprintf("%d/%d", k.Killed, k.Tried)
}

// killsLegend says under a table what its cells mean.
const killsLegend = "killed/tried in the last complete ./just qualify or later; (of N): the other ones have not been tried yet, ./just qualify tries all"

// killsByCheck returns the kills of each check that a mutant names.
func (s site) killsByCheck() (map[string]kills, error) {
	last, err := s.lastQualification()
	by := map[string]kills{}
	declared := map[[2]string]bool{}
	for _, m := range s.cat.Mutants() {
		for _, e := range m.Expects {
			k := by[e.Check]
			k.Declared++
			by[e.Check] = k
			declared[[2]string{m.ID(), e.Check}] = true
		}
	}
	for _, r := range last {
		if r.Unusable || !declared[[2]string{r.Mutant, r.Check}] {
			continue // its check was not tried, or it is not declared any more
		}
		k := by[r.Check]
		k.Tried++
		if r.Killed {
			k.Killed++
		}
		by[r.Check] = k
	}
	return by, err
}

// sampled says how many mutants this run has tried.
func (g *gate) sampled() string {
	all := kills{Declared: len(g.cat.Mutants())}
	of := map[string]bool{} // every check that a mutant names must reject it
	for _, r := range g.Mutants {
		if r.Unusable {
			continue
		}
		before, seen := of[r.Mutant]
		of[r.Mutant] = r.Killed && (before || !seen)
	}
	for _, killed := range of { //order:they are counted
		all.Tried++
		if killed {
			all.Killed++
		}
	}
	return fmt.Sprintf("%d of %d tried here were killed, of %d that are declared. The column says %s", all.Killed, all.Tried, all.Declared, killsLegend)
}
