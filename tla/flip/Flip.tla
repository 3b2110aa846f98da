-------------------------------- MODULE Flip --------------------------------
(* Activation in two phases (owner L9). Version 1 is active and has one     *)
(* parked instance; version 2 is activated over lanes with a queue each. A  *)
(* client spawns, gets the reply, then sends a causally later delivery, to  *)
(* correlate with its instance or to spawn again, to any lane.              *)
(*                                                                          *)
(* Phase 1: a message through each lane's queue makes it KNOW version 2. It *)
(* acknowledges (lane, attempt). Decision: version 2 is durable. Phase 2:   *)
(* one publication, read at each dequeue, makes all lanes SPAWN it.         *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Lanes, MaxTries, MaxCrashes, MaxFailures

VARIABLES
  q,        \* lane -> its queue
  out,      \* what the coordinator still has to put into queues, lane after lane
  active,   \* the version that spawns, one publication
  know,     \* lane -> the versions whose instances it finds
  co,       \* the coordinator: phase and attempt
  acks,     \* acknowledgements: lane and attempt
  insts,    \* instances that are parked: client and version
  client,   \* client -> its stage, and the version of its instance
  durable,  \* the version that is active after a restart
  lost,     \* clients whose delivery did not find its instance
  back,     \* a spawn after a reply of version 2 started version 1
  budget

vars == <<q, out, active, know, co, acks, insts, client, durable, lost, back, budget>>

Init ==
  /\ q = [l \in Lanes |-> <<>>] /\ out = <<>>
  /\ active = [l \in Lanes |-> 1] /\ know = [l \in Lanes |-> {1}]
  /\ co = [phase |-> "idle", try |-> 0] /\ acks = {}
  /\ insts = {[c |-> "old", v |-> 1]}
  /\ client = [c \in {"new", "old"} |-> IF c = "old" THEN [st |-> "has", v |-> 1] ELSE [st |-> "start", v |-> 0]]
  /\ durable = 1 /\ lost = {} /\ back = FALSE
  /\ budget = [crash |-> MaxCrashes, fail |-> MaxFailures]

\* The coordinator puts a message into the queues one lane after the other.
All(msg) == out' = Append(out, [to |-> Lanes, m |-> msg])
Post(l) ==
  /\ out # <<>> /\ l \in Head(out).to
  /\ q' = [q EXCEPT ![l] = Append(@, Head(out).m)]
  /\ out' = IF Head(out).to = {l} THEN Tail(out) ELSE [out EXCEPT ![1].to = @ \ {l}]
  /\ UNCHANGED <<active, know, co, acks, insts, client, durable, lost, back, budget>>

Acked(kind, try) == \A l \in Lanes : [l |-> l, kind |-> kind, try |-> try] \in acks

Begin ==
  /\ co.phase \in {"idle", "aborted"} /\ co.try < MaxTries
  /\ co' = [phase |-> "one", try |-> co.try + 1]
  /\ All([kind |-> "know", try |-> co.try + 1])
  /\ UNCHANGED <<q, active, know, acks, insts, client, durable, lost, back, budget>>

\* The barrier, the durable decision and the publication, in this order; nothing but this step decides.
Decide ==
  /\ co.phase = "one" /\ Acked("know", co.try)
  /\ co' = [co EXCEPT !.phase = "done"]
  /\ durable' = 2
  /\ active' = [l \in Lanes |-> 2]
  /\ UNCHANGED <<q, out, know, acks, insts, client, lost, back, budget>>

\* Only before the decision, and through the queues, behind the "know" that it takes back.
Abort ==
  /\ co.phase = "one"
  /\ co' = [co EXCEPT !.phase = "aborted"]
  /\ All([kind |-> "forget", try |-> co.try])
  /\ UNCHANGED <<q, active, know, acks, insts, client, durable, lost, back, budget>>

\* Version 1 goes after every lane spawns version 2 and no instance of version 1 is left.
Retire ==
  /\ co.phase = "done" /\ ~\E i \in insts : i.v = 1
  /\ \A l \in Lanes : active[l] = 2
  /\ co' = [co EXCEPT !.phase = "retired"]
  /\ All([kind |-> "drop", try |-> co.try])
  /\ UNCHANGED <<q, active, know, acks, insts, client, durable, lost, back, budget>>

\* A client sends to any lane, after it has its reply.
Request(c, l, kind) ==
  /\ IF client[c].st = "start" THEN kind = "spawn"
     ELSE client[c].st = "has" /\ kind \in {"correlate", "again"} /\ (c = "old" => kind = "correlate")
  /\ q' = [q EXCEPT ![l] = Append(@, [kind |-> kind, c |-> c])]
  /\ client' = [client EXCEPT ![c].st = kind]
  /\ UNCHANGED <<out, active, know, co, acks, insts, durable, lost, back, budget>>

\* A lane applies a message at its own place in its own queue.
Control(l) ==
  LET m == Head(q[l]) IN
  /\ q[l] # <<>> /\ m.kind \in {"know", "flip", "forget", "drop"}
  /\ q' = [q EXCEPT ![l] = Tail(@)]
  /\ CASE m.kind = "know" -> /\ know' = [know EXCEPT ![l] = @ \cup {2}]
                             /\ acks' = acks \cup {[l |-> l, kind |-> "know", try |-> m.try]}
                             /\ UNCHANGED active
       [] m.kind = "flip" -> /\ know' = [know EXCEPT ![l] = @ \cup {2}]
                             /\ active' = [active EXCEPT ![l] = 2]
                             /\ acks' = acks \cup {[l |-> l, kind |-> "flip", try |-> m.try]}
       [] m.kind = "forget" -> know' = [know EXCEPT ![l] = @ \ {2}] /\ UNCHANGED <<active, acks>>
       [] OTHER -> know' = [know EXCEPT ![l] = @ \ {1}] /\ UNCHANGED <<active, acks>>
  /\ UNCHANGED <<out, co, insts, client, durable, lost, back, budget>>

\* A lane cannot take the new definitions: nothing is acknowledged.
KnowFails(l) ==
  /\ q[l] # <<>> /\ Head(q[l]).kind = "know" /\ budget.fail > 0
  /\ budget' = [budget EXCEPT !.fail = @ - 1]
  /\ q' = [q EXCEPT ![l] = Tail(@)]
  /\ UNCHANGED <<out, active, know, co, acks, insts, client, durable, lost, back>>

\* A delivery: a spawn, a causally later spawn, or one that correlates and ends the instance.
Serve(l) ==
  LET m == Head(q[l]) IN
  /\ q[l] # <<>> /\ m.kind \in {"spawn", "again", "correlate"}
  /\ q' = [q EXCEPT ![l] = Tail(@)]
  /\ CASE m.kind = "spawn" -> /\ insts' = insts \cup {[c |-> m.c, v |-> active[l]]}
                              /\ client' = [client EXCEPT ![m.c] = [st |-> "has", v |-> active[l]]]
                              /\ UNCHANGED <<lost, back>>
       [] m.kind = "again" -> /\ back' = (back \/ active[l] < client[m.c].v)
                              /\ client' = [client EXCEPT ![m.c].st = "end"]
                              /\ UNCHANGED <<insts, lost>>
       [] OTHER -> /\ lost' = IF client[m.c].v \in know[l] THEN lost ELSE lost \cup {m.c}
                   /\ insts' = insts \ {[c |-> m.c, v |-> client[m.c].v]}
                   /\ client' = [client EXCEPT ![m.c].st = "end"]
                   /\ UNCHANGED back
  /\ UNCHANGED <<out, active, know, co, acks, durable, budget>>

\* The node starts again from what is durable; what was not answered is sent again.
Crash ==
  /\ budget.crash > 0 /\ budget' = [budget EXCEPT !.crash = @ - 1]
  /\ q' = [l \in Lanes |-> <<>>] /\ out' = <<>> /\ acks' = {}
  /\ active' = [l \in Lanes |-> durable]
  /\ know' = [l \in Lanes |-> IF durable = 1 THEN {1} ELSE IF co.phase = "retired" THEN {2} ELSE {1, 2}]
  /\ co' = [co EXCEPT !.phase =
       CASE durable = 2 /\ @ = "retired" -> "retired" [] durable = 2 -> "done" [] @ = "idle" -> "idle" [] OTHER -> "aborted"]
  /\ client' = [c \in DOMAIN client |-> [client[c] EXCEPT !.st =
       CASE @ = "spawn" -> "start" [] @ \in {"correlate", "again"} -> "has" [] OTHER -> @]]
  /\ UNCHANGED <<insts, durable, lost, back>>

