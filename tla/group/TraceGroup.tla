----------------------------- MODULE TraceGroup -----------------------------
(* Group as executions of the code are checked against it. A member is the  *)
(* cause of a step. What took effect is shown; what is under way is hidden. *)
(* Faults have no bound.                                                    *)
EXTENDS Group

TraceCommit(m, k, holds) == Commit(m, k, holds)
TraceShut(m) == Shut(m)
TraceConclude(m, v) == Conclude(m, v)
TraceGather(l, group) == Gather(l, group)
TraceAlone(l, m) == Alone(l, m)
TraceCommitted(l) == Committed(l)
\* If what was sent is gone, it never lands.
TraceUnknown(l) == LET t == Sending(l, Who(l)) IN Unknown(l) /\ (t \in tx => [t EXCEPT !.lost = TRUE] \in tx')
TraceRolledBack(l) == RolledBack(l)
TraceFailed(l) == Failed(l)
TraceLandGroup(group) == \E t \in tx : t.who = group /\ Land(t)
=============================================================================
