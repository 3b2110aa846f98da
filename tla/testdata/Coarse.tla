---- MODULE Coarse ----
EXTENDS Naturals
VARIABLE n
Init == n = 0
Next == n' = (n + 1) % 5
Spec == Init /\ [][Next]_n /\ WF_n(Next)
At == n
Twice(k) == 2 * k
====
