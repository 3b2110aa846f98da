---- MODULE Tick ----
EXTENDS Naturals
VARIABLE hour
Init == hour = 1
Next == hour' = IF hour = 12 THEN 1 ELSE hour + 1
Spec == Init /\ [][Next]_hour /\ WF_hour(Next)
Hours == hour \in 1..12
Noon == []<>(hour = 12)
====
