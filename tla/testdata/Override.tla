---- MODULE Override ----
EXTENDS Naturals
CONSTANTS Limit, Op(_)
VARIABLE x
Init == x \in Nat
Next == x' = Op(x)
Few == 0..Limit
Wrap(i) == (i + 1) % (Limit + 1)
TypeOK == x \in Nat
====
