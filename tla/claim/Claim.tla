------------------------------- MODULE Claim -------------------------------
(* The exclusive right to advance one instance (owner L3), and the sweep    *)
(* that frees it when its owner fell silent (owner L4).                     *)
(*                                                                          *)
(* An instance is a row that names its owner and an epoch. An owner is one  *)
(* incarnation of one lane. Everything it wants of a row it asks by a       *)
(* request: the request lands at some later moment, or never, and its       *)
(* answer may be lost. What was asked twice lands twice. An owner that was  *)
(* thought dead may only be slow: it goes on beside its successor.          *)
(*                                                                          *)
(*   idle -Ask-> asking -Granted-> held -Load-> loaded -Send-> sent -> idle *)
(*    ^            | Lose             |            |            | Lose      *)
(*    +--Refused-- unsure             +---GiveUp---+<--Failed- undecided    *)
(*    ^                                     |                               *)
(*    +---------------Freed------------- freeing                            *)
EXTENDS Integers

CONSTANTS
  Lanes,         \* names of lanes
  Incarnations,  \* how often a lane may start
  Insts,         \* instances
  Causes,        \* the steps that each instance wants
  MaxFaults,     \* lost answers, dropped requests, refusals and early sweeps of one behavior
  Nobody, None

VARIABLES
  row,      \* instance -> its owner and epoch
  state,    \* instance -> the causes in its snapshot
  history,  \* instance -> the records of the steps that committed
  carried,  \* the claims that rows have carried
  task,     \* owner -> what it is doing
  net,      \* the requests under way
  started,  \* lane -> its newest incarnation
  faults,   \* faults so far
  early     \* a sweep took a claim from an owner that was only slow

vars == <<row, state, history, carried, task, net, started, faults, early>>

Owners == Lanes \X (1..Incarnations)
Name(o) == o                                    \* what a row calls the owner
Newest(o) == started[o[1]] = o[2]

Idle == [at |-> "idle", inst |-> None, epoch |-> 0, base |-> {}, cause |-> None]
Dead == [Idle EXCEPT !.at = "dead"]

Places == {"idle", "asking", "unsure", "held", "loaded", "sent", "undecided", "barred", "freeing", "dead"}
Names == {Name(o) : o \in Owners} \cup {Nobody}

Claim(i, owner, epoch) == [inst |-> i, owner |-> owner, epoch |-> epoch]
Mine(o) == Claim(task[o].inst, Name(o), task[o].epoch)
ClaimOf(i) == Claim(i, row[i].owner, row[i].epoch)
Holds(claim) == ClaimOf(claim.inst) = claim
Record(o) == [owner |-> Name(o), epoch |-> task[o].epoch, cause |-> task[o].cause]

\* Requests. Each names the claim that it expects to find.
Take(i, epoch, owner) == [kind |-> "take", on |-> Claim(i, Nobody, epoch), by |-> owner, cause |-> None, base |-> {}]
Free(claim) == [kind |-> "free", on |-> claim, by |-> Nobody, cause |-> None, base |-> {}]
Commit(o) == [kind |-> "commit", on |-> Mine(o), by |-> Name(o), cause |-> task[o].cause, base |-> task[o].base]
TakeOf(o) == Take(task[o].inst, task[o].epoch - 1, Name(o))

Open(done) == \E c \in Causes : c \notin done   \* somebody has a request for an instance with this snapshot

Init ==
  /\ row = [i \in Insts |-> [owner |-> Nobody, epoch |-> 0]]
  /\ state = [i \in Insts |-> {}]
  /\ history = [i \in Insts |-> {}]
  /\ carried = {}
  /\ task = [o \in Owners |-> Idle]
  /\ net = {}
  /\ started = [l \in Lanes |-> 1]
  /\ faults = 0
  /\ early = FALSE

Fault == faults < MaxFaults /\ faults' = faults + 1

\* ---- an owner ------------------------------------------------------------

\* It reads the head of the row, nothing else, and asks for the claim when nobody has it.
Ask(o, i) ==
  /\ task[o].at = "idle" /\ Newest(o) /\ Open(state[i])
  /\ row[i].owner = Nobody
  /\ task' = [task EXCEPT ![o] = [Idle EXCEPT !.at = "asking", !.inst = i, !.epoch = row[i].epoch + 1]]
  /\ net' = net \cup {Take(i, row[i].epoch, Name(o))}
  /\ UNCHANGED <<row, state, history, carried, started, faults, early>>

