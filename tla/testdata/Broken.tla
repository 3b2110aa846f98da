---- MODULE Broken ----
EXTENDS Naturals, Sequences
VARIABLE s
Init == s = <<>>
Next == s' = Tail(s)
Wild == s' = Append(s, 1) /\ Len(s) < 3
Half == Len(s) < 3 /\ Head(s) = 1 /\ s' = s
Mixed == s = 3
====
