---- MODULE Relation ----
EXTENDS Naturals, FiniteSets
IsReflexive(R, S) == \A x \in S : R[x, x]
IsReflexiveUnder(op(_, _), S) == \A x \in S : op(x, x)
IsIrreflexive(R, S) == \A x \in S : ~ R[x, x]
IsIrreflexiveUnder(op(_, _), S) == \A x \in S : ~ op(x, x)
IsSymmetric(R, S) == \A x, y \in S : R[x, y] <=> R[y, x]
IsSymmetricUnder(op(_, _), S) == \A x, y \in S : op(x, y) <=> op(y, x)
IsAntiSymmetric(R, S) == \A x, y \in S : R[x, y] /\ R[y, x] => x = y
IsAntiSymmetricUnder(op(_, _), S) == \A x, y \in S : op(x, y) /\ op(y, x) => x = y
IsAsymmetric(R, S) == \A x, y \in S : ~ (R[x, y] /\ R[y, x])
IsAsymmetricUnder(op(_, _), S) == \A x, y \in S : ~ (op(x, y) /\ op(y, x))
IsTransitive(R, S) == \A x, y, z \in S : R[x, y] /\ R[y, z] => R[x, z]
IsTransitiveUnder(op(_, _), S) == \A x, y, z \in S : op(x, y) /\ op(y, z) => op(x, z)
IsStrictlyPartiallyOrdered(R, S) == IsIrreflexive(R, S) /\ IsAntiSymmetric(R, S) /\ IsTransitive(R, S)
IsStrictlyPartiallyOrderedUnder(op(_, _), S) == IsIrreflexiveUnder(op, S) /\ IsAntiSymmetricUnder(op, S) /\ IsTransitiveUnder(op, S)
IsPartiallyOrdered(R, S) == IsReflexive(R, S) /\ IsAntiSymmetric(R, S) /\ IsTransitive(R, S)
IsPartiallyOrderedUnder(op(_, _), S) == IsReflexiveUnder(op, S) /\ IsAntiSymmetricUnder(op, S) /\ IsTransitiveUnder(op, S)
IsStrictlyTotallyOrdered(R, S) == IsStrictlyPartiallyOrdered(R, S) /\ \A x, y \in S : x # y => R[x, y] \/ R[y, x]
IsStrictlyTotallyOrderedUnder(op(_, _), S) == IsStrictlyPartiallyOrderedUnder(op, S) /\ \A x, y \in S : x # y => op(x, y) \/ op(y, x)
IsTotallyOrdered(R, S) == IsPartiallyOrdered(R, S) /\ \A x, y \in S : R[x, y] \/ R[y, x]
IsTotallyOrderedUnder(op(_, _), S) == IsPartiallyOrderedUnder(op, S) /\ \A x, y \in S : op(x, y) \/ op(y, x)
TransitiveClosure(R, S) ==
  LET RECURSIVE Through(_, _)
      Through(Q, T) == IF T = {} THEN Q
                       ELSE LET t == CHOOSE t \in T : TRUE
                            IN Through([x, y \in S |-> Q[x, y] \/ (Q[x, t] /\ Q[t, y])], T \ {t})
  IN Through(R, S)
ReflexiveTransitiveClosure(R, S) == TransitiveClosure([x, y \in S |-> x = y \/ R[x, y]], S)
IsConnected(R, S) == LET C == ReflexiveTransitiveClosure(R, S) IN \A x, y \in S : C[x, y]
====