\* The answer, or what a read has shown after the answer was lost.
Granted(o) ==
  /\ \/ task[o].at = "asking" /\ Mine(o) \in carried
     \/ task[o].at = "unsure" /\ Holds(Mine(o))
  /\ task' = [task EXCEPT ![o].at = "held"]
  /\ UNCHANGED <<row, state, history, carried, net, started, faults, early>>

\* A definite refusal: the store says that the request has no effect.
Refused(o) ==
  /\ task[o].at = "asking" /\ Mine(o) \notin carried
  /\ IF Holds(TakeOf(o).on) THEN Fault ELSE UNCHANGED faults
  /\ task' = [task EXCEPT ![o] = Idle]
  /\ net' = net \ {TakeOf(o)}
  /\ UNCHANGED <<row, state, history, carried, started, early>>

\* The answer is lost: the request has landed, is still under way, or is gone.
LoseTake(o) ==
  /\ task[o].at = "asking" /\ Fault
  /\ task' = [task EXCEPT ![o].at = "unsure"]
  /\ net' \in {net, net \ {TakeOf(o)}}
  /\ UNCHANGED <<row, state, history, carried, started, early>>

\* As long as the row is as it was seen the request may land yet: shut it out by moving the epoch past it.
FenceTake(o) ==
  /\ task[o].at = "unsure"
  /\ net' = net \cup {Free(TakeOf(o).on)}
  /\ UNCHANGED <<row, state, history, carried, task, started, faults, early>>

\* The row has moved on: the request never happens any more, or what it took was freed.
Lost(o) ==
  /\ task[o].at = "unsure" /\ ~Holds(TakeOf(o).on) /\ ~Holds(Mine(o))
  /\ task' = [task EXCEPT ![o] = Idle]
  /\ UNCHANGED <<row, state, history, carried, net, started, faults, early>>

\* It reads the instance under its claim.
Load(o) ==
  /\ task[o].at = "held" /\ Holds(Mine(o))
  /\ task' = [task EXCEPT ![o].at = "loaded", ![o].base = state[task[o].inst]]
  /\ UNCHANGED <<row, state, history, carried, net, started, faults, early>>

\* It sends the step that c wants.
Send(o, c) ==
  /\ task[o].at = "loaded" /\ c \in Causes /\ c \notin task[o].base
  /\ task' = [task EXCEPT ![o].at = "sent", ![o].cause = c]
  /\ net' = net \cup {[Commit(o) EXCEPT !.cause = c]}
  /\ UNCHANGED <<row, state, history, carried, started, faults, early>>

\* It is told that the step committed; the commit has freed the claim.
Committed(o) ==
  /\ task[o].at \in {"sent", "undecided"}
  /\ Record(o) \in history[task[o].inst]
  /\ task' = [task EXCEPT ![o] = Idle]
  /\ UNCHANGED <<row, state, history, carried, net, started, faults, early>>

\* It is told that the step has no effect: by the store, which drops the request,
\* or, after the answer was lost, because the row does not carry the claim and has no record of the step.
\* A claim that is still held may be used again; one that is lost can only be given up.
Failed(o) ==
  /\ \/ task[o].at = "sent"
     \/ task[o].at = "undecided" /\ ~Holds(Mine(o))
  /\ IF Holds(Mine(o)) THEN Fault ELSE UNCHANGED faults
  /\ Record(o) \notin history[task[o].inst]
  /\ task' = [task EXCEPT ![o].at = IF Holds(Mine(o)) THEN "loaded" ELSE "barred", ![o].cause = None]
  /\ net' = IF task[o].at = "sent" THEN net \ {Commit(o)} ELSE net
  /\ UNCHANGED <<row, state, history, carried, started, early>>

LoseCommit(o) ==
  /\ task[o].at = "sent" /\ Fault
  /\ task' = [task EXCEPT ![o].at = "undecided"]
  /\ net' \in {net, net \ {Commit(o)}}
  /\ UNCHANGED <<row, state, history, carried, started, early>>

\* Nothing is known: it shuts its own step out before it reads what became of it.
FenceCommit(o) ==
  /\ task[o].at = "undecided"
  /\ net' = net \cup {Free(Mine(o))}
  /\ UNCHANGED <<row, state, history, carried, task, started, faults, early>>

