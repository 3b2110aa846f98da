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
TraceCommit(d) == ~InLog(d) /\ \E l \in Lanes : For(l, d) /\ Commit(l)
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
=============================================================================
