---- MODULE Combinatorics ----
EXTENDS Naturals
choose(n, k) == LET RECURSIVE C(_, _)
                    C(i, acc) == IF i > k THEN acc ELSE C(i + 1, (acc * (n - k + i)) \div i)
                IN IF k > n THEN 0 ELSE C(1, 1)
factorial[n \in Nat] == IF n <= 1 THEN 1 ELSE n * factorial[n - 1]
====
