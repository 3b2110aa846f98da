------------------------------ MODULE MCInbox ------------------------------
(* Small models of Inbox: two lanes, two deliveries. *)
EXTENDS Inbox
=============================================================================
