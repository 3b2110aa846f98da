------------------------------ MODULE TwoPhase ------------------------------
(* Two-phase commit among a set of resource managers: each prepares or      *)
(* aborts on its own, a transaction manager decides once all are prepared.  *)
(* Messages are never removed, so a message may be received again.          *)
EXTENDS TLC
CONSTANT RM
VARIABLES rm, tm, ready, net

vars == <<rm, tm, ready, net>>

Message == [kind : {"prepared"}, from : RM] \cup [kind : {"commit", "abort"}]

TypeOK ==
  /\ rm \in [RM -> {"working", "prepared", "committed", "aborted"}]
  /\ tm \in {"open", "committed", "aborted"}
  /\ ready \subseteq RM
  /\ net \subseteq Message

Init ==
  /\ rm = [r \in RM |-> "working"]
  /\ tm = "open"
  /\ ready = {}
  /\ net = {}

(* The manager counts one resource manager as ready. *)
CountReady(r) ==
  /\ tm = "open"
  /\ [kind |-> "prepared", from |-> r] \in net
  /\ ready' = ready \cup {r}
  /\ UNCHANGED <<rm, tm, net>>

Commit ==
  /\ tm = "open"
  /\ ready = RM
  /\ tm' = "committed"
  /\ net' = net \cup {[kind |-> "commit"]}
  /\ UNCHANGED <<rm, ready>>

Abort ==
  /\ tm = "open"
  /\ tm' = "aborted"
  /\ net' = net \cup {[kind |-> "abort"]}
  /\ UNCHANGED <<rm, ready>>

Prepare(r) ==
  /\ rm[r] = "working"
  /\ rm' = [rm EXCEPT ![r] = "prepared"]
  /\ net' = net \cup {[kind |-> "prepared", from |-> r]}
  /\ UNCHANGED <<tm, ready>>

GiveUp(r) ==
  /\ rm[r] = "working"
  /\ rm' = [rm EXCEPT ![r] = "aborted"]
  /\ UNCHANGED <<tm, ready, net>>

LearnCommit(r) ==
  /\ [kind |-> "commit"] \in net
  /\ rm' = [rm EXCEPT ![r] = "committed"]
  /\ UNCHANGED <<tm, ready, net>>

LearnAbort(r) ==
  /\ [kind |-> "abort"] \in net
  /\ rm' = [rm EXCEPT ![r] = "aborted"]
  /\ UNCHANGED <<tm, ready, net>>

Next ==
  \/ Commit
  \/ Abort
  \/ \E r \in RM :
       CountReady(r) \/ Prepare(r) \/ GiveUp(r) \/ LearnCommit(r) \/ LearnAbort(r)

Spec == Init /\ [][Next]_vars

(* No two resource managers decide differently. *)
Consistent == \A r, s \in RM : ~(rm[r] = "aborted" /\ rm[s] = "committed")

(* Resource managers are interchangeable. *)
Same == Permutations(RM)
=============================================================================