Next ==
  \/ Begin \/ Decide \/ Abort \/ Retire \/ Crash
  \/ \E l \in Lanes :
       \/ Post(l) \/ KnowFails(l) \/ Control(l) \/ Serve(l)
       \/ \E c \in DOMAIN client, kind \in {"spawn", "correlate", "again"} : Request(c, l, kind)

Spec == Init /\ [][Next]_vars
FairSpec ==
  /\ Spec /\ WF_vars(Abort) /\ WF_vars(Decide)
  /\ \A l \in Lanes : WF_vars(Post(l)) /\ WF_vars(Control(l) \/ Serve(l))

TypeOK ==
  /\ \A l \in Lanes : active[l] \in {1, 2} /\ know[l] \subseteq {1, 2}
  /\ co.phase \in {"idle", "one", "done", "aborted", "retired"} /\ co.try \in 0..MaxTries
  /\ durable \in {1, 2}

\* A delivery after a reply finds its instance, on every lane and also on the tail of a version that drains.
L9I1_NothingLost == lost = {}
\* A spawn after a reply of version 2 never starts version 1.
L9I2_SpawnMonotone == ~back
\* A lane spawns only what it knows.
L9I3_SpawnsKnown == \A l \in Lanes : active[l] \in know[l]
\* An activation ends, and an aborted one leaves nothing behind.
L9_Ends == []<>(co.phase # "one")
L9_AbortClean == <>[](co.phase = "aborted" => \A l \in Lanes : know[l] = {1} /\ active[l] = 1)
=============================================================================
