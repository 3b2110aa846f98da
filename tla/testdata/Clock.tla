---- MODULE Clock ----
EXTENDS Naturals
VARIABLE hr
Init == hr \in 1..12
Next == hr' = IF hr # 12 THEN hr + 1 ELSE 1
Spec == Init /\ [][Next]_hr /\ WF_hr(Next)
TypeOK == hr \in 1..12
Small == hr < 12
Fixed == \A a, b \in {1, 2} : a = b      \* reads no variable: it is false in every state
Always == \A h \in 1..12 : []<>(hr = h)
Stays == <>[](hr = 3)
====
