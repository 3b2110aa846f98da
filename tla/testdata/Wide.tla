---- MODULE Wide ----
EXTENDS Naturals, Sequences
CONSTANT M
VARIABLES s, r, f, q
Init == /\ s \in SUBSET (1..6)
        /\ r \in [a : 0..9, b : BOOLEAN]
        /\ f \in [M -> {"x", "y"}]
        /\ q = <<>>
Next == /\ Len(q) = 0
        /\ q' = <<s, [f EXCEPT ![CHOOSE m \in M : TRUE] = "y"], r.a - 9 < 0>>
        /\ r' = [r EXCEPT !.b = ~@]
        /\ UNCHANGED <<s, f>>
TypeOK == /\ s \subseteq 1..6
          /\ r.b \in BOOLEAN
          /\ f \in [M -> {"x", "y"}]
          /\ q # <<>> => q[1] = s
====
