------------------------------ MODULE MCGroup ------------------------------
(* Small models of Group. *)
EXTENDS Group, TLC

Alike == Permutations(Members)
=============================================================================
