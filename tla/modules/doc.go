// Package modules provides the standard modules of TLA+ and the community modules, in Go where speed
// matters and in TLA+ text of our own where the definition says it best.
package modules

import "github.com/millrace-dev/millrace/tla/eval"

// All returns every module.
func All() []*eval.Native {
	var out []*eval.Native
	out = append(out, arithmetic()...)
	out = append(out, sequences(), finiteSets(), tlc(), bags(), randomization())
	out = append(out, empty()...)
	out = append(out, community()...)
	return out
}

// empty returns modules that only carry theorems, or whose operators only proofs use.
func empty() []*eval.Native {
	var out []*eval.Native
	for name, extends := range map[string][]string{
		"TLAPS": nil, "FiniteSetTheorems": {"FiniteSets", "Sequences"}, "SequenceTheorems": {"Sequences"},
		"NaturalsInduction": {"Integers"}, "WellFoundedInduction": {"NaturalsInduction"},
		"FunctionTheorems": {"Functions", "Integers"}, "SequencesExtTheorems": {"SequencesExt"},
		"FiniteSetsExtTheorems": {"FiniteSetsExt"}, "RealTime": {"Reals"}, "Toolbox": nil,
		"BagsTheorems": {"Bags"}, "QuorumTheorems": {"Quorum"}, "FoldsTheorems": {"Folds"}, "GraphTheorems": {"Graphs"},
		"SequencePartialOrder": {"Integers", "Sequences"}, "InductiveMethod": nil,
	} {
		out = append(out, &eval.Native{Name: name, Extends: extends, Yields: true})
	}
	return out
}
