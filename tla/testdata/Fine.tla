---- MODULE Fine ----
EXTENDS Naturals
VARIABLES x, y
vars == <<x, y>>
Init == x = 0 /\ y = 0
Low == y = 0 /\ y' = 1 /\ UNCHANGED x
High == y = 1 /\ y' = 0 /\ x' = (x + 1) % 5
Next == Low \/ High
Spec == Init /\ [][Next]_vars /\ WF_vars(Next)
C == INSTANCE Coarse WITH n <- x
Refines == C!Spec
D(m) == INSTANCE Coarse WITH n <- x + m
Shifted == D(1)!Spec
Doubled == C!Twice(3) = 6 /\ D(2)!At = x + 2
vs == INSTANCE Coarse WITH n <- x * 2
Wrong == vs!Spec
====
