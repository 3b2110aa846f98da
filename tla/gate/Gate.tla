-------------------------------- MODULE Gate --------------------------------
(* The dispatch gate (C8): who dispatches passes it, and an engagement closes it for a while to change something  *)
(* that no dispatch may see half changed.                                                                         *)
(*                                                                                                                *)
(* Both sides write their own word and then read the other's: a publisher counts itself in and reads closed, an   *)
(* engagement closes and reads the count. So at least one of them sees the other. A publisher that finds the gate *)
(* closed takes itself out of the count and waits until it opens. A fan-out happens inside of a dispatch: it takes *)
(* a permit of its own, but never waits; when the gate is closed its records fail. The last one to leave wakes the *)
(* engagement, which owns its lease once the count is zero. A deadline bounds only the wait for the lease.         *)
EXTENDS Integers, FiniteSets

CONSTANTS
  Publisher,
  Engager,
  MaxEngagements   \* how often the gate is closed altogether

VARIABLES
  closed,
  count,      \* publishers and fan-outs that counted themselves in
  pub,        \* the step a publisher is at
  fate,       \* of the records that a publisher fanned out last: "none", "delivered", "failed"
  last,       \* the publisher took the count to zero
  outside,    \* publishers that are registered for the opening of the gate
  eng,        \* the step an engager is at
  turn,       \* the engager whose engagement this is, or nobody
  registered, \* the engagement is registered with those who leave
  rounds

vars == <<closed, count, pub, fate, last, outside, eng, turn, registered, rounds>>
Nobody == "nobody"

Outside == {"idle", "entered", "back", "signal", "listen", "look", "asleep"}
Inside == {"inside", "permit", "fanning", "handed", "leave"}

Init ==
  /\ closed = FALSE /\ count = 0 /\ outside = {} /\ turn = Nobody /\ registered = FALSE /\ rounds = 0
  /\ pub = [p \in Publisher |-> "idle"] /\ fate = [p \in Publisher |-> "none"] /\ last = [p \in Publisher |-> FALSE]
  /\ eng = [e \in Engager |-> "idle"]

P(p, from, to) == pub[p] = from /\ pub' = [pub EXCEPT ![p] = to]
E(e, from, to) == eng[e] \in from /\ eng' = [eng EXCEPT ![e] = to]
gateUnchanged == UNCHANGED <<closed, eng, turn, registered, rounds>>

--------------------------------------------------------------------------------------------------------------------
(* A publisher. *)

Enter(p) == P(p, "idle", "entered") /\ count' = count + 1 /\ UNCHANGED <<fate, last, outside>> /\ gateUnchanged

Check(p) == P(p, "entered", IF closed THEN "back" ELSE "inside") /\ UNCHANGED <<count, fate, last, outside>> /\ gateUnchanged

(* Inside, a fan-out takes a permit, reads closed, and hands its records over or fails them. It never waits. *)
Permit(p) == P(p, "inside", "permit") /\ count' = count + 1 /\ UNCHANGED <<fate, last, outside>> /\ gateUnchanged

FanOut(p) ==
  /\ P(p, "permit", IF closed THEN "handed" ELSE "fanning")
  /\ fate' = [fate EXCEPT ![p] = IF closed THEN "failed" ELSE "none"]
  /\ UNCHANGED <<count, last, outside>> /\ gateUnchanged

Hand(p) ==
  /\ P(p, "fanning", "handed") /\ fate' = [fate EXCEPT ![p] = "delivered"]
  /\ UNCHANGED <<count, last, outside>> /\ gateUnchanged

Return(p) == P(p, "handed", "leave") /\ count' = count - 1 /\ UNCHANGED <<fate, last, outside>> /\ gateUnchanged

(* Leaving, and taking oneself back, are the same: the count is lowered, and the last one wakes. *)
Lower(p) ==
  /\ P(p, "leave", "signal") \/ P(p, "back", "signal")
  /\ count' = count - 1 /\ last' = [last EXCEPT ![p] = count = 1]
  /\ UNCHANGED <<fate, outside>> /\ gateUnchanged

(* The engagement that is woken is registered no longer. *)
Signal(p) ==
  /\ P(p, "signal", "listen")
  /\ registered' = (registered /\ ~(last[p] /\ closed))
  /\ UNCHANGED <<closed, count, fate, last, outside, eng, turn, rounds>>

(* Before it tries again, a publisher waits for an open gate: it registers, then reads. *)
Listen(p) == P(p, "listen", "look") /\ outside' = outside \cup {p} /\ UNCHANGED <<count, fate, last>> /\ gateUnchanged

Look(p) == P(p, "look", IF closed THEN "asleep" ELSE "idle") /\ UNCHANGED <<count, fate, last, outside>> /\ gateUnchanged

Wake(p) == p \notin outside /\ P(p, "asleep", "listen") /\ UNCHANGED <<count, fate, last, outside>> /\ gateUnchanged

--------------------------------------------------------------------------------------------------------------------
(* An engagement. *)

Engage(e) ==
  /\ turn = Nobody /\ rounds < MaxEngagements /\ E(e, {"idle"}, "listen")
  /\ turn' = e /\ closed' = TRUE /\ rounds' = rounds + 1
  /\ UNCHANGED <<count, pub, fate, last, outside, registered>>

Register(e) == E(e, {"listen"}, "read") /\ registered' = TRUE /\ UNCHANGED <<closed, count, pub, fate, last, outside, turn, rounds>>

ReadCount(e) ==
  /\ E(e, {"read"}, IF count = 0 THEN "owns" ELSE "asleep")
  /\ UNCHANGED <<closed, count, pub, fate, last, outside, turn, registered, rounds>>

Woken(e) == ~registered /\ E(e, {"asleep"}, "listen") /\ UNCHANGED <<closed, count, pub, fate, last, outside, turn, registered, rounds>>

(* The deadline ends the wait for the lease, never the lease. *)
Expire(e) ==
  /\ E(e, {"listen", "read", "asleep"}, "open")
  /\ UNCHANGED <<closed, count, pub, fate, last, outside, turn, registered, rounds>>

Release(e) == E(e, {"owns"}, "open") /\ UNCHANGED <<closed, count, pub, fate, last, outside, turn, registered, rounds>>

(* The gate is opened, then everybody outside is woken, then the next engagement may come. *)
Open(e) ==
  /\ E(e, {"open"}, "wake") /\ closed' = FALSE /\ registered' = FALSE
  /\ UNCHANGED <<count, pub, fate, last, outside, turn, rounds>>

WakeAll(e) ==
  /\ E(e, {"wake"}, "idle") /\ outside' = {} /\ turn' = Nobody
  /\ UNCHANGED <<closed, count, pub, fate, last, registered, rounds>>

--------------------------------------------------------------------------------------------------------------------
Publishes(p) ==
  \/ Check(p) \/ Permit(p) \/ FanOut(p) \/ Hand(p) \/ Return(p) \/ Lower(p) \/ Signal(p)
  \/ Listen(p) \/ Look(p) \/ Wake(p)
Engages(e) == Register(e) \/ ReadCount(e) \/ Woken(e) \/ Release(e) \/ Open(e) \/ WakeAll(e)
Next == (\E p \in Publisher : Enter(p) \/ Publishes(p)) \/ (\E e \in Engager : Engage(e) \/ Expire(e) \/ Engages(e))

(* Who began goes on. No deadline ever has to come. *)
Fair == (\A p \in Publisher : WF_vars(Publishes(p))) /\ (\A e \in Engager : WF_vars(Engages(e)))
Spec == Init /\ [][Next]_vars /\ Fair

--------------------------------------------------------------------------------------------------------------------
TypeOK ==
  /\ closed \in BOOLEAN /\ count \in 0..(2 * Cardinality(Publisher)) /\ outside \subseteq Publisher
  /\ pub \in [Publisher -> Outside \cup Inside] /\ fate \in [Publisher -> {"none", "delivered", "failed"}]
  /\ last \in [Publisher -> BOOLEAN] /\ registered \in BOOLEAN /\ rounds \in 0..MaxEngagements
  /\ eng \in [Engager -> {"idle", "listen", "read", "asleep", "owns", "open", "wake"}] /\ turn \in Engager \cup {Nobody}

Engaged(e) == eng[e] # "idle"

(* C8.I1: every earlier dispatch has left when the engagement owns its lease, and none comes while it does. *)
C8I1_LeaseExcludes == (\E e \in Engager : eng[e] = "owns") => \A p \in Publisher : pub[p] \notin Inside

(* C8.I2: the count misses nobody: it may overcount for a moment, by those who take themselves back. *)
C8I2_CountCovers ==
  count >= Cardinality({p \in Publisher : pub[p] \in Inside})
           + Cardinality({p \in Publisher : pub[p] \in {"permit", "fanning", "handed"}})

(* C8.I3: the lease outlives the deadline: as long as it is owned the gate stays closed. *)
C8I3_LeaseKeepsClosed == \A e \in Engager : eng[e] = "owns" => closed

(* C8.I4: there is one engagement at a time. *)
C8I4_OneEngagement == \A d, e \in Engager : Engaged(d) /\ Engaged(e) => d = e

(* C8: records that are fanned out have a fate: what the closed gate stops has failed, it is not lost. *)
C8I5_EveryFanOutHasAFate == \A p \in Publisher : pub[p] \in {"handed", "leave"} => fate[p] # "none"

(* C8: without any deadline, an engagement gets its lease or gives up. *)
C8L1_LeaseIsReached == \A e \in Engager : (eng[e] = "listen") ~> (eng[e] \in {"owns", "open"})

(* C8: a publisher that was turned away passes some time after; engagements are finitely many. *)
C8L2_PublisherPasses == \A p \in Publisher : (pub[p] = "back") ~> (pub[p] = "idle")
=============================================================================
