---- MODULE DyadicRationals ----
LOCAL INSTANCE Integers
LOCAL INSTANCE TLC
LOCAL INSTANCE Sequences
LOCAL Quotient(n, d) == [num |-> n, den |-> d]
LOCAL Lowest(q) == LET RECURSIVE Halve(_)
                       Halve(r) == IF r.num % 2 = 0 /\ r.den % 2 = 0 /\ r.den > 1 THEN Halve(Quotient(r.num \div 2, r.den \div 2)) ELSE r
                   IN IF q.num = 0 THEN Quotient(0, 1) ELSE Halve(q)
IsDyadicRational(r) == \E i \in 0..r.den : 2 ^ i = r.den
Zero == Quotient(0, 1)
One == Quotient(1, 1)
Add(p, q) == IF p.den >= q.den THEN Lowest(Quotient(p.num + q.num * (p.den \div q.den), p.den))
             ELSE Lowest(Quotient(q.num + p.num * (q.den \div p.den), q.den))
Half(p) == Lowest(Quotient(p.num, p.den * 2))
PrettyPrint(p) == IF p = Zero THEN "0" ELSE IF p = One THEN "1" ELSE ToString(p.num) \o "/" \o ToString(p.den)
====
