------------------------------ MODULE MCLease ------------------------------
(* Small models of Lease. Epochs rise without end, so they are bounded.     *)
EXTENDS Lease, TLC

CONSTANT MaxEpoch
Bounded == row.epoch <= MaxEpoch
Lasting == Bounded /\ \A r \in Replicas : task[r].at # "over"   \* a stop in order is quicker than a death
Alike == Permutations(Replicas)

\* In the small models what is acted on is what the row says.
Nothing == {}
=============================================================================
