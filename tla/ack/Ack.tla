-------------------------------- MODULE Ack --------------------------------
(* The acknowledgement of one attempt of a source (A1) with parked shares (A2).                                  *)
(*                                                                                                               *)
(* Whoever works on what the attempt brought holds a share of its tree. All shares must be acknowledged; one that *)
(* fails fails the attempt. The outcome is told once, to the receiver that the source left in the tree. A share  *)
(* whose message waits for the outside (a person, a timer) is parked: it still has to be resolved, but it does   *)
(* not work, so a drain need not wait for it.                                                                    *)
(*                                                                                                               *)
(* The tree is two words that change in separate steps: pending says how many shares are not resolved and        *)
(* whether the tree is decided, tracking how far it is settled and how many shares work. A drain reads only      *)
(* tracking: it may see work that has just ended, and must never miss work that goes on.                         *)
EXTENDS Integers, FiniteSets, Sequences

CONSTANTS
  Share,     \* the shares that a tree may ever have
  Task,      \* who resolves and attaches
  MaxParks   \* how often messages park altogether; without a bound one could park for ever and do nothing else

VARIABLES
  pending,   \* [left, decided, failed]: shares not resolved; is the outcome fixed, and is it a failure
  tracking,  \* [phase, active]: 0 open, 1 settling, 2 settled; shares that work
  share,     \* "none", "held", "parked", "resolved", or "unowned" when it was attached too late
  task,      \* [at, set, fail, root]: the step a task is at, the shares it is about, its verdict; root: no share is
             \* behind it, because the tree was made without one
  cause,     \* what the winner wrote: "none", "ok", "failed"
  receiver,  \* the receiver is still in the tree
  told,      \* what the receiver was told: [phase, failed], in order
  parks

vars == <<pending, tracking, share, task, cause, receiver, told, parks>>

Idle == [at |-> "idle", set |-> {}, fail |-> FALSE, root |-> FALSE]
States == {"none", "held", "parked", "resolved", "unowned"}
In(state) == {s \in Share : share[s] = state}
At(t, step) == task[t].at = step
Go(t, step) == task' = [task EXCEPT ![t].at = step]

(* A tree is made with some shares. Made with none it is decided at once, and whoever made it settles it. *)
Init ==
  \E first \in SUBSET Share, maker \in Task :
    /\ pending = [left |-> Cardinality(first), decided |-> first = {}, failed |-> FALSE]
    /\ tracking = [phase |-> 0, active |-> Cardinality(first)]
    /\ share = [s \in Share |-> IF s \in first THEN "held" ELSE "none"]
    /\ task = [t \in Task |-> IF first = {} /\ t = maker
                              THEN [at |-> "enter", set |-> {}, fail |-> FALSE, root |-> TRUE] ELSE Idle]
    /\ cause = "none" /\ receiver = TRUE /\ told = <<>> /\ parks = 0

--------------------------------------------------------------------------------------------------------------------
(* Resolving a share: it is taken, by one task; pending is lowered; the one who decides the tree settles it;      *)
(* active is lowered last. A task that finds its share taken already changes nothing, so there is no action for it. *)

Take(t, s, fail) ==
  /\ At(t, "idle") /\ share[s] = "held"
  /\ share' = [share EXCEPT ![s] = "resolved"]
  /\ task' = [task EXCEPT ![t] = [at |-> "lower", set |-> {s}, fail |-> fail, root |-> FALSE]]
  /\ UNCHANGED <<pending, tracking, cause, receiver, told, parks>>

Lower(t) ==
  LET left == pending.left - 1
      decides == ~pending.decided /\ (task[t].fail \/ left = 0)
  IN
  /\ At(t, "lower")
  /\ pending' = [left |-> left, decided |-> pending.decided \/ decides,
                 failed |-> pending.failed \/ (decides /\ task[t].fail)]
  /\ Go(t, IF decides THEN "enter" ELSE "retire")
  /\ UNCHANGED <<tracking, share, cause, receiver, told, parks>>

Enter(t) ==
  /\ At(t, "enter")
  /\ tracking' = [tracking EXCEPT !.phase = @ + 1]
  /\ Go(t, "keep")
  /\ UNCHANGED <<pending, share, cause, receiver, told, parks>>

Keep(t) ==
  /\ At(t, "keep")
  /\ cause' = IF task[t].fail THEN "failed" ELSE "ok"
  /\ receiver' = FALSE
  /\ Go(t, "leave")
  /\ UNCHANGED <<pending, tracking, share, told, parks>>

Leave(t) ==
  /\ At(t, "leave")
  /\ tracking' = [tracking EXCEPT !.phase = @ + 1]
  /\ Go(t, "notify")
  /\ UNCHANGED <<pending, share, cause, receiver, told, parks>>

Notify(t) ==
  /\ At(t, "notify")
  /\ told' = Append(told, [phase |-> tracking.phase, failed |-> task[t].fail])
  /\ Go(t, IF task[t].root THEN "idle" ELSE "retire")
  /\ UNCHANGED <<pending, tracking, share, cause, receiver, parks>>

Retire(t) ==
  /\ At(t, "retire")
  /\ tracking' = [tracking EXCEPT !.active = @ - 1]
  /\ task' = [task EXCEPT ![t] = Idle]
  /\ UNCHANGED <<pending, share, cause, receiver, told, parks>>

--------------------------------------------------------------------------------------------------------------------
(* Attaching shares: active is raised, then pending, unless the tree is decided: then active is lowered again and *)
(* the new shares own nothing.                                                                                     *)

