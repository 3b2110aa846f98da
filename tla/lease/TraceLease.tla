----------------------------- MODULE TraceLease -----------------------------
(* Lease as executions of the code are checked against it. An event of a    *)
(* lease tells who, which claim, and for how long from now it believes. The *)
(* row and its durable form are shown; what was asked, by whom and when, is *)
(* hidden: the actions determine it. A time is a number of nanoseconds.     *)
EXTENDS Lease

Shows(r, rest) == task'[r].left = rest

TraceAsk(r, c, rest) == Ask(r, c) /\ Shows(r, rest)
TraceBelieve(r, c, rest) == Believe(r, c) /\ Shows(r, rest)
\* If what was asked is gone, it never lands.
TraceUnsure(r, c, rest) ==
  /\ Unsure(r) /\ (Mine(r) \in net => [Mine(r) EXCEPT !.lost = TRUE] \in net') /\ Shows(r, rest)
TraceRefused(r, c, rest) == Refused(r) /\ Shows(r, rest)
TraceLose(r, c, rest) == Lose(r) /\ Shows(r, rest)
TraceLook(r, c, rest) == Look(r, c) /\ Shows(r, rest)
TraceFree(r, c, rest) == Free(r, c) /\ Request("free", c, r) \in net' /\ Shows(r, rest)
TraceEnd(r, c, rest) == End(r) /\ Shows(r, rest)

\* The store tells of a landing that has an effect.
TraceMake == Make
TraceLandTake(c) == \E q \in net : q.by = c.owner /\ Grown(q.on, q.by) = c /\ LandTake(q)
TraceLandRenew(c) == \E q \in net : q.on = c /\ LandRenew(q)
TraceLandFree(c) == \E q \in net : q.on = c /\ LandFree(q)
TraceSync == \E n \in 1..Len(log) : Sync(n)
TraceCrash == \E n \in 1..Len(log) : Crash(n)
TracePass(d) == Pass(d)
=============================================================================
