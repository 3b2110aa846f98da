----------------------------- MODULE TraceInbox -----------------------------
(* Inbox as executions of the code are checked against it. A lane is a task *)
(* that brings deliveries, numbered from 1. The log, and how much of it is  *)
(* synced, are what the snapshots of the store say; which of two lanes has  *)
(* committed shows by what they do next.                                    *)
EXTENDS Inbox

TraceInit ==
  /\ log = <<>> /\ synced = 0 /\ flush = 0
  /\ at = [l \in Lanes |-> "idle"] /\ cur = [l \in Lanes |-> None] /\ pos = [l \in Lanes |-> 0]
  /\ acked = {}
  /\ budget = [crash |-> MaxCrashes, refuse |-> MaxRefusals, unknown |-> MaxUnknown]

For(l, d) == cur[l] = d

\* A transport may bring what was acknowledged once more: its answer may not have arrived.
TraceTake(l, d) ==
  \/ Take(l, d)
  \/ /\ at[l] = "idle" /\ d \in acked
     /\ cur' = [cur EXCEPT ![l] = d] /\ To(l, "check")
     /\ UNCHANGED <<log, synced, flush, pos, acked, budget>>
TraceCheck(l, d, found) == For(l, d) /\ InLog(d) = found /\ Check(l)
TraceLandCommit(d) == ~InLog(d) /\ \E l \in Lanes : For(l, d) /\ Commit(l)
\* The store has refused the step as a duplicate. That alone answers nothing: a crash may have taken the key back since, or the
\* instance may be there and its key forgotten.
TraceDuplicate(l, d) ==
  /\ For(l, d) /\ at[l] = "run"
  /\ To(l, "check")
  /\ UNCHANGED <<log, synced, flush, cur, pos, acked, budget>>
TraceRefuse(l, d) == For(l, d) /\ Refuse(l)
TraceAck(l, d) == For(l, d) /\ Ack(l)

\* Every wait for durability flushes for itself, so several flushes may be under way; what each covers is shown.
TraceSync ==
  /\ \E n \in synced..Len(log) : Cover(n)
  /\ UNCHANGED <<log, flush, at, cur, pos, acked, budget>>
TraceCrash == StoreCrash

(* The graph whose edges the sequences cover. A lane waits where its call   *)
(* says; who waits for durability goes on at the next sync or crash, which  *)
(* takes back all that is not synced, or nothing.                           *)
Waiting == {l \in Lanes : at[l] \in {"wait", "duplicate"}}

SequenceTake(l, d) == TraceTake(l, d)
SequenceCheck(l, d, found) == TraceCheck(l, d, found)
SequenceLandCommit(l, d) == ~InLog(d) /\ For(l, d) /\ Commit(l)
SequenceDuplicate(l, d) == InLog(d) /\ TraceDuplicate(l, d)
SequenceRefuse(l, d, from) == at[l] = from /\ TraceRefuse(l, d)
SequenceAck(l, d) == TraceAck(l, d)
SequenceSync(who) ==
  /\ Waiting = who /\ Cover(Len(log))
  /\ UNCHANGED <<log, flush, at, cur, pos, acked, budget>>
\* A lane whose step is lost decides that, which syncs once; two would do so at the same time.
SequenceCrash(who, left, deciding) ==
  /\ Waiting = who /\ (left = "all" \/ (synced < Len(log) /\ \A l \in who : pos[l] > synced))
  /\ left = "all" \/ Cardinality({l \in who : at[l] = "wait"}) = deciding
  /\ StoreCrash /\ Len(log') = (IF left = "all" THEN Len(log) ELSE synced)
=============================================================================
