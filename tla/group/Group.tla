------------------------------- MODULE Group -------------------------------
(* Group commit (owner S3): steps of several lanes share one transaction.   *)
(*                                                                          *)
(* A step asserts a claim that its lane holds, and takes in a delivery once.*)
(* A leader gathers steps that wait, of different instances, and sends them *)
(* as one transaction, which takes effect whole or not at all. What is      *)
(* rolled back for certain is sent again, each step by itself, so that only *)
(* who is guilty fails. When the outcome is unknown nobody is told          *)
(* anything, and each member decides for itself: it shuts its own step out, *)
(* and with it the group, and looks whether it took effect.                 *)
(*                                                                          *)
(*   leader   idle -Gather-> together -RolledBack-> apart -Alone-> alone    *)
(*   member   idle -Commit-> queued -> sent -> told -> over                 *)
(*                                       \--> undecided -Shut-> -> over     *)
EXTENDS Naturals, FiniteSets

CONSTANTS
  Members,    \* steps, each under a claim of its own
  Keys,       \* deliveries
  Leaders,
  Most,       \* steps of one transaction
  MaxFaults,  \* lost answers, refusals and sweeps of one behavior
  None

VARIABLES
  at,      \* member -> where it is
  key,     \* member -> the delivery that it takes in
  claim,   \* member -> whether its row carries its claim still
  done,    \* the members that took effect
  tx,      \* the transactions under way
  sent,    \* the members of each transaction that was ever sent
  leader,  \* leader -> what it does
  told,    \* member -> what it was told
  excused, \* members that may fail: their claim was taken, or the store refused them
  faults

vars == <<at, key, claim, done, tx, sent, leader, told, excused, faults>>

Free == [at |-> "idle", group |-> {}, one |-> None, got |-> FALSE]
Fault == faults < MaxFaults /\ faults' = faults + 1

Init ==
  /\ at = [m \in Members |-> "idle"]
  /\ key = [m \in Members |-> None]
  /\ claim = [m \in Members |-> FALSE]
  /\ done = {} /\ tx = {} /\ sent = {}
  /\ leader = [l \in Leaders |-> Free]
  /\ told = [m \in Members |-> "nothing"]
  /\ excused = {}
  /\ faults = 0

Taken(m) == \E n \in done : n # m /\ key[n] = key[m]
Acceptable(group) ==
  \A m \in group : claim[m] /\ ~Taken(m) /\ \A n \in group : n # m => key[n] # key[m]

\* ---- members ------------------------------------------------------------------

\* It hands a step in. Its claim may be lost already: a sweep was early.
Commit(m, k, holds) ==
  /\ at[m] = "idle"
  /\ at' = [at EXCEPT ![m] = "queued"]
  /\ key' = [key EXCEPT ![m] = k]
  /\ claim' = [claim EXCEPT ![m] = holds]
  /\ IF holds THEN UNCHANGED <<excused, faults>> ELSE Fault /\ excused' = excused \cup {m}
  /\ UNCHANGED <<done, tx, sent, leader, told>>

\* Its row moves past its claim: by its own fence, or by a sweep that takes the lane for dead.
Shut(m) ==
  /\ claim[m]
  /\ IF at[m] = "undecided" THEN UNCHANGED faults ELSE Fault
  /\ claim' = [claim EXCEPT ![m] = FALSE]
  /\ excused' = excused \cup {m}
  /\ UNCHANGED <<at, key, done, tx, sent, leader, told>>

\* The lane knows what became of its step: it was told, or the row is past the claim and the record tells.
Decided(m, v) ==
  /\ at[m] = "undecided"
  /\ IF m \in done THEN v = "committed" ELSE v = "failed" /\ ~claim[m]
Conclude(m, v) ==
  /\ (at[m] = "told" /\ v = told[m]) \/ Decided(m, v)
  /\ at' = [at EXCEPT ![m] = "over"]
  /\ told' = [told EXCEPT ![m] = v]
  /\ UNCHANGED <<key, claim, done, tx, sent, leader, excused, faults>>

\* ---- leaders --------------------------------------------------------------------

Group(l) == leader[l].group
Is(l, place) == leader[l].at = place
Waits(l) == leader[l].at \in {"together", "alone"}
Who(l) == IF Is(l, "alone") THEN {leader[l].one} ELSE Group(l)
Sending(l, who) == [by |-> l, who |-> who, lost |-> FALSE]
Put(ms, place) == at' = [m \in Members |-> IF m \in ms THEN place ELSE at[m]]
Without(l) == tx \ {Sending(l, Who(l))}

\* What is left of a group when some of it have their answer.
Rest(l, ms) ==
  leader' = [leader EXCEPT ![l] = IF Group(l) = ms THEN Free ELSE [Free EXCEPT !.at = "apart", !.group = Group(l) \ ms]]

Send(l, who) == tx' = tx \cup {Sending(l, who)} /\ sent' = sent \cup {who}

Gather(l, group) ==
  /\ Is(l, "idle") /\ group # {} /\ Cardinality(group) <= Most
  /\ \A m \in group : at[m] = "queued"
  /\ Put(group, "sent")
  /\ IF Cardinality(group) = 1
     THEN leader' = [leader EXCEPT ![l] = [Free EXCEPT !.at = "apart", !.group = group]] /\ UNCHANGED <<tx, sent>>
     ELSE leader' = [leader EXCEPT ![l] = [Free EXCEPT !.at = "together", !.group = group]] /\ Send(l, group)
  /\ UNCHANGED <<key, claim, done, told, excused, faults>>