Raise(t, new) ==
  /\ At(t, "idle") /\ new # {} /\ new \subseteq In("none")
  /\ \A u \in Task : At(u, "reserve") => task[u].set \cap new = {}
  /\ tracking' = [tracking EXCEPT !.active = @ + Cardinality(new)]
  /\ task' = [task EXCEPT ![t] = [at |-> "reserve", set |-> new, fail |-> FALSE, root |-> FALSE]]
  /\ UNCHANGED <<pending, share, cause, receiver, told, parks>>

Reserve(t) ==
  /\ At(t, "reserve") /\ ~pending.decided
  /\ pending' = [pending EXCEPT !.left = @ + Cardinality(task[t].set)]
  /\ share' = [s \in Share |-> IF s \in task[t].set THEN "held" ELSE share[s]]
  /\ task' = [task EXCEPT ![t] = Idle]
  /\ UNCHANGED <<tracking, cause, receiver, told, parks>>

Refuse(t) ==
  /\ At(t, "reserve") /\ pending.decided
  /\ tracking' = [tracking EXCEPT !.active = @ - Cardinality(task[t].set)]
  /\ share' = [s \in Share |-> IF s \in task[t].set THEN "unowned" ELSE share[s]]
  /\ task' = [task EXCEPT ![t] = Idle]
  /\ UNCHANGED <<pending, cause, receiver, told, parks>>

--------------------------------------------------------------------------------------------------------------------
(* A message parks when it has nothing left to do until the outside answers: its guard takes its share out of the *)
(* working ones. The guard is dropped before the share is resolved.                                               *)

Park(s) ==
  /\ share[s] = "held" /\ parks < MaxParks
  /\ share' = [share EXCEPT ![s] = "parked"]
  /\ tracking' = [tracking EXCEPT !.active = @ - 1]
  /\ parks' = parks + 1
  /\ UNCHANGED <<pending, task, cause, receiver, told>>

Unpark(s) ==
  /\ share[s] = "parked"
  /\ share' = [share EXCEPT ![s] = "held"]
  /\ tracking' = [tracking EXCEPT !.active = @ + 1]
  /\ UNCHANGED <<pending, task, cause, receiver, told, parks>>

--------------------------------------------------------------------------------------------------------------------
Step(t) == Lower(t) \/ Enter(t) \/ Keep(t) \/ Leave(t) \/ Notify(t) \/ Retire(t) \/ Reserve(t) \/ Refuse(t)
Resolve(s) == \E t \in Task, fail \in BOOLEAN : Take(t, s, fail)

Next ==
  \/ \E t \in Task : Step(t) \/ \E new \in SUBSET Share : Raise(t, new)
  \/ \E s \in Share : Resolve(s) \/ Park(s) \/ Unpark(s)

(* A task that began ends. A share that works is resolved or parks; strongly fair, because it needs a task that is *)
(* idle. Nothing makes the outside answer a parked message.                                                        *)
Fair == (\A t \in Task : WF_vars(Step(t))) /\ (\A s \in Share : SF_vars(Resolve(s) \/ Park(s)))
Spec == Init /\ [][Next]_vars /\ Fair

--------------------------------------------------------------------------------------------------------------------
TypeOK ==
  /\ pending \in [left : 0..Cardinality(Share), decided : BOOLEAN, failed : BOOLEAN]
  /\ tracking \in [phase : 0..2, active : Int]
  /\ share \in [Share -> States]
  /\ task \in [Task -> [at : {"idle", "lower", "enter", "keep", "leave", "notify", "retire", "reserve"},
                        set : SUBSET Share, fail : BOOLEAN, root : BOOLEAN]]
  /\ cause \in {"none", "ok", "failed"} /\ receiver \in BOOLEAN /\ parks \in 0..MaxParks
  /\ told \in Seq([phase : 0..2, failed : BOOLEAN])

(* A1.I1: who reads no active share knows that no share is left to resolve, but parked ones. *)
A1I1_ActiveCoversUnresolved == tracking.active + Cardinality(In("parked")) >= pending.left

(* A1.I2: there is one winner, and only a decided tree has one. *)
A1I2_OneWinner ==
  /\ tracking.phase <= 2 /\ (tracking.phase > 0 => pending.decided)
  /\ Cardinality({t \in Task : task[t].at \in {"enter", "keep", "leave", "notify"}}) <= 1

(* A1.I3: what is attached to a completed tree owns nothing. *)
A1I3_CompletedIsWhole == pending.decided /\ ~pending.failed => pending.left = 0

(* A1.I4: the receiver is there until the tree is settled, and not longer. *)
A1I4_ReceiverUntilSettled == (tracking.phase = 0 => receiver) /\ (tracking.phase = 2 => ~receiver)

(* A1.I5: whoever is notified finds the tree settled; it is told once, and the truth. *)
A1I5_ToldOnceWhenSettled ==
  Len(told) <= 1 /\ \A i \in DOMAIN told : told[i] = [phase |-> 2, failed |-> pending.failed]

(* A share is resolved once: the word counts exactly the shares that nobody has taken off it. *)
A1I6_EachShareCountsOnce ==
  pending.left = Cardinality(In("held")) + Cardinality(In("parked")) + Cardinality({t \in Task : At(t, "lower")})

(* A2.I1: a drain that reads no active share misses nobody who works. *)
A2I1_WorkIsSeen == tracking.active >= Cardinality(In("held"))

(* A1: unless a message stays parked for ever the source is answered. *)
A1L1_Answered == <>[](In("parked") = {}) => <>(told # <<>>)

(* A2: a message that stays parked does not hold up a drain. *)
A2L1_ParkedHoldsNothingUp == <>[](tracking.active = 0)
=============================================================================
