---- MODULE VectorClocks ----
EXTENDS Naturals, Sequences, Functions
LOCAL Before(v, w) == (\A i \in DOMAIN v : v[i] <= w[i]) /\ \E i \in DOMAIN v : v[i] < w[i]
IsCausalOrder(log, clock(_)) ==
  \A i \in 1..Len(log) : \A j \in 1..(i - 1) :
    LET D == DOMAIN clock(log[i]) \cup DOMAIN clock(log[j])
        Fill(c) == [d \in D |-> IF d \in DOMAIN c THEN c[d] ELSE 0]
    IN ~ Before(Fill(clock(log[i])), Fill(clock(log[j])))
====
