------------------------------ MODULE MCClaim ------------------------------
(* Small models of Claim. Lane "b" starts once: one restart is enough to    *)
(* have an owner and its successor.                                         *)
EXTENDS Claim

SmallOwners == {<<"a", 1>>, <<"a", 2>>, <<"b", 2>>}
OneLane == {<<"a", 1>>, <<"a", 2>>}
=============================================================================
