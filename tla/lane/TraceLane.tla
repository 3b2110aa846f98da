------------------------------ MODULE TraceLane -----------------------------
(* Lanes as executions of the code are checked against Lane. A caller is    *)
(* one delivery. A lane shows how many requests wait, how many it has taken *)
(* and not answered, and how many of those are undecided; the requests and  *)
(* the order in which they wait are hidden. Which instance a delivery wants *)
(* is known when it hops: until then it may be any other lane's. A loop    *)
(* counts a reply before it sends it, so its counts are compared with its   *)
(* own steps only.                                                          *)
EXTENDS Lane

TraceInit ==
  /\ queue = [l \in Lanes |-> <<>>]
  /\ loop = [l \in Lanes |-> Idle]
  /\ caller = [c \in Callers |-> [at |-> "new", to |-> None, hops |-> 0]]
  /\ home = [i \in Insts |-> 0]
  /\ log = <<>> /\ moves = 0

TraceCallers == 1..24
NotAway(l) == FALSE

\* What the lane shows after a step of its loop.
Shows(l, queued, busy, undecided) ==
  /\ Len(queue'[l]) = queued
  /\ (IF loop'[l].at = "idle" THEN 0 ELSE 1) = busy
  /\ (IF loop'[l].at = "undecided" THEN 1 ELSE 0) = undecided
Has(l, c) == loop[l].c = c

StepArrive(l, c) == Arrive(c, l)
StepHop(l, c) == caller[c].to = l /\ Hop(c)
StepDequeue(l, c) == Dequeue(l) /\ loop'[l].c = c
StepResolve(l, c) == Has(l, c) /\ ~loop[l].hopped /\ \E to \in Lanes \ {l} : SendOn(l, to)
StepAnswer(l, c) == Has(l, c) /\ Answer(l)
StepBegin(l, c) == Has(l, c) /\ Begin(l)
StepCommit(l, c) == Has(l, c) /\ Commit(l)
StepReply(l, c) == Has(l, c) /\ Reply(l)

TraceArrive(l, c, room, queued, busy, undecided) ==
  Len(queue[l]) < room /\ StepArrive(l, c) /\ Len(queue'[l]) = queued
TraceHop(l, c, room, queued, busy, undecided) ==
  Len(queue[l]) < room /\ StepHop(l, c) /\ Len(queue'[l]) = queued
TraceDequeue(l, c, room, queued, busy, undecided) == StepDequeue(l, c) /\ Shows(l, queued, busy, undecided)
TraceResolve(l, c, room, queued, busy, undecided) == StepResolve(l, c) /\ Shows(l, queued, busy, undecided)
TraceAnswer(l, c, room, queued, busy, undecided) == StepAnswer(l, c) /\ Shows(l, queued, busy, undecided)
TraceBegin(l, c, room, queued, busy, undecided) == StepBegin(l, c) /\ Shows(l, queued, busy, undecided)
TraceCommit(l, c, room, queued, busy, undecided) == StepCommit(l, c) /\ Shows(l, queued, busy, undecided)
TraceReply(l, c, room, queued, busy, undecided) == StepReply(l, c) /\ Shows(l, queued, busy, undecided)

\* The graph whose edges the sequences cover. A delivery arrives on the lane with the least load, of two equal ones on the next.
Load(l) ==
  Len(queue[l]) + (IF loop[l].at = "idle" THEN 0 ELSE 1)
    + Cardinality({d \in Callers : caller[d].at = "sent on" /\ caller[d].to = l})
Chosen(c) == LET next == (c - 1) % 2 IN IF Load(1 - next) < Load(next) THEN 1 - next ELSE next
SequenceArrive(l, c) == l = Chosen(c) /\ (\A d \in Callers : d < c <=> caller[d].at # "new") /\ StepArrive(l, c)
SequenceHop(l, c) == StepHop(l, c)
SequenceDequeue(l, c) == StepDequeue(l, c)
SequenceResolve(l, c) == StepResolve(l, c)
SequenceAnswer(l, c) == StepAnswer(l, c)
SequenceBegin(l, c) == StepBegin(l, c)
SequenceCommit(l, c) == StepCommit(l, c)
SequenceReply(l, c) == StepReply(l, c)
=============================================================================
