-------------------------------- MODULE Lane --------------------------------
(* Lane loops and the router (owners L1, L2). Each lane is one loop over    *)
(* its queue. A caller brings a delivery for an instance to the lane where  *)
(* it arrives; that lane resolves which lane is the instance's home; when   *)
(* it is another one, the caller itself enqueues there, once; or, when that *)
(* one is at work, the lane runs the delivery where it is, if it gets the   *)
(* claim of the instance, which is not modeled: it never has to. Queues are *)
(* bounded, and a full one pushes back on the caller. Homes may move while  *)
(* a delivery is on its way: the receiver does not resolve again.           *)
(*                                                                          *)
(*   lane: idle -Dequeue-> running -Begin-> undecided -Commit-> committed   *)
(*          ^                 | Resolve, Answer                    | Reply  *)
(*          +-----------------+------------------------------------+        *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Lanes, Callers, Insts, Wants, Capacity, MaxMoves, None

VARIABLES
  queue,    \* lane -> deliveries, at most Capacity
  loop,     \* lane -> where its loop is, and its delivery
  caller,   \* caller -> where it is, where it goes next, its hops
  home,     \* instance -> lane
  log,      \* the callers whose delivery was committed, in order
  moves

vars == <<queue, loop, caller, home, log, moves>>

Idle == [at |-> "idle", c |-> None, hopped |-> FALSE]

Init ==
  /\ queue = [l \in Lanes |-> <<>>]
  /\ loop = [l \in Lanes |-> Idle]
  /\ caller = [c \in Callers |-> [at |-> "new", to |-> None, hops |-> 0]]
  /\ home \in [Insts -> Lanes]
  /\ log = <<>>
  /\ moves = 0

Room(l) == Len(queue[l]) < Capacity
Enqueue(c, l, hopped) == queue' = [queue EXCEPT ![l] = Append(@, [c |-> c, hopped |-> hopped])]

\* The task of the caller enqueues; while there is no room it waits.
Arrive(c, l) ==
  /\ caller[c].at = "new" /\ Room(l)
  /\ Enqueue(c, l, FALSE)
  /\ caller' = [caller EXCEPT ![c].at = "waits"]
  /\ UNCHANGED <<loop, home, log, moves>>

Hop(c) ==
  /\ caller[c].at = "sent on" /\ Room(caller[c].to)
  /\ Enqueue(c, caller[c].to, TRUE)
  /\ caller' = [caller EXCEPT ![c] = [at |-> "waits", to |-> None, hops |-> @.hops + 1]]
  /\ UNCHANGED <<loop, home, log, moves>>

\* The next request is taken when the one before has ended.
Dequeue(l) ==
  /\ loop[l].at = "idle" /\ queue[l] # <<>>
  /\ loop' = [loop EXCEPT ![l] = [at |-> "running", c |-> Head(queue[l]).c, hopped |-> Head(queue[l]).hopped]]
  /\ queue' = [queue EXCEPT ![l] = Tail(@)]
  /\ UNCHANGED <<caller, home, log, moves>>

\* Another lane is the home: the caller is told. What was sent on is not resolved again.
Away(l) == home[Wants[loop[l].c]] # l /\ ~loop[l].hopped
SendOn(l, to) ==
  /\ loop[l].at = "running"
  /\ caller' = [caller EXCEPT ![loop[l].c].at = "sent on", ![loop[l].c].to = to]
  /\ loop' = [loop EXCEPT ![l] = Idle]
  /\ UNCHANGED <<queue, home, log, moves>>
Resolve(l) == loop[l].at = "running" /\ Away(l) /\ SendOn(l, home[Wants[loop[l].c]])

\* The home is at work, and this lane has got the claim. It may always send on instead, so that nobody relies on this.
Stay(l) ==
  /\ loop[l].at = "running" /\ Away(l) /\ loop[home[Wants[loop[l].c]]].at # "idle"
  /\ loop' = [loop EXCEPT ![l].hopped = TRUE]
  /\ UNCHANGED <<queue, caller, home, log, moves>>

\* The answer is known without a transaction.
Answer(l) ==
  /\ loop[l].at = "running" /\ ~Away(l)
  /\ caller' = [caller EXCEPT ![loop[l].c].at = "answered"]
  /\ loop' = [loop EXCEPT ![l] = Idle]
  /\ UNCHANGED <<queue, home, log, moves>>

Begin(l) ==
  /\ loop[l].at = "running" /\ ~Away(l)
  /\ loop' = [loop EXCEPT ![l].at = "undecided"]
  /\ UNCHANGED <<queue, caller, home, log, moves>>

Commit(l) ==
  /\ loop[l].at = "undecided"
  /\ log' = Append(log, loop[l].c)
  /\ loop' = [loop EXCEPT ![l].at = "committed"]
  /\ UNCHANGED <<queue, caller, home, moves>>

Reply(l) ==
  /\ loop[l].at = "committed"
  /\ caller' = [caller EXCEPT ![loop[l].c].at = "done"]
  /\ loop' = [loop EXCEPT ![l] = Idle]
  /\ UNCHANGED <<queue, home, log, moves>>

Move(i, l) ==
  /\ moves < MaxMoves /\ home[i] # l
  /\ moves' = moves + 1
  /\ home' = [home EXCEPT ![i] = l]
  /\ UNCHANGED <<queue, loop, caller, log>>

Work(l) == Dequeue(l) \/ Resolve(l) \/ Answer(l) \/ Begin(l) \/ Commit(l) \/ Reply(l)
Next ==
  \/ \E c \in Callers : Hop(c) \/ \E l \in Lanes : Arrive(c, l)
  \/ \E l \in Lanes : Work(l) \/ Stay(l) \/ \E i \in Insts : Move(i, l)

Spec == Init /\ [][Next]_vars
FairSpec ==
  /\ Spec /\ \A l \in Lanes : WF_vars(Work(l))
  /\ \A c \in Callers : SF_vars(Hop(c)) /\ SF_vars(\E l \in Lanes : Arrive(c, l))

TypeOK ==
  /\ \A l \in Lanes : Len(queue[l]) <= Capacity /\ loop[l].at \in {"idle", "running", "undecided", "committed"}
  /\ \A c \in Callers : caller[c].at \in {"new", "waits", "sent on", "done", "answered"}

Committed(c) == \E n \in 1..Len(log) : log[n] = c
\* The reply comes after the commit, and a delivery is committed once.
L1I1_ReplyAfterCommit == \A c \in Callers : caller[c].at = "done" => Committed(c)
L1I2_Once == \A m, n \in 1..Len(log) : log[m] = log[n] => m = n
\* What one lane accepted in order runs in order.
L1I3_InOrder ==
  [][\A l \in Lanes : loop'[l].at = "running" /\ loop[l].at # "running" =>
       loop[l].at = "idle" /\ queue[l] # <<>> /\ loop'[l].c = Head(queue[l]).c]_vars
\* A delivery hops at most once.
L2I1_OneHop == \A c \in Callers : caller[c].hops <= 1
\* Every caller is answered: full queues push back, and nobody waits in a circle.
L2_AllAnswered == <>(\A c \in Callers : caller[c].at \in {"done", "answered"})
=============================================================================
