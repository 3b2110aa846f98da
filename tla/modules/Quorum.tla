---- MODULE Quorum ----
(* Sets of quorums: any two meet, and what contains a quorum is one. *)
QuorumSystem(S) ==
  {Q \in SUBSET (SUBSET S) :
     /\ Q # {}
     /\ \A a, b \in Q : a \cap b # {}
     /\ \A a \in Q, b \in SUBSET S : a \subseteq b => b \in Q}
====
