----------------------------- MODULE TraceTimer -----------------------------
(* Timer as executions of the code are checked against it. What is open, and *)
(* for how long until it is due, is shown, and which lanes have what is      *)
(* hidden. A time is a number of nanoseconds. Faults have no bound.          *)
EXTENDS Timer

TraceInit ==
  /\ open \in SUBSET Waits /\ kept = open
  /\ rest \in [Waits -> Nat]
  /\ at = [t \in Waits |-> "free"]
  /\ fired = {} /\ told = {}
  /\ faults = 0

TraceOffer(t) == Offer(t)
TraceCommit(t) == Commit(t)
TraceFired(t) == Fired(t)
TraceGone(t) == Gone(t)
TraceRefused(t) == Refused(t)
TraceSync == Sync
TraceCrash == Crash
TracePass(d) == Pass(d)
=============================================================================
