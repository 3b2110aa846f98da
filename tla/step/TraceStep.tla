----------------------------- MODULE TraceStep ------------------------------
(* Step as executions of the code are checked against it: each action takes *)
(* the owner p, the epoch e and the cause c that its event names. The row   *)
(* is shown; records, what is under way and what an owner saw are hidden.   *)
(* Which cause a claim is for shows when its step is sent.                  *)
EXTENDS Step, Sequences

TraceCauses == {"c0.0", "c0.1", "c0.2", "c1.0", "c1.1", "c1.2"}

TraceInit ==
  /\ row \in [owner : {Nobody}, epoch : Nat, gone : {FALSE}]
  /\ records = {} /\ net = {}
  /\ at = [p \in Owners |-> "idle"]
  /\ my = [p \in Owners |-> NoStep]
  /\ held = [p \in Owners |-> FALSE]
  /\ verdicts = {} /\ acked = {}
  /\ sweeps = MaxSweeps

S(p, e, c) == [p |-> p, e |-> e, c |-> c]
Mine(p, e, c) == my[p] = S(p, e, c)
Told(p, e, c, v) == at[p] = "idle" /\ [t |-> S(p, e, c), v |-> v] \in verdicts /\ UNCHANGED vars

TraceLandTake(p, e) == row.epoch + 1 = e /\ Claim(p) /\ at'[p] = "claimed"
TraceSend(p, e, c) == Mine(p, e, c) /\ Send(p)
TraceLandCommit(p, e, c) ==
  LET x == [kind |-> "step", t |-> S(p, e, c)] IN Holds(x.t) /\ ~Seen(c) /\ Land(x)
TraceLoseCommit(p, e, c) == Mine(p, e, c) /\ Lose(p)

\* A fence is on its way when it is sent. The next round begins where the one before ended: a read that failed, too.
Fenced(p, e, c) == net' = net \cup {[kind |-> "fence", t |-> S(p, e, c)]}
TraceFenceCommit(p, e, c) ==
  /\ Mine(p, e, c) /\ Fenced(p, e, c)
  /\ \/ at[p] = "fence" /\ Fence(p)
     \/ /\ at[p] \in {"row", "record"}
        /\ at' = [at EXCEPT ![p] = "row"]
        /\ UNCHANGED <<row, records, my, held, verdicts, acked, sweeps>>
TraceReadRow(p, e, c, found) == Mine(p, e, c) /\ ReadRow(p) /\ held'[p] = found
TraceReadRecord(p, e, c, found) == Mine(p, e, c) /\ (my[p] \in records) = found /\ ReadRecord(p)

\* Whoever decided by reading is told what it knows already.
TraceCommitted(p, e, c) == (Mine(p, e, c) /\ Answer(p)) \/ Told(p, e, c, "committed")
TraceFailed(p, e, c) == (Mine(p, e, c) /\ Refuse(p)) \/ Told(p, e, c, "failed")
TraceGiveUp(p, e) ==
  \/ at[p] = "claimed" /\ my[p].e = e /\ Abandon(p)
  \/ at[p] # "claimed" /\ UNCHANGED vars

\* A claim is freed by a fence under way, by its owner, or by a sweep.
TraceLandFree(p, e) ==
  /\ row.owner = p /\ row.epoch = e
  /\ LET fences == {x \in net : x.kind = "fence" /\ x.t.p = p /\ x.t.e = e} IN
     IF fences # {} THEN \E x \in fences : Land(x) ELSE Sweep

(* The graph whose edges the sequences cover: two owners, and each request  *)
(* meets what its call says. A claim is taken for a cause that is named,    *)
(* and what was claimed is freed before the hold ends.                      *)
SequenceOwners == {"0.1", "1.2"}
SequenceCauses == {"c0.0", "c0.1"}

SequenceLandTake(p, e, c) == TraceLandTake(p, e) /\ my'[p].c = c
SequenceSend(p, e, c) == TraceSend(p, e, c)
SequenceLandCommit(p, e, c) == TraceLandCommit(p, e, c)
SequenceLoseCommit(p, e, c) == TraceLoseCommit(p, e, c)
SequenceFenceCommit(p, e, c) == TraceFenceCommit(p, e, c)
SequenceReadRow(p, e, c, found) == TraceReadRow(p, e, c, found)
SequenceReadRecord(p, e, c, found) == TraceReadRecord(p, e, c, found)
SequenceCommitted(p, e, c) == TraceCommitted(p, e, c)
SequenceFailed(p, e, c) == TraceFailed(p, e, c)
SequenceLandFree(p, e) == TraceLandFree(p, e)
SequenceGiveUp(p, e, sent) ==
  /\ ~(row.owner = p /\ row.epoch = e) /\ (at[p] = "idle") = sent
  /\ TraceGiveUp(p, e)
=============================================================================
