---- MODULE Token ----
EXTENDS Naturals, FiniteSets, TLC
CONSTANTS Procs, None
VARIABLES owner, want
vars == <<owner, want>>
Init == owner = None /\ want = {}
Ask(p) == p \notin want /\ owner # p /\ want' = want \cup {p} /\ UNCHANGED owner
Take(p) == owner = None /\ p \in want /\ owner' = p /\ want' = want \ {p}
Free(p) == owner = p /\ owner' = None /\ UNCHANGED want
Next == \E p \in Procs : Ask(p) \/ Take(p) \/ Free(p)
Spec == Init /\ [][Next]_vars
Fair == Spec /\ \A p \in Procs : WF_vars(Free(p)) /\ SF_vars(Take(p))
WeakOnly == Spec /\ \A p \in Procs : WF_vars(Free(p)) /\ WF_vars(Take(p))
TypeOK == owner \in Procs \cup {None} /\ want \subseteq Procs
Served == \A p \in Procs : (p \in want) ~> (owner = p)
Perms == Permutations(Procs)
OneAsks == Cardinality(want) <= 1
NoTake == ~ \E p \in Procs : owner' = p /\ owner # p
View == want
Sum == [owner |-> owner, count |-> Cardinality(want)]
NeverBoth == [][owner # None => owner' = None \/ owner' = owner]_vars
NeverFreed == [][owner # None => owner' = owner]_vars
====
