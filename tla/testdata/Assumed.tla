---- MODULE Assumed ----
EXTENDS Naturals
CONSTANT N
ASSUME Positive == N > 0
ASSUME N < 10
VARIABLE x
Init == x = N
Next == UNCHANGED x
====
