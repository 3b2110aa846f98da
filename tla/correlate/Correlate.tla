----------------------------- MODULE Correlate ------------------------------
(* Correlation (owner L8). A delivery for (key, channel) is resolved on the *)
(* lane where it arrives, by the alias table, to an instance and the        *)
(* generation of its wait, and resumed under the claim. In between other    *)
(* steps park the instance elsewhere, end it, bind the key anew. Only a     *)
(* step that holds the claim of an instance writes its alias.               *)
EXTENDS Naturals, FiniteSets

CONSTANTS Lanes, Insts, Keys, Channels,
  Deliveries,   \* records of a key, a channel and a number
  MaxGeneration, MaxSweeps, Nobody, Other, None

VARIABLES
  inst,     \* instance -> owner, epoch, generation, wait
  alias,    \* key -> instance and generation
  del,      \* delivery -> pending, busy, applied, refused, dropped
  lane,     \* lane -> what it is doing
  wrong,    \* deliveries that resumed a wait which was not theirs
  badly,    \* deliveries that were refused or dropped while something waited for them
  sweeps

vars == <<inst, alias, del, lane, wrong, badly, sweeps>>

NoWait == [g |-> 0, key |-> None, ch |-> None]
Free == [i |-> None, g |-> 0]
NoDelivery == [key |-> None, ch |-> None, n |-> 0]
Idle == [at |-> "idle", d |-> NoDelivery, i |-> None, g |-> 0, e |-> 0]

Init ==
  /\ inst = [i \in Insts |-> [owner |-> Nobody, epoch |-> 0, g |-> 0, wait |-> NoWait]]
  /\ alias = [k \in Keys |-> Free]
  /\ del = [d \in Deliveries |-> "pending"]
  /\ lane = [l \in Lanes |-> Idle]
  /\ wrong = {} /\ badly = {} /\ sweeps = MaxSweeps

Waits(d) == \E i \in Insts : inst[i].wait.key = d.key /\ inst[i].wait.ch = d.ch /\ alias[d.key].i = i

\* Where a step leaves its instance: ended, or waiting for a key that is free or its own.
Rests(i) ==
  {NoWait} \cup
  (IF inst[i].g >= MaxGeneration THEN {}
   ELSE {[g |-> inst[i].g + 1, key |-> k, ch |-> c] : k \in {x \in Keys : alias[x].i \in {None, i}}, c \in Channels})

\* One transaction: the snapshot, the wait, the alias, the claim, which is freed and so raises the epoch.
Write(i, w) ==
  /\ inst' = [inst EXCEPT ![i] = [owner |-> Nobody, epoch |-> @.epoch + 1, g |-> @.g + 1, wait |-> w]]
  /\ alias' = [k \in Keys |-> IF w.key = k THEN [i |-> i, g |-> w.g] ELSE IF alias[k].i = i THEN Free ELSE alias[k]]

\* Any other step of any lane or replica: it takes the claim, too.
OtherClaim(i) ==
  /\ inst[i].owner = Nobody /\ inst[i].g < MaxGeneration
  /\ inst' = [inst EXCEPT ![i].owner = Other, ![i].epoch = @ + 1]
  /\ UNCHANGED <<alias, del, lane, wrong, badly, sweeps>>
OtherStep(i) ==
  /\ inst[i].owner = Other
  /\ \E w \in Rests(i) : Write(i, w)
  /\ UNCHANGED <<del, lane, wrong, badly, sweeps>>

Put(l, r) == lane' = [lane EXCEPT ![l] = r]

Answer(d, v) ==
  /\ del' = [del EXCEPT ![d] = v]
  /\ badly' = IF v \in {"refused", "dropped"} /\ Waits(d) THEN badly \cup {d} ELSE badly

\* Nothing waits now: answered so. A fresh resolve alone may say that.
Resolve(l, d) ==
  /\ lane[l].at = "idle" /\ del[d] = "pending"
  /\ IF ~Waits(d) THEN Answer(d, "refused") /\ UNCHANGED lane
     ELSE /\ del' = [del EXCEPT ![d] = "busy"] /\ UNCHANGED badly
          /\ Put(l, [Idle EXCEPT !.at = "resolved", !.d = d, !.i = alias[d.key].i, !.g = alias[d.key].g])
  /\ UNCHANGED <<inst, alias, wrong, sweeps>>

