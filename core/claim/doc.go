// Package claim is the exclusive right to advance one instance.
//
// Owner here: L3, the ownership claim. Its rules are in two places: row.go has the edges of a row's claim, pure
// functions that every store adapter takes inside its transaction; claims.go has [Claims], through which one
// owner takes claims and gives each back exactly once.
//
// Routing sends an instance to one lane because that is fast. The claim makes it correct when routing was wrong, when
// a lane hangs, when a sweep was early and when a process that was thought dead wakes up.
package claim
