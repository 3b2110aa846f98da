---- MODULE Folds ----
EXTENDS Naturals
MapThenFoldSet(op(_, _), base, f(_), choose(_), S) ==
  LET RECURSIVE Rest(_)
      Rest(T) == IF T = {} THEN base ELSE LET x == choose(T) IN op(f(x), Rest(T \ {x}))
  IN Rest(S)
====
