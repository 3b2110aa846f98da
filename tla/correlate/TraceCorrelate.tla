--------------------------- MODULE TraceCorrelate ---------------------------
(* Correlate as executions of the code are checked against it. A lane is a  *)
(* task that brings one delivery again and again; whoever else claims an    *)
(* instance is Other. A key names its channel too, as an alias row does.    *)
(* Rows and aliases are shown; what a lane resolved is hidden.              *)
EXTENDS Correlate

TraceDeliveries == {[key |-> k, ch |-> c, n |-> l] : k \in Keys, c \in Channels, l \in Lanes}

TraceInit ==
  /\ inst \in [Insts -> [owner : {Nobody}, epoch : Nat, g : Nat, wait : [g : Nat, key : STRING \cup {None}, ch : STRING \cup {None}]]]
  /\ alias \in [Keys -> [i : Insts \cup {None}, g : Nat]]
  /\ del = [d \in Deliveries |-> "pending"]
  /\ lane = [l \in Lanes |-> Idle]
  /\ wrong = {} /\ badly = {} /\ sweeps = MaxSweeps

TraceResolve(l, k, c, found) ==
  LET d == [key |-> k, ch |-> c, n |-> l] IN Waits(d) = found /\ Resolve(l, d)
TraceLandTake(l, i) ==
  IF l \in Lanes THEN lane[l].i = i /\ Claim(l) /\ lane'[l].at = "claimed" ELSE OtherClaim(i)
TraceLandCommit(l, i) ==
  IF l \in Lanes THEN lane[l].i = i /\ Resume(l) ELSE OtherStep(i)
\* A lane frees its claim when it finds that it came too late; others when their step is refused, as a sweep would.
TraceLandFree(l, i) ==
  IF l \in Lanes THEN lane[l].i = i /\ Miss(l) ELSE Sweep(i)
\* The delivery goes back, if the miss has not sent it back already.
TraceBack(l) ==
  CASE lane[l].at = "resolved" -> Back(l) /\ UNCHANGED <<alias, wrong, badly, sweeps>>
    [] lane[l].at = "claimed" -> Swept(l)
    [] OTHER -> UNCHANGED vars

(* The graph whose edges the sequences cover: one delivery, and steps of    *)
(* others that claim, step and free one after the other.                    *)
SequenceResolve(l, k, c, found) == TraceResolve(l, k, c, found)
SequenceLandTake(l, i, valid) ==
  IF l \in Lanes
  THEN lane[l].i = i /\ Claim(l) /\ lane'[l].at = "claimed" /\ Valid(i, lane[l].g, lane[l].d) = valid
  ELSE OtherClaim(i) /\ inst[i].wait # NoWait
SequenceLandCommit(l, i, k, c) ==
  TraceLandCommit(l, i) /\ inst'[i].wait.key = k /\ inst'[i].wait.ch = c
SequenceLandFree(l, i) == TraceLandFree(l, i) /\ (l \in Lanes \/ inst[i].owner = Other)
SequenceBack(l, refused) ==
  IF refused THEN lane[l].at = "resolved" /\ Claim(l) /\ lane'[l].at = "idle" ELSE lane[l].at = "idle" /\ UNCHANGED vars
=============================================================================
