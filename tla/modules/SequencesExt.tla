---- MODULE SequencesExt ----
EXTENDS Sequences, Naturals, FiniteSets, FiniteSetsExt, Folds, Functions, Bags, TLC
ToSet(s) == {s[i] : i \in DOMAIN s}
ToBag(s) == [e \in ToSet(s) |-> Cardinality({i \in DOMAIN s : s[i] = e})]
SetToSeq(S) == <<>>
SetToSeqs(S) == {f \in [1..Cardinality(S) -> S] : IsInjective(f)}
SetToSortSeq(S, op(_, _)) == SortSeq(SetToSeq(S), op)
SetToAllKPermutations(S) == UNION {SetToSeqs(T) : T \in SUBSET S}
TupleOf(S, n) == [1..n -> S]
SeqOf(S, n) == UNION {[1..m -> S] : m \in 0..n}
BoundedSeq(S, n) == SeqOf(S, n)
Contains(s, e) == \E i \in DOMAIN s : s[i] = e
IsSorted(s, op(_, _)) == \A i, j \in DOMAIN s : i < j => s[i] = s[j] \/ op(s[i], s[j])
Reverse(s) == [i \in 1..Len(s) |-> s[Len(s) + 1 - i]]
Remove(s, e) == SelectSeq(s, LAMBDA x : x # e)
ReplaceAll(s, old, new) == [i \in 1..Len(s) |-> IF s[i] = old THEN new ELSE s[i]]
SelectInSubSeq(s, from, to, Test(_)) == LET I == {i \in from..to : Test(s[i])} IN IF I = {} THEN 0 ELSE Min(I)
SelectInSeq(s, Test(_)) == SelectInSubSeq(s, 1, Len(s), Test)
SelectLastInSubSeq(s, from, to, Test(_)) == LET I == {i \in from..to : Test(s[i])} IN IF I = {} THEN 0 ELSE Max(I)
SelectLastInSeq(s, Test(_)) == SelectLastInSubSeq(s, 1, Len(s), Test)
InsertAt(s, i, e) == SubSeq(s, 1, i - 1) \o <<e>> \o SubSeq(s, i, Len(s))
ReplaceAt(s, i, e) == [s EXCEPT ![i] = e]
RemoveAt(s, i) == SubSeq(s, 1, i - 1) \o SubSeq(s, i + 1, Len(s))
RemoveFirst(s, e) == IF Contains(s, e) THEN RemoveAt(s, Min({i \in DOMAIN s : s[i] = e})) ELSE s
RemoveFirstMatch(s, Test(_)) == LET i == SelectInSeq(s, Test) IN IF i = 0 THEN s ELSE RemoveAt(s, i)
Cons(e, s) == <<e>> \o s
Snoc(e, s) == Append(s, e)
Front(s) == SubSeq(s, 1, Len(s) - 1)
Last(s) == s[Len(s)]
IsPrefix(s, t) == Len(s) <= Len(t) /\ SubSeq(s, 1, Len(s)) = SubSeq(t, 1, Len(s))
IsStrictPrefix(s, t) == IsPrefix(s, t) /\ s # t
IsSuffix(s, t) == IsPrefix(Reverse(s), Reverse(t))
IsStrictSuffix(s, t) == IsSuffix(s, t) /\ s # t
Prefixes(s) == {SubSeq(s, 1, n) : n \in 0..Len(s)}
Suffixes(s) == {SubSeq(s, n, Len(s)) : n \in 1..(Len(s) + 1)}
CommonPrefixes(S) == LET all == UNION {Prefixes(s) : s \in S} IN {p \in all : \A s \in S : IsPrefix(p, s)}
LongestCommonPrefix(S) == CHOOSE p \in CommonPrefixes(S) : \A q \in CommonPrefixes(S) : Len(q) <= Len(p)
SeqMod(a, b) == IF a % b = 0 THEN b ELSE a % b
FoldSeq(op(_, _), base, s) == base
FoldLeft(op(_, _), base, s) == base
FoldRight(op(_, _), s, base) == base
FoldLeftDomain(op(_, _), base, s) == FoldLeft(op, base, [i \in 1..Len(s) |-> i])
FoldRightDomain(op(_, _), s, base) == FoldRight(op, [i \in 1..Len(s) |-> i], base)
FlattenSeq(ss) == FoldLeft(LAMBDA a, b : a \o b, <<>>, ss)
Zip(s, t) == [i \in 1..Min({Len(s), Len(t)}) |-> <<s[i], t[i]>>]
Interleave(s, t) == Zip(s, t)
SubSeqs(s) == {SubSeq(s, i, j) : i \in 1..(Len(s) + 1), j \in 0..Len(s)}
AllSubSeqs(s) == {LET RECURSIVE Pick(_)
                      Pick(i) == IF i > Len(s) THEN <<>> ELSE (IF i \in D THEN <<s[i]>> ELSE <<>>) \o Pick(i + 1)
                  IN Pick(1) : D \in SUBSET DOMAIN s}
IndexFirstSubSeq(s, t) == Min({i \in 1..(Len(t) + 1) : IsPrefix(s, SubSeq(t, i, Len(t)))})
ReplaceSubSeqAt(i, r, s, t) == SubSeq(t, 1, i - 1) \o r \o SubSeq(t, i + Len(s), Len(t))
ReplaceFirstSubSeq(r, s, t) == IF s \in SubSeqs(t) THEN ReplaceSubSeqAt(IndexFirstSubSeq(s, t), r, s, t) ELSE t
ReplaceAllSubSeqs(r, s, t) ==
  LET RECURSIVE From(_)
      From(u) == IF Len(u) < Len(s) \/ s = <<>> THEN u
                 ELSE IF IsPrefix(s, u) THEN r \o From(SubSeq(u, Len(s) + 1, Len(u)))
                 ELSE <<u[1]>> \o From(Tail(u))
  IN From(t)
====