\* Every other exit gives the claim back: a guard refused, a panic, a claim found lost.
GiveUp(o) ==
  /\ task[o].at \in {"held", "loaded", "barred"}
  /\ IF Holds(Mine(o)) /\ Open(task[o].base) THEN Fault ELSE UNCHANGED faults
  /\ task' = [task EXCEPT ![o] = [Idle EXCEPT !.at = "freeing", !.inst = task[o].inst, !.epoch = task[o].epoch]]
  /\ net' = net \cup {Free(Mine(o))}
  /\ UNCHANGED <<row, state, history, carried, started, early>>

\* The answer to that says that the row does not carry the claim.
Freed(o) ==
  /\ task[o].at = "freeing" /\ ~Holds(Mine(o))
  /\ task' = [task EXCEPT ![o] = Idle]
  /\ UNCHANGED <<row, state, history, carried, net, started, faults, early>>

\* No answer: it asks again.
FreeAgain(o) ==
  /\ task[o].at = "freeing" /\ Holds(Mine(o))
  /\ net' = net \cup {Free(Mine(o))}
  /\ UNCHANGED <<row, state, history, carried, task, started, faults, early>>

Crash(o) ==
  /\ o[2] < Incarnations /\ task[o].at # "dead"
  /\ task' = [task EXCEPT ![o] = Dead]
  /\ UNCHANGED <<row, state, history, carried, net, started, faults, early>>

\* The supervisor starts the next incarnation; the old one may only be slow.
Restart(l) ==
  /\ started[l] < Incarnations
  /\ started' = [started EXCEPT ![l] = @ + 1]
  /\ UNCHANGED <<row, state, history, carried, task, net, faults, early>>

\* ---- the store -----------------------------------------------------------

LandTake(r) ==
  /\ r \in net /\ r.kind = "take"
  /\ IF Holds(r.on)
     THEN /\ row' = [row EXCEPT ![r.on.inst] = [owner |-> r.by, epoch |-> r.on.epoch + 1]]
          /\ carried' = carried \cup {Claim(r.on.inst, r.by, r.on.epoch + 1)}
     ELSE UNCHANGED <<row, carried>>
  /\ net' = net \ {r}
  /\ UNCHANGED <<state, history, task, started, faults, early>>

\* Freeing raises the epoch too: an owner that was freed, and woke, is an owner of the past.
LandFree(r) ==
  /\ r \in net /\ r.kind = "free"
  /\ row' = IF Holds(r.on) THEN [row EXCEPT ![r.on.inst] = [owner |-> Nobody, epoch |-> r.on.epoch + 1]] ELSE row
  /\ net' = net \ {r}
  /\ UNCHANGED <<state, history, carried, task, started, faults, early>>

\* A step asserts the whole claim and frees it in the same transaction.
Asserts(r) == ClaimOf(r.on.inst) = r.on
LandCommit(r) ==
  /\ r \in net /\ r.kind = "commit"
  /\ IF Asserts(r)
     THEN /\ row' = [row EXCEPT ![r.on.inst] = [owner |-> Nobody, epoch |-> @.epoch + 1]]
          /\ state' = [state EXCEPT ![r.on.inst] = r.base \cup {r.cause}]
          /\ history' = [history EXCEPT ![r.on.inst] =
               @ \cup {[owner |-> r.on.owner, epoch |-> r.on.epoch, cause |-> r.cause]}]
     ELSE UNCHANGED <<row, state, history>>
  /\ net' = net \ {r}
  /\ UNCHANGED <<carried, task, started, faults, early>>

\* A request to free gets lost on its way. (Those with an owner that waits: LoseTake, LoseCommit.)
Drop(r) ==
  /\ r \in net /\ r.kind = "free" /\ Fault
  /\ net' = net \ {r}
  /\ UNCHANGED <<row, state, history, carried, task, started, early>>

\* ---- the sweep (L4) ------------------------------------------------------

\* Somebody who is not dead believes in a claim, or is about to.
Acts(o) == task[o].at \notin {"idle", "dead"}
Alive(c) == \E o \in Owners : Acts(o) /\ Mine(o) = c

\* It frees a claim that it has observed, maybe long ago. It may be early: clocks lie, and steps may take long.
Sweep(c) ==
  /\ c \in carried
  /\ IF Holds(c) /\ Alive(c) THEN Fault /\ early' = TRUE ELSE UNCHANGED <<faults, early>>
  /\ net' = net \cup {Free(c)}
  /\ UNCHANGED <<row, state, history, carried, task, started>>

\* ---- behaviors -----------------------------------------------------------

