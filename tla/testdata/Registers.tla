---- MODULE Registers ----
EXTENDS Naturals, TLC
VARIABLE n
ASSUME TLCSet(1, 0)
Init == n = 0
Next == n < 4 /\ n' = n + 1 /\ TLCSet(1, TLCGet(1) + 1)
Post == TLCGet(1) = 4 /\ TLCGet("stats").distinct = 5 /\ TLCGet("diameter") = 5
Bad == TLCGet(1) = 5
Stop == n = 2 => TLCSet("exit", TRUE)
====
