// Package syntax reads TLA+ modules: a lexer, a parser that follows the column rule of junction
// lists, a syntax tree with positions and comments, and a printer whose output parses to the same
// tree.
//
// The parser accepts the language as people write it: ASCII and Unicode operators, every operator
// with its precedence range, operator definitions of all fixities, INSTANCE in all forms, RECURSIVE,
// LAMBDA, labels, nested modules and subexpression selectors. Proofs are kept as text. An error names
// file, line, column and what was expected; the parser recovers at the next definition and reports
// at most MaxErrors of them. Nesting is bounded by MaxDepth, so no input can exhaust the stack.
package syntax
