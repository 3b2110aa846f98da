---- MODULE FiniteSetsExt ----
EXTENDS Integers, FiniteSets, Folds, Functions
FoldSet(op(_, _), base, S) == base
SumSet(S) == FoldSet(LAMBDA a, b : a + b, 0, S)
ProductSet(S) == FoldSet(LAMBDA a, b : a * b, 1, S)
ReduceSet(op(_, _), S, acc) == FoldSet(op, acc, S)
MapThenSumSet(op(_), S) == FoldSet(LAMBDA a, b : op(a) + b, 0, S)
FlattenSet(S) == UNION S
SymDiff(A, B) == (A \ B) \cup (B \ A)
Quantify(S, P(_)) == Cardinality({x \in S : P(x)})
kSubset(k, S) == {T \in SUBSET S : Cardinality(T) = k}
Max(S) == CHOOSE x \in S : \A y \in S : x >= y
Min(S) == CHOOSE x \in S : \A y \in S : x <= y
Choices(Sets) == {f \in [Sets -> UNION Sets] : \A S \in Sets : f[S] \in S}
ChooseUnique(S, P(_)) == CHOOSE x \in S : P(x) /\ \A y \in S : P(y) => y = x
====
