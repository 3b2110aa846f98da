// Package value holds the values of TLA+: booleans, integers, strings, model values, sets and
// functions (tuples, sequences and records are functions). Values are immutable, but a
// Pending, whose memory a checker uses again. Composite values
// cache a hash that EXCEPT and set union update incrementally, sets are sorted slices, and sets that
// would be large (SUBSET S, [S -> T], 1..n) stay symbolic until their elements are needed.
//
// A misuse that a specification can cause (comparing a number with a string, applying a function
// outside its domain) panics with *Error; the evaluator turns it into an error with a place.
//
// A value may be shared between goroutines once Hash has been called on it: nothing is written to it
// afterwards.
package value
