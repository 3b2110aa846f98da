------------------------------- MODULE Inbox --------------------------------
(* Deduplication (owner L7) on a store that shows commits before they are   *)
(* synced. The log has the commits in order; all of it is visible, and a    *)
(* crash keeps at least the first "synced" of them. A delivery stays with   *)
(* its transport until it is acknowledged, and may be handed to two lanes   *)
(* at once. Lanes share the store.                                          *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Lanes, Deliveries, MaxCrashes, MaxRefusals, MaxUnknown, None

VARIABLES
  log, synced,
  flush,      \* the length of the log when the flush under way began, or 0
  at, cur,    \* lane -> where it is, and its delivery
  pos,        \* lane -> what must be synced before it answers
  acked, budget

vars == <<log, synced, flush, at, cur, pos, acked, budget>>

InLog(d) == \E n \in 1..Len(log) : log[n] = d

Init ==
  /\ log = <<>> /\ synced = 0 /\ flush = 0
  /\ at = [l \in Lanes |-> "idle"] /\ cur = [l \in Lanes |-> None] /\ pos = [l \in Lanes |-> 0]
  /\ acked = {}
  /\ budget = [crash |-> MaxCrashes, refuse |-> MaxRefusals, unknown |-> MaxUnknown]

To(l, s) == at' = [at EXCEPT ![l] = s]

Take(l, d) ==
  /\ at[l] = "idle" /\ d \notin acked
  /\ cur' = [cur EXCEPT ![l] = d] /\ To(l, "check")
  /\ UNCHANGED <<log, synced, flush, pos, acked, budget>>

\* What the read rests on is everything that is visible now.
Check(l) ==
  /\ at[l] = "check"
  /\ IF InLog(cur[l]) THEN To(l, "duplicate") /\ pos' = [pos EXCEPT ![l] = Len(log)]
     ELSE To(l, "run") /\ UNCHANGED pos
  /\ UNCHANGED <<log, synced, flush, cur, acked, budget>>

\* An attempt may end without an answer wherever it is: refused, a read that failed, an outcome that nobody waits for.
Refuse(l) ==
  /\ at[l] # "idle" /\ budget.refuse > 0
  /\ budget' = [budget EXCEPT !.refuse = @ - 1]
  /\ To(l, "idle") /\ cur' = [cur EXCEPT ![l] = None]
  /\ UNCHANGED <<log, synced, flush, pos, acked>>

\* The step inserts the key itself; a key that is there aborts all of it and leads back to the check.
Commit(l) ==
  /\ at[l] = "run"
  /\ IF InLog(cur[l]) THEN To(l, "check") /\ UNCHANGED <<log, pos>>
     ELSE /\ log' = Append(log, cur[l])
          /\ pos' = [pos EXCEPT ![l] = Len(log) + 1]
          /\ To(l, "wait")
  /\ UNCHANGED <<synced, flush, cur, acked, budget>>

FlushStart ==
  /\ flush = 0 /\ synced < Len(log)
  /\ flush' = Len(log)
  /\ UNCHANGED <<log, synced, at, cur, pos, acked, budget>>

Cover(n) == synced' = n
FlushEnd ==
  /\ flush > 0
  /\ Cover(flush) /\ flush' = 0
  /\ UNCHANGED <<log, at, cur, pos, acked, budget>>

\* An answer waits for a flush that began after what it rests on.
Covered(l) == synced >= pos[l]
Ack(l) ==
  /\ at[l] \in {"wait", "duplicate"} /\ Covered(l)
  /\ acked' = acked \cup {cur[l]}
  /\ To(l, "idle") /\ cur' = [cur EXCEPT ![l] = None]
  /\ UNCHANGED <<log, synced, flush, pos, budget>>

\* The outcome is unknown: the durable check decides.
Unknown(l) ==
  /\ at[l] = "wait" /\ budget.unknown > 0
  /\ budget' = [budget EXCEPT !.unknown = @ - 1]
  /\ To(l, "check")
  /\ UNCHANGED <<log, synced, flush, cur, pos, acked>>

Crash ==
  /\ budget.crash > 0
  /\ budget' = [budget EXCEPT !.crash = @ - 1]
  /\ \E k \in synced..Len(log) : log' = SubSeq(log, 1, k) /\ synced' = k
  /\ flush' = 0
  /\ at' = [l \in Lanes |-> "idle"] /\ cur' = [l \in Lanes |-> None] /\ pos' = [l \in Lanes |-> 0]
  /\ UNCHANGED acked

\* The store's machine crashes and the lanes go on. What an attempt waited for is gone: it can only be refused, or begin again.
StoreCrash ==
  /\ budget.crash > 0
  /\ budget' = [budget EXCEPT !.crash = @ - 1]
  /\ \E k \in synced..Len(log) :
       /\ log' = SubSeq(log, 1, k) /\ synced' = k
       /\ at' = [l \in Lanes |-> IF at[l] \in {"wait", "duplicate"} /\ pos[l] > k THEN "check" ELSE at[l]]
  /\ flush' = 0
  /\ UNCHANGED <<cur, pos, acked>>

Work(l) == (\E d \in Deliveries : Take(l, d)) \/ Check(l) \/ Commit(l) \/ Ack(l)
Next ==
  \/ \E l \in Lanes : (\E d \in Deliveries : Take(l, d)) \/ Check(l) \/ Commit(l) \/ Ack(l) \/ Refuse(l) \/ Unknown(l)
  \/ FlushStart \/ FlushEnd \/ Crash \/ StoreCrash

Spec == Init /\ [][Next]_vars
FairSpec ==
  /\ Spec /\ WF_vars(FlushStart) /\ WF_vars(FlushEnd)
  /\ \A l \in Lanes : WF_vars(Work(l)) /\ \A d \in Deliveries : SF_vars(Take(l, d))

TypeOK ==
  /\ synced \in 0..Len(log) /\ flush \in 0..Len(log) /\ acked \subseteq Deliveries
  /\ \A l \in Lanes : at[l] \in {"idle", "check", "run", "wait", "duplicate"} /\ cur[l] \in Deliveries \cup {None}

\* A delivery is acknowledged only after what says so is durable, and a refused or crashed attempt leaves it deliverable.
L7I3_AckedIsDurable == \A d \in acked : \E n \in 1..synced : log[n] = d
\* It takes effect once.
L7I1_AtMostOnce == \A d \in Deliveries : Cardinality({n \in 1..Len(log) : log[n] = d}) <= 1
\* Every delivery is acknowledged in the end.
L7_AllAcked == <>(acked = Deliveries)
=============================================================================
