---- MODULE All ----
EXTENDS Naturals
VARIABLES f, g
Init == f = [i \in 1..3 |-> 0] /\ g = 0
\* every component is assigned by a universally quantified action
Next == \/ \A i \in 1..2 : \/ i = 1 /\ f' = [f EXCEPT ![1] = 1 - @]
                           \/ i = 2 /\ g' \in {g, 1}
        \/ CASE g = 0 -> f' = f /\ g' = 1
             [] g = 1 /\ f[1] = 0 -> LET h == f[1] IN f' = [f EXCEPT ![2] = h] /\ UNCHANGED g
             [] OTHER -> UNCHANGED <<f, g>>
Inv == f[2] = 0 /\ f[3] = 0
====
