---- MODULE Counter ----
EXTENDS Naturals
CONSTANT Max
VARIABLE n
Init == n = 0
Step(k) == n + k <= Max /\ n' = n + k
Next == Step(1) \/ Step(2)
Spec == Init /\ [][Next]_n
Bounded == n <= Max
Reach == n # Max
Progress == <>(n = Max)
LiveSpec == Spec /\ WF_n(Next)
====
