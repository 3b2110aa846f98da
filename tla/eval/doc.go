// Package eval gives TLA+ modules their meaning. It loads a module with everything it extends and
// instantiates, resolves names, and compiles expressions to closures once. There is one evaluator:
// the same compiled form serves constants, invariants, actions and the conditions of liveness.
//
// An operator is compiled into each of its uses, with its arguments bound to slots of the frame of
// the use (evaluated at most once, when first needed) or, when they contain primes or are operators,
// substituted by name. Only recursive operators and very deep chains get frames of their own.
// Whether a state variable is read from the current or the next state is decided when an expression
// is compiled, so that prime distributes over definitions and substitutions without run-time cost.
//
// An action is compiled in continuation-passing style: each conjunct holds the compiled rest of the
// action, so that disjunction, quantification and "x' \in S" branch by calling it several times.
//
// A fault is an *Error with the place in the module.
package eval
