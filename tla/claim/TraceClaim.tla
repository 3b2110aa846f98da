----------------------------- MODULE TraceClaim -----------------------------
(* Claim as executions of the code are checked against it: each action      *)
(* takes the claim that its event names. What a store no longer shows (who  *)
(* sent what, which answers were lost) is hidden. Faults have no bound, and *)
(* owners may always want something.                                        *)
EXTENDS Claim, FiniteSets

TraceOwners == (0..3) \X (1..6)
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
TraceLandTake(c) == LandTake(Take(c.inst, c.epoch - 1, c.owner))
TraceLandFree(c) == LandFree(Free(c))
TraceLandCommit(c, cause) == \E r \in net : r.on = c /\ r.cause = cause /\ LandCommit(r)
=============================================================================
