---- MODULE Compose ----
EXTENDS Naturals
VARIABLE n
Init == n = 0
Up == n < 8 /\ n' = n + 1
Next == (Up \cdot Up) \/ (n = 8 /\ UNCHANGED n)
Even == n % 2 = 0
Can == (n < 8) = ENABLED Up
Spec == Init /\ [][Next]_n
====