Alone(l, m) ==
  /\ Is(l, "apart") /\ m \in Group(l)
  /\ leader' = [leader EXCEPT ![l].at = "alone", ![l].one = m]
  /\ Send(l, {m})
  /\ UNCHANGED <<at, key, claim, done, told, excused, faults>>

Tell(ms, v) == told' = [m \in Members |-> IF m \in ms THEN v ELSE told[m]]

\* The transaction committed: all that were in it are told so.
Committed(l) ==
  /\ Waits(l) /\ leader[l].got
  /\ Put(Who(l), "told") /\ Tell(Who(l), "committed")
  /\ Rest(l, Who(l))
  /\ UNCHANGED <<key, claim, done, tx, sent, excused, faults>>

\* Nothing is known: it may have landed, may land yet, or never.
Unknown(l) ==
  /\ Waits(l) /\ Fault
  /\ Put(Who(l), "undecided")
  /\ Rest(l, Who(l))
  /\ \/ tx' = Without(l)
     \/ Sending(l, Who(l)) \in tx /\ tx' = Without(l) \cup {[Sending(l, Who(l)) EXCEPT !.lost = TRUE]}
  /\ UNCHANGED <<key, claim, done, sent, told, excused>>

\* The group was rolled back for certain: a member is guilty, or the store refuses.
RolledBack(l) ==
  /\ Is(l, "together") /\ ~leader[l].got
  /\ IF Acceptable(Group(l)) THEN Fault ELSE UNCHANGED faults
  /\ leader' = [leader EXCEPT ![l].at = "apart"]
  /\ tx' = Without(l)
  /\ UNCHANGED <<at, key, claim, done, sent, told, excused>>

\* A step by itself is refused for certain.
Failed(l) ==
  /\ Is(l, "alone") /\ ~leader[l].got
  /\ IF Acceptable(Who(l)) THEN Fault /\ excused' = excused \cup Who(l) ELSE UNCHANGED <<faults, excused>>
  /\ Put(Who(l), "told") /\ Tell(Who(l), "failed")
  /\ Rest(l, Who(l))
  /\ tx' = Without(l)
  /\ UNCHANGED <<key, claim, done, sent>>

\* ---- the store -------------------------------------------------------------------

\* A transaction asserts the claims of all its members, and frees them.
Effect(t) == t.who
Land(t) ==
  /\ t \in tx /\ Acceptable(t.who)
  /\ done' = done \cup Effect(t)
  /\ claim' = [m \in Members |-> claim[m] /\ m \notin t.who]
  /\ tx' = tx \ {t}
  /\ leader' = IF t.lost THEN leader ELSE [leader EXCEPT ![t.by].got = TRUE]
  /\ UNCHANGED <<at, key, sent, told, excused, faults>>

\* ---- behaviors ---------------------------------------------------------------------

Go(l) ==
  \/ \E group \in SUBSET {m \in Members : at[m] = "queued"} : Gather(l, group)
  \/ (\E m \in Members : Alone(l, m)) \/ Committed(l)
  \/ (RolledBack(l) /\ UNCHANGED faults) \/ (Failed(l) /\ UNCHANGED faults)

Next ==
  \/ \E m \in Members : (\E k \in Keys : \E holds \in BOOLEAN : Commit(m, k, holds)) \/ Shut(m) \/ \E v \in {"committed", "failed"} : Conclude(m, v)
  \/ \E l \in Leaders : Go(l) \/ Unknown(l) \/ RolledBack(l) \/ Failed(l)
  \/ \E t \in tx : Land(t)

Spec == Init /\ [][Next]_vars

\* Leaders go on, the store takes what it may take, and a lane that was told nothing decides.
Fairness ==
  /\ \A l \in Leaders : WF_vars(Go(l))
  /\ WF_vars(\E t \in tx : Land(t))
  /\ \A m \in Members : WF_vars((Shut(m) /\ at[m] = "undecided") \/ \E v \in {"committed", "failed"} : Conclude(m, v))

FairSpec == Spec /\ Fairness

\* ---- what must hold -----------------------------------------------------------------

TypeOK ==
  /\ \A m \in Members : /\ at[m] \in {"idle", "queued", "sent", "told", "undecided", "over"}
                        /\ told[m] \in {"nothing", "committed", "failed"}
  /\ \A l \in Leaders : leader[l].at \in {"idle", "together", "apart", "alone"} /\ Group(l) \subseteq Members
  /\ \A t \in tx : t.who \in sent

\* Who was told "committed" took effect; who was told "failed" did not, and never will.
S3I1_CommittedIsTrue == \A m \in Members : told[m] = "committed" => m \in done
S3I2_FailedIsTrue == \A m \in Members : told[m] = "failed" => m \notin done

\* Only who is refused by itself fails.
S3I3_OnlyTheGuiltyFail == \A m \in Members : told[m] = "failed" => m \in excused \/ Taken(m)

\* A transaction is small enough, and of no member of another that may land.
S3I4_Apart ==
  /\ \A t \in tx : Cardinality(t.who) <= Most
  /\ \A t, u \in tx : t # u => t.who \cap u.who = {} \/ \E m \in t.who : ~claim[m]

\* A transaction takes effect whole, and a delivery once.
S3I5_Whole == [][done' # done => \E group \in sent : done' \ done = group]_vars
S3I6_DeliveryOnce == \A m, n \in done : key[m] = key[n] => m = n

\* Whoever waits hears what became of it.
S3_AllHear == \A m \in Members : at[m] = "queued" ~> at[m] = "over"
=============================================================================