\* A claim that is refused has read nothing; the delivery goes back. The row of an instance that has ended refuses, too.
Back(l) == del' = [del EXCEPT ![lane[l].d] = "pending"] /\ Put(l, Idle) /\ UNCHANGED inst
Claim(l) ==
  LET r == lane[l] IN
  /\ r.at = "resolved"
  /\ IF inst[r.i].owner # Nobody \/ inst[r.i].wait = NoWait THEN Back(l)
     ELSE /\ inst' = [inst EXCEPT ![r.i].owner = l, ![r.i].epoch = @ + 1] /\ UNCHANGED del
          /\ Put(l, [r EXCEPT !.at = "claimed", !.e = inst[r.i].epoch + 1])
  /\ UNCHANGED <<alias, wrong, badly, sweeps>>

Mine(l) == inst[lane[l].i].owner = l /\ inst[lane[l].i].epoch = lane[l].e

\* Under the claim: the alias row still names this wait, the wait is open, and the channel is its own.
Valid(i, g, d) == alias[d.key] = [i |-> i, g |-> g] /\ inst[i].wait.g = g /\ inst[i].wait.ch = d.ch

Swept(l) ==
  /\ lane[l].at = "claimed" /\ ~Mine(l)
  /\ del' = [del EXCEPT ![lane[l].d] = "pending"] /\ Put(l, Idle)
  /\ UNCHANGED <<inst, alias, wrong, badly, sweeps>>

Resume(l) ==
  LET r == lane[l] IN
  /\ r.at = "claimed" /\ Mine(l) /\ Valid(r.i, r.g, r.d)
  /\ \E w \in Rests(r.i) : Write(r.i, w)
  /\ del' = [del EXCEPT ![r.d] = "applied"] /\ Put(l, Idle)
  /\ wrong' = IF inst[r.i].wait.key = r.d.key /\ inst[r.i].wait.ch = r.d.ch THEN wrong ELSE wrong \cup {r.d}
  /\ UNCHANGED <<badly, sweeps>>

\* A miss gives the claim back and the delivery goes to resolve again.
Miss(l) ==
  LET r == lane[l] IN
  /\ r.at = "claimed" /\ Mine(l) /\ ~Valid(r.i, r.g, r.d)
  /\ inst' = [inst EXCEPT ![r.i].owner = Nobody, ![r.i].epoch = @ + 1] /\ Put(l, Idle)
  /\ del' = [del EXCEPT ![r.d] = "pending"] /\ UNCHANGED badly
  /\ UNCHANGED <<alias, wrong, sweeps>>

Sweep(i) ==
  /\ sweeps > 0 /\ inst[i].owner # Nobody
  /\ sweeps' = sweeps - 1
  /\ inst' = [inst EXCEPT ![i].owner = Nobody, ![i].epoch = @ + 1]
  /\ UNCHANGED <<alias, del, lane, wrong, badly>>

Next ==
  \/ \E l \in Lanes : (\E d \in Deliveries : Resolve(l, d)) \/ Claim(l) \/ Swept(l) \/ Resume(l) \/ Miss(l)
  \/ \E i \in Insts : OtherClaim(i) \/ OtherStep(i) \/ Sweep(i)

Spec == Init /\ [][Next]_vars
FairSpec ==
  /\ Spec
  /\ \A l \in Lanes : WF_vars(Claim(l)) /\ WF_vars(Swept(l) \/ Resume(l) \/ Miss(l))
  /\ \A i \in Insts : WF_vars(OtherStep(i))
  /\ \A d \in Deliveries : SF_vars(\E l \in Lanes : Resolve(l, d))

TypeOK ==
  /\ \A i \in Insts : inst[i].owner \in Lanes \cup {Nobody, Other} /\ inst[i].epoch \in Nat /\ inst[i].g \in 0..(MaxGeneration + 2)
  /\ \A k \in Keys : alias[k].i \in Insts \cup {None}
  /\ \A d \in Deliveries : del[d] \in {"pending", "busy", "applied", "refused", "dropped"}

\* A delivery resumes only a wait for its key and channel.
L8I2_NoWrongWait == wrong = {}
\* No delivery is refused or dropped while something waits for it.
L8I3_NoSilentLoss == badly = {} /\ \A d \in Deliveries : del[d] # "dropped"
\* An alias exists only with its committed wait.
L8I1_AliasHasWait == \A k \in Keys : alias[k].i # None => inst[alias[k].i].wait.key = k /\ inst[alias[k].i].wait.g = alias[k].g
\* Every delivery is answered in the end.
L8_AllAnswered == <>(\A d \in Deliveries : del[d] \in {"applied", "refused"})
=============================================================================
