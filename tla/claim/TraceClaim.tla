----------------------------- MODULE TraceClaim -----------------------------
(* Claim as executions of the code are checked against it: each action      *)
(* takes the claim that its event names. What a store no longer shows (who  *)
(* sent what, which answers were lost) is hidden. Faults have no bound, and *)
(* owners may always want something.                                        *)
EXTENDS Claim, FiniteSets

\* Lane and incarnation in one string: it compares faster than a pair.
TraceOwners == {"0.1", "0.2", "0.3", "0.4", "1.1", "1.2", "1.3", "1.4", "2.1", "2.2", "2.3", "2.4"}
SequenceOwners == {"0.1", "1.2"}
TraceCauses == STRING
TraceNewest(o) == TRUE
TraceOpen(done) == TRUE

TraceInit ==
  /\ row \in [Insts -> [owner : Names, epoch : Nat]]
  /\ state \in [Insts -> SUBSET STRING]
  /\ history = [i \in Insts |-> {}]
  /\ carried = {ClaimOf(i) : i \in {j \in Insts : row[j].owner # Nobody}}
  /\ task = [o \in Owners |-> Idle]
  /\ net = {}
  /\ started = [l \in Lanes |-> 1]
  /\ faults = 0
  /\ early = FALSE

Under(c) == Mine(c.owner) = c

TraceAsk(c) == Ask(c.owner, c.inst) /\ c.epoch = row[c.inst].epoch + 1
TraceGranted(c) == Under(c) /\ Granted(c.owner)
TraceRefused(c) == Under(c) /\ Refused(c.owner)
TraceLoseTake(c) == Under(c) /\ net' = net /\ LoseTake(c.owner)   \* if it is gone, it never lands
TraceFenceTake(c) == Under(c) /\ FenceTake(c.owner)
TraceLost(c) == Under(c) /\ Lost(c.owner)
TraceLoad(c) == Under(c) /\ Load(c.owner)
TraceSend(c, cause) == Under(c) /\ Send(c.owner, cause)
TraceCommitted(c, cause) == Under(c) /\ task[c.owner].cause = cause /\ Committed(c.owner)
TraceFailed(c, cause) == Under(c) /\ task[c.owner].cause = cause /\ Failed(c.owner)
TraceLoseCommit(c, cause) ==
  Under(c) /\ task[c.owner].cause = cause /\ net' = net /\ LoseCommit(c.owner)
TraceFenceCommit(c, cause) == Under(c) /\ task[c.owner].cause = cause /\ FenceCommit(c.owner)
TraceGiveUp(c) == Under(c) /\ GiveUp(c.owner)
TraceFreed(c) == Under(c) /\ Freed(c.owner)
TraceSweep(c) == Sweep(c)
\* The store tells of a landing that has an effect.
TraceLandTake(c) == LET r == Take(c.inst, c.epoch - 1, c.owner) IN Holds(r.on) /\ LandTake(r)
TraceLandFree(c) == Holds(c) /\ LandFree(Free(c))
TraceLandCommit(c, cause) == \E r \in net : r.on = c /\ r.cause = cause /\ Asserts(r) /\ LandCommit(r)
=============================================================================
