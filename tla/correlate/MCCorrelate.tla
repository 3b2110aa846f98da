---------------------------- MODULE MCCorrelate -----------------------------
(* Small models of Correlate: two lanes, two instances. *)
EXTENDS Correlate

SameChannel == {[key |-> "k", ch |-> "c", n |-> 1], [key |-> "k", ch |-> "c", n |-> 2]}
TwoChannels == {[key |-> "k", ch |-> "c", n |-> 1], [key |-> "k", ch |-> "h", n |-> 2]}
=============================================================================
