------------------------------ MODULE Announce ------------------------------
(* The announcer (F1): it tells the replicas of a branch which revision there is, until all of them have it.      *)
(*                                                                                                                *)
(* Offers come at any time and only raise the revision. There is at most one announcer. It holds the lock of the   *)
(* announcement for its decisions, never over a wait: under the lock it picks a replica that is behind; it sends;   *)
(* and it looks again. It ends in the same step that finds every replica current, so an offer that races with that *)
(* is either seen by it or starts the next one. When the node is no longer primary, it ends and hands its offer     *)
(* back: somebody else has to know that it was not announced. Who waits for replicas registers and then reads.      *)
EXTENDS Integers, FiniteSets

CONSTANTS
  Replica,
  Announcer,   \* who may run; one at a time, if the protocol is right
  Waiter,      \* each waits until all replicas have the revision that is offered when it begins
  MaxRevision,
  MaxLost      \* messages that are lost altogether

VARIABLES
  primary,
  offered,     \* the latest revision
  handed,      \* offers up to it were handed back
  run,         \* of each announcer: step, and what it sends to whom
  progress,    \* what each replica is known to have
  has,         \* what it has
  requests, answers,   \* on their way: [to, revision]; they may arrive late, twice, or in another order
  lost,
  wait,        \* of each waiter: step and revision
  registered

vars == <<primary, offered, handed, run, progress, has, requests, answers, lost, wait, registered>>
Message == [to : Replica, revision : 0..MaxRevision]
Rest == [at |-> "rest", to |-> CHOOSE r \in Replica : TRUE, revision |-> 0]

Init ==
  /\ primary = TRUE /\ offered = 0 /\ handed = 0 /\ lost = 0 /\ requests = {} /\ answers = {} /\ registered = {}
  /\ run = [a \in Announcer |-> Rest]
  /\ progress = [r \in Replica |-> 0] /\ has = [r \in Replica |-> 0]
  /\ wait = [w \in Waiter |-> [at |-> "rest", revision |-> 0]]

