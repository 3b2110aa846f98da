----------------------------- MODULE TraceOutbox -----------------------------
(* Outbox as executions of the code are checked against it. What is committed *)
(* and removed is shown, visible and durable; what workers have and what      *)
(* arrived is hidden. Rows and faults have no bound.                          *)
EXTENDS Outbox

TraceCommit(i, n) == Commit(i, n)
TraceRemove(i) == Remove(i)
TraceSync == \E n \in 1..Len(log) : Sync(n)
TraceCrash == \E n \in 1..Len(log) : Crash(n)
TraceOffer(i, first, last) == Offer(i, last) /\ run'[i].first = first
TraceSecure(i) == Secure(i)
TraceLeave(i, s) == Leave(i, s)
TraceAcked(i) == Acked(i)
TraceFails(i) == Fails(i)
TraceDone(i) == Done(i)
=============================================================================
