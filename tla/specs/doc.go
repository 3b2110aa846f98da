// Package specs finds the specifications of the protocols, their models and their mutants by the convention of
// their folders, and checks them.
//
// A protocol is a folder beside this one with a README.md:
//
//	tla/claim/README.md            what is modeled and what is not; its first line is the title
//	tla/claim/Claim.tla            a specification; a folder may have several
//	tla/claim/MCClaim.tla          constants and bounds of its small models
//	tla/claim/MCClaim.cfg          a model: exhaustive, seconds; every one gates. MCClaim-live.cfg is another
//	tla/claim/LargeClaim.cfg       exhaustive too, on demand; its module is MCClaim
//	tla/claim/SIMClaim.cfg         random behaviors of a larger instance, on demand; its module is MCClaim
//	tla/claim/TraceClaim.tla, .cfg what trace.go checks executions of the code against (package tla/trace)
//	tla/claim/mutants/NAME.mutant  a changed specification that must violate the property it names
//
// A mutant's first lines say what it does, which property it violates and in which model; a patch follows, in the
// form of internal/mutant:
//
//	what: the sweep keeps the epoch
//	violates: L3I2_EpochRises
//	model: MCClaim.cfg
//	file: Claim.tla
//	-- replace --
//	…
//
// Every invariant and property that a model of the folder checks needs a mutant that violates it, so that none is
// vacuous.
package specs