Max(a, b) == IF a > b THEN a ELSE b
Running == {a \in Announcer : run[a].at # "rest"}
Behind == {r \in Replica : progress[r] < offered}
Current(n) == \A r \in Replica : progress[r] >= n

--------------------------------------------------------------------------------------------------------------------
(* Each of these is one step under the lock. *)

Offer ==
  /\ offered < MaxRevision /\ offered' = offered + 1
  /\ handed' = IF primary THEN handed ELSE offered'
  /\ IF ~primary \/ Running # {} THEN UNCHANGED run
     ELSE LET a == CHOOSE x \in Announcer : run[x].at = "rest" IN run' = [run EXCEPT ![a].at = "look"]
  /\ registered' = IF primary THEN registered ELSE {}
  /\ UNCHANGED <<primary, progress, has, requests, answers, lost, wait>>

Look(a) ==
  /\ run[a].at = "look"
  /\ IF ~primary
     THEN run' = [run EXCEPT ![a] = Rest] /\ handed' = offered /\ registered' = {}
     ELSE IF Behind = {}
     THEN run' = [run EXCEPT ![a] = Rest] /\ UNCHANGED <<handed, registered>>
     ELSE /\ \E r \in Behind : run' = [run EXCEPT ![a] = [at |-> "send", to |-> r, revision |-> offered]]
          /\ UNCHANGED <<handed, registered>>
  /\ UNCHANGED <<primary, offered, progress, has, requests, answers, lost, wait>>

(* Progress only rises, whatever order answers come in; and whoever waits is woken. *)
Answered(m) ==
  /\ m \in answers /\ answers' = answers \ {m}
  /\ progress' = [progress EXCEPT ![m.to] = Max(@, m.revision)] /\ registered' = {}
  /\ UNCHANGED <<primary, offered, handed, run, has, requests, lost, wait>>

StepDown == primary /\ primary' = FALSE /\ UNCHANGED <<offered, handed, run, progress, has, requests, answers, lost, wait, registered>>

--------------------------------------------------------------------------------------------------------------------
Send(a) ==
  /\ run[a].at = "send" /\ requests' = requests \cup {[to |-> run[a].to, revision |-> run[a].revision]}
  /\ run' = [run EXCEPT ![a].at = "sent"]
  /\ UNCHANGED <<primary, offered, handed, progress, has, answers, lost, wait, registered>>

(* It looks again when it is answered, and when it has waited long enough. *)
Again(a) ==
  /\ run[a].at = "sent" /\ run' = [run EXCEPT ![a].at = "look"]
  /\ UNCHANGED <<primary, offered, handed, progress, has, requests, answers, lost, wait, registered>>

Receive(m) ==
  /\ m \in requests /\ has' = [has EXCEPT ![m.to] = Max(@, m.revision)]
  /\ answers' = answers \cup {m} /\ requests' \in {requests, requests \ {m}}   \* it may arrive again
  /\ UNCHANGED <<primary, offered, handed, run, progress, lost, wait, registered>>

Lose(m) ==
  /\ m \in requests /\ lost < MaxLost /\ lost' = lost + 1 /\ requests' = requests \ {m}
  /\ UNCHANGED <<primary, offered, handed, run, progress, has, answers, wait, registered>>

--------------------------------------------------------------------------------------------------------------------
(* A waiter registers, then reads, then sleeps until something changed. *)

Want(w) ==
  /\ wait[w].at = "rest" /\ offered > 0 /\ wait' = [wait EXCEPT ![w] = [at |-> "register", revision |-> offered]]
  /\ UNCHANGED <<primary, offered, handed, run, progress, has, requests, answers, lost, registered>>

Register(w) ==
  /\ wait[w].at = "register" /\ wait' = [wait EXCEPT ![w].at = "read"] /\ registered' = registered \cup {w}
  /\ UNCHANGED <<primary, offered, handed, run, progress, has, requests, answers, lost>>

Read(w) ==
  /\ wait[w].at = "read"
  /\ wait' = [wait EXCEPT ![w].at = IF Current(wait[w].revision) \/ handed >= wait[w].revision THEN "done" ELSE "asleep"]
  /\ UNCHANGED <<primary, offered, handed, run, progress, has, requests, answers, lost, registered>>

Woken(w) ==
  /\ wait[w].at = "asleep" /\ w \notin registered /\ wait' = [wait EXCEPT ![w].at = "register"]
  /\ UNCHANGED <<primary, offered, handed, run, progress, has, requests, answers, lost, registered>>

--------------------------------------------------------------------------------------------------------------------
Runs(a) == Look(a) \/ Send(a) \/ Again(a)
Waits(w) == Register(w) \/ Read(w) \/ Woken(w)
Next ==
  \/ Offer \/ StepDown
  \/ \E a \in Announcer : Runs(a)
  \/ \E m \in Message : Receive(m) \/ Lose(m) \/ Answered(m)
  \/ \E w \in Waiter : Want(w) \/ Waits(w)

(* The announcer goes on, messages that are not lost arrive, waiters go on. *)
Fair ==
  /\ \A a \in Announcer : WF_vars(Runs(a))
  /\ \A m \in Message : SF_vars(Receive(m)) /\ SF_vars(Answered(m))
  /\ \A w \in Waiter : WF_vars(Waits(w))
Spec == Init /\ [][Next]_vars /\ Fair

--------------------------------------------------------------------------------------------------------------------
TypeOK ==
  /\ primary \in BOOLEAN /\ offered \in 0..MaxRevision /\ handed \in 0..MaxRevision /\ lost \in 0..MaxLost
  /\ \A a \in Announcer : run[a] \in [at : {"rest", "look", "send", "sent"}, to : Replica, revision : 0..MaxRevision]
  /\ progress \in [Replica -> 0..MaxRevision] /\ has \in [Replica -> 0..MaxRevision]
  /\ requests \subseteq Message /\ answers \subseteq Message /\ registered \subseteq Waiter
  /\ wait \in [Waiter -> [at : {"rest", "register", "read", "asleep", "done"}, revision : 0..MaxRevision]]

(* F1.I1: there is at most one announcer. *)
F1I1_OneAnnouncer == Cardinality(Running) <= 1

(* F1.I2: an offer that a replica does not have is being announced, or was handed back. *)
F1I2_NoOfferIsLost == Behind # {} => handed = offered \/ \E a \in Announcer : run[a].at \in {"look", "send", "sent"}

(* F1.I3: progress only rises. *)
F1I3_ProgressRises == [][\A r \in Replica : progress'[r] >= progress[r]]_vars

(* F1.I4: a replica has what it is known to have. *)
F1I4_ProgressIsTrue == \A r \in Replica : progress[r] <= has[r]

(* F1: every offer reaches every replica, or is handed back. *)
F1L1_OfferArrives ==
  \A n \in 1..MaxRevision : (offered >= n) ~> (handed >= n \/ \A r \in Replica : has[r] >= n)

(* F1: who waits is answered. *)
F1L2_WaitEnds == \A w \in Waiter : (wait[w].at = "register") ~> (wait[w].at = "done")
=============================================================================
