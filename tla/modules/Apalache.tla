---- MODULE Apalache ----
EXTENDS Naturals, Sequences, FiniteSetsExt
x := e == x = e
Gen(n) == {}
Guess(S) == CHOOSE x \in S : TRUE
Skolem(e) == e
Expand(S) == S
ConstCardinality(e) == e
MkSeq(n, F(_)) == [i \in 1..n |-> F(i)]
Repeat(F(_, _), n, e) == LET RECURSIVE R(_) R(i) == IF i = 0 THEN e ELSE F(R(i - 1), i) IN R(n)
SetAsFun(S) == [k \in {p[1] : p \in S} |-> (CHOOSE p \in S : p[1] = k)[2]]
ApaFoldSet(op(_, _), base, S) == FoldSet(LAMBDA a, b : op(b, a), base, S)
ApaFoldSeqLeft(op(_, _), base, s) == LET RECURSIVE L(_) L(i) == IF i = 0 THEN base ELSE op(L(i - 1), s[i]) IN L(Len(s))
====
