// Package feel is the expression language of the flows: FEEL, as the DMN 1.3 standard (chapter 10)
// defines it, with the built-ins of that chapter and a few later or widely used ones.
//
// An expression is parsed once (Parse) into an immutable Expression and evaluated any number of times
// against a Scope. The package is pure: it holds no state between calls, reads no clock, no time zone
// database and no environment, and an evaluation depends only on the expression, the scope and the
// Options. Expressions, values and scopes may be shared between tasks without further care.
//
// # Null
//
// FEEL has no exceptions: an operation that makes no sense is null, and the rules below decide what a
// null does. They are the ones that conditions of a flow rest on.
//
//   - Ordering (<, <=, >, >=, between) with null, or between values of different kinds, is null.
//   - Equality with null is true or false: null = null is true, null = 1 is false. Equality between two
//     non-null values of different kinds is null, as the standard says.
//   - and, or are three-valued (false and null is false, true or null is true, else null); an operand that
//     is not a boolean counts as null.
//   - A condition (if, some, every, a filter, Holds) is met only by true. Null and every value that is not
//     a boolean are "not met".
//   - A variable, entry or index that is not there is null.
//
// Explain evaluates like Evaluate and also says why nulls came about, with line and column. An error is
// returned only when a bound of Limits was hit; such an evaluation has no value at all.
//
// # Numbers
//
// Numbers are decimals of 34 significant digits with exponents of at most ±6144 (IEEE 754 decimal128, the
// standard's choice), rounded half to even. A result that overflows, and a division by zero, is null.
// Trailing zeros carry no meaning: 1.0 and 1 are one value and print as 1.
//
// # Names
//
// A name is one word of letters, digits, _ and ?. The names of built-ins may contain blanks (string
// length), and so may context keys, parameter names before a colon, and anything in backticks: `first
// name`. Names with blanks are not guessed from the data, so the meaning of a text never depends on the
// variables it meets. The name of a function must be known when the text is parsed: a built-in, a
// parameter, an iterator or an earlier entry of an enclosing context; otherwise Parse fails, with place.
//
// # Deliberate differences from the standard
//
//   - A call with a wrong number of arguments or an unknown parameter name, a context literal with the
//     same key twice and a malformed @"…" literal fail in Parse; the standard makes them null.
//   - Unknown escapes in string literals stand for themselves ("\d" is a backslash and a d), as in the
//     engines that modelers use, because regular expressions are full of them.
//   - Regular expressions are those of Go's regexp package (linear time); a pattern it cannot do, such as
//     one with a back-reference, gives null.
//   - Time zone names need Options.Zone; without it they give null. Offsets need nothing.
//   - Unary tests exist only after "in". External functions do not exist.
//
// # Bounds
//
// Parse bounds the text (MaxSource bytes) and its nesting (MaxDepth). Evaluate bounds steps, call depth,
// string bytes and list items by Limits, so that no expression runs or grows without end.
package feel