Proceed(o) ==
  \/ \E i \in Insts : Ask(o, i)
  \/ Granted(o) \/ Lost(o) \/ (FenceTake(o) /\ Holds(TakeOf(o).on))
  \/ Load(o) \/ (\E c \in Causes : Send(o, c)) \/ Committed(o) \/ (FenceCommit(o) /\ Holds(Mine(o)))
  \/ Freed(o) \/ FreeAgain(o)
  \/ (Refused(o) /\ UNCHANGED faults)
  \/ (Failed(o) /\ UNCHANGED faults)
  \/ (GiveUp(o) /\ UNCHANGED faults)

Next ==
  \/ \E o \in Owners :
       \/ \E i \in Insts : Ask(o, i)
       \/ Granted(o) \/ Refused(o) \/ LoseTake(o) \/ FenceTake(o) \/ Lost(o)
       \/ Load(o) \/ (\E c \in Causes : Send(o, c)) \/ Committed(o) \/ Failed(o) \/ LoseCommit(o) \/ FenceCommit(o)
       \/ GiveUp(o) \/ Freed(o) \/ FreeAgain(o) \/ Crash(o)
  \/ \E l \in Lanes : Restart(l)
  \/ \E r \in net : LandTake(r) \/ LandFree(r) \/ LandCommit(r) \/ Drop(r)
  \/ \E c \in carried : Sweep(c)

Spec == Init /\ [][Next]_vars

\* Owners go on, requests land, lanes are restarted, claims of the silent are swept.
Fairness ==
  /\ \A o \in Owners : WF_vars(Proceed(o))
  /\ \A l \in Lanes : WF_vars(Restart(l))
  /\ WF_vars(\E r \in net : LandTake(r)) /\ WF_vars(\E r \in net : Holds(r.on) /\ LandFree(r)) /\ WF_vars(\E r \in net : LandCommit(r))
  /\ \A i \in Insts : WF_vars(Sweep(ClaimOf(i)) /\ Holds(ClaimOf(i)) /\ UNCHANGED early)

FairSpec == Spec /\ Fairness

\* ---- what must hold ------------------------------------------------------

TypeOK ==
  /\ \A i \in Insts : row[i].owner \in Names /\ row[i].epoch \in Nat
  /\ \A i \in Insts : state[i] \subseteq Causes
  /\ \A o \in Owners : task[o].at \in Places /\ task[o].inst \in Insts \cup {None}
  /\ \A r \in net : r.kind \in {"take", "free", "commit"} /\ r.on.inst \in Insts
  /\ faults \in 0..MaxFaults /\ early \in BOOLEAN

\* A claim is granted once: two owners never act under the same epoch, and while no sweep was early one at most acts.
L3I1_OneHolder ==
  LET holders == {o \in Owners : task[o].at \in {"held", "loaded"}} IN
  \A p, q \in holders : p # q /\ task[p].inst = task[q].inst => early /\ task[p].epoch # task[q].epoch

\* The epoch of a row rises with every change of its owner, and never falls.
L3I2_EpochRises ==
  [][\A i \in Insts : /\ row'[i].epoch >= row[i].epoch
                      /\ row'[i].owner # row[i].owner => row'[i].epoch > row[i].epoch]_vars

\* A commit happens only while the row carries the whole claim.
L3I3_CommitUnderClaim ==
  [][\A i \in Insts : \A h \in history'[i] \ history[i] : ClaimOf(i) = Claim(i, h.owner, h.epoch)]_vars

\* So no step is lost: the snapshot holds what committed.
L3I3_NoLostUpdate == \A i \in Insts : state[i] = {h.cause : h \in history[i]}

\* The commit frees the claim itself: no state shows a step committed and its claim still held.
L3I4_CommitFrees == \A i \in Insts : \A h \in history[i] : ~Holds(Claim(i, h.owner, h.epoch))

\* After a hold ended, however it ended, no row carries its claim.
L3I5_NothingLeft == \A o \in Owners : task[o].at = "idle" => \A i \in Insts : row[i].owner # Name(o)

\* An owner names one lane of one incarnation.
L3I6_OwnName == \A p, q \in Owners : Name(p) = Name(q) => p = q

\* Progress: nothing stays claimed for ever, and what is wanted gets done.
L4_NotForEver == \A i \in Insts : []<>(row[i].owner = Nobody)
L3_AllDone == <>(\A i \in Insts : state[i] = Causes)
=============================================================================
