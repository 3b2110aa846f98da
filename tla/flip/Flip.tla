-------------------------------- MODULE Flip --------------------------------
(* Activation in two phases (owner L9). Version 1 is active and has one     *)
(* parked instance; version 2 is activated over lanes with a queue each. A  *)
(* client spawns, gets the reply, then sends a causally later delivery, to  *)
(* correlate with its instance or to spawn again, to any lane.              *)
(*                                                                          *)
(* Phase 1: a message through each lane's queue makes it KNOW version 2. It *)
(* acknowledges (lane, attempt). Decision: version 2 is durable. Phase 2:   *)
(* one publication, read at each dequeue, makes all lanes SPAWN it.         *)
(* Version 1 retires after a FENCE passed every lane: a lane may be in the  *)
(* middle of a spawn that it began before the publication.                  *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Lanes, MaxTries, MaxCrashes, MaxFailures

VARIABLES
  q,        \* lane -> its queue
  run,      \* lane -> the delivery it is at, with the version that it read at the dequeue
  out,      \* the message that the coordinator still has to put into queues, lane after lane
  active,   \* the version that spawns, one publication
  know,     \* lane -> the versions whose instances it finds
  co,       \* the coordinator: phase and attempt
  acks,     \* acknowledgements: lane, kind and attempt
  insts,    \* instances that are parked: client and version
  client,   \* client -> its stage, and the version of its instance
  durable,  \* the version that is active after a restart
  lost,     \* clients whose delivery did not find its instance
  back,     \* a spawn after a reply of version 2 started version 1
  budget

vars == <<q, run, out, active, know, co, acks, insts, client, durable, lost, back, budget>>

Nothing == [kind |-> "nothing"]
Idle == [m |-> Nothing, v |-> 0]
Empty == [to |-> {}, m |-> Nothing]

Init ==
  /\ q = [l \in Lanes |-> <<>>] /\ run = [l \in Lanes |-> Idle] /\ out = Empty
  /\ active = [l \in Lanes |-> 1] /\ know = [l \in Lanes |-> {1}]
  /\ co = [phase |-> "idle", try |-> 0] /\ acks = {}
  /\ insts = {[c |-> "old", v |-> 1]}
  /\ client = [c \in {"new", "old"} |-> IF c = "old" THEN [st |-> "has", v |-> 1] ELSE [st |-> "start", v |-> 0]]
  /\ durable = 1 /\ lost = {} /\ back = FALSE
  /\ budget = [crash |-> MaxCrashes, fail |-> MaxFailures]

\* The coordinator puts a message into the queues one lane after the other, and begins the next round when it has.
Tell(lanes, msg) == out' = [to |-> lanes, m |-> msg]
Told == out.to = {}
Post(l) ==
  /\ l \in out.to
  /\ q' = [q EXCEPT ![l] = Append(@, out.m)]
  /\ out' = [out EXCEPT !.to = @ \ {l}]
  /\ UNCHANGED <<run, active, know, co, acks, insts, client, durable, lost, back, budget>>

Acked(kind, try) == \A l \in Lanes : [l |-> l, kind |-> kind, try |-> try] \in acks

Begin ==
  /\ co.phase \in {"idle", "aborted"} /\ co.try < MaxTries /\ Told
  /\ co' = [phase |-> "one", try |-> co.try + 1]
  /\ Tell(Lanes, [kind |-> "know", try |-> co.try + 1])
  /\ UNCHANGED <<q, run, active, know, acks, insts, client, durable, lost, back, budget>>

\* The decision is durable after the barrier; nothing but this step decides.
Decide ==
  /\ co.phase = "one" /\ Acked("know", co.try)
  /\ co' = [co EXCEPT !.phase = "decided"]
  /\ durable' = 2
  /\ UNCHANGED <<q, run, out, active, know, acks, insts, client, lost, back, budget>>

\* Phase 2: one publication.
Publish ==
  /\ co.phase = "decided"
  /\ co' = [co EXCEPT !.phase = "done"]
  /\ active' = [l \in Lanes |-> 2]
  /\ UNCHANGED <<q, run, out, know, acks, insts, client, durable, lost, back, budget>>

\* Only before the decision, and through the queues, behind the "know" that it takes back.
Abort ==
  /\ co.phase = "one"
  /\ co' = [co EXCEPT !.phase = "aborted"]
  /\ Tell(Lanes \ out.to, [kind |-> "forget", try |-> co.try])
  /\ UNCHANGED <<q, run, active, know, acks, insts, client, durable, lost, back, budget>>

\* Version 1 goes when no instance of it is left, which is asked after every lane has passed a fence behind the publication.
Fence ==
  /\ co.phase = "done" /\ Told
  /\ co' = [co EXCEPT !.phase = "fencing"] /\ acks' = {a \in acks : a.kind # "fence"}
  /\ Tell(Lanes, [kind |-> "fence", try |-> co.try])
  /\ UNCHANGED <<q, run, active, know, insts, client, durable, lost, back, budget>>
Fenced == co.phase = "fencing" /\ Acked("fence", co.try)
Left == \E i \in insts : i.v = 1
Occupied == \* or the record of it could not be written
  /\ Fenced /\ co' = [co EXCEPT !.phase = "done"]
  /\ UNCHANGED <<q, run, out, active, know, acks, insts, client, durable, lost, back, budget>>
Retire ==
  /\ Fenced /\ ~Left
  /\ co' = [co EXCEPT !.phase = "retired"]
  /\ Tell(Lanes, [kind |-> "drop", try |-> co.try])
  /\ UNCHANGED <<q, run, active, know, acks, insts, client, durable, lost, back, budget>>

\* A client sends to any lane, after it has its reply.
Request(c, l, kind) ==
  /\ IF client[c].st = "start" THEN kind = "spawn"
     ELSE client[c].st = "has" /\ kind \in {"correlate", "again"} /\ (c = "old" => kind = "correlate")
  /\ q' = [q EXCEPT ![l] = Append(@, [kind |-> kind, c |-> c])]
  /\ client' = [client EXCEPT ![c].st = kind]
  /\ UNCHANGED <<run, out, active, know, co, acks, insts, durable, lost, back, budget>>

\* A lane applies a message at its own place in its own queue.
Control(l) ==
  LET m == Head(q[l]) IN
  /\ run[l] = Idle /\ q[l] # <<>> /\ m.kind \in {"know", "flip", "fence", "forget", "drop"}
  /\ q' = [q EXCEPT ![l] = Tail(@)]
  /\ acks' = IF m.kind \in {"forget", "drop"} THEN acks ELSE acks \cup {[l |-> l, kind |-> m.kind, try |-> m.try]}
  /\ know' = [know EXCEPT ![l] =
       CASE m.kind \in {"know", "flip"} -> @ \cup {2} [] m.kind = "forget" -> @ \ {2} [] m.kind = "drop" -> @ \ {1} [] OTHER -> @]
  /\ active' = IF m.kind = "flip" THEN [active EXCEPT ![l] = 2] ELSE active
  /\ UNCHANGED <<run, out, co, insts, client, durable, lost, back, budget>>

\* A lane cannot take the new definitions: nothing is acknowledged.
KnowFails(l) ==
  /\ run[l] = Idle /\ q[l] # <<>> /\ Head(q[l]).kind = "know" /\ budget.fail > 0
  /\ budget' = [budget EXCEPT !.fail = @ - 1]
  /\ q' = [q EXCEPT ![l] = Tail(@)]
  /\ UNCHANGED <<run, out, active, know, co, acks, insts, client, durable, lost, back>>

\* A lane reads the publication when it dequeues a delivery.
Take(l) ==
  /\ run[l] = Idle /\ q[l] # <<>> /\ Head(q[l]).kind \in {"spawn", "again", "correlate"}
  /\ q' = [q EXCEPT ![l] = Tail(@)] /\ run' = [run EXCEPT ![l] = [m |-> Head(q[l]), v |-> active[l]]]
  /\ UNCHANGED <<out, active, know, co, acks, insts, client, durable, lost, back, budget>>

\* It commits and replies: a spawn, a causally later spawn, or one that correlates and ends the instance.
Serve(l) ==
  LET m == run[l].m  v == run[l].v IN
  /\ run[l] # Idle /\ run' = [run EXCEPT ![l] = Idle]
  /\ CASE m.kind = "spawn" -> /\ insts' = insts \cup {[c |-> m.c, v |-> v]}
                              /\ client' = [client EXCEPT ![m.c] = [st |-> "has", v |-> v]]
                              /\ UNCHANGED <<lost, back>>
       [] m.kind = "again" -> /\ back' = (back \/ v < client[m.c].v)
                              /\ client' = [client EXCEPT ![m.c].st = "end"]
                              /\ UNCHANGED <<insts, lost>>
       [] OTHER -> /\ lost' = IF client[m.c].v \in know[l] THEN lost ELSE lost \cup {m.c}
                   /\ insts' = insts \ {[c |-> m.c, v |-> client[m.c].v]}
                   /\ client' = [client EXCEPT ![m.c].st = "end"]
                   /\ UNCHANGED back
  /\ UNCHANGED <<q, out, active, know, co, acks, durable, budget>>

\* The node starts again from what is durable; what was not answered is sent again.
Crash ==
  /\ budget.crash > 0 /\ budget' = [budget EXCEPT !.crash = @ - 1]
  /\ q' = [l \in Lanes |-> <<>>] /\ run' = [l \in Lanes |-> Idle] /\ out' = Empty /\ acks' = {}
  /\ active' = [l \in Lanes |-> durable]
  /\ know' = [l \in Lanes |-> IF durable = 1 THEN {1} ELSE IF co.phase = "retired" THEN {2} ELSE {1, 2}]
  /\ co' = [co EXCEPT !.phase =
       CASE durable = 2 /\ @ = "retired" -> "retired" [] durable = 2 -> "done" [] @ = "idle" -> "idle" [] OTHER -> "aborted"]
  /\ client' = [c \in DOMAIN client |-> [client[c] EXCEPT !.st =
       CASE @ = "spawn" -> "start" [] @ \in {"correlate", "again"} -> "has" [] OTHER -> @]]
  /\ UNCHANGED <<insts, durable, lost, back>>

Next ==
  \/ Begin \/ Decide \/ Publish \/ Abort \/ Fence \/ Occupied \/ Retire \/ Crash
  \/ \E l \in Lanes :
       \/ Post(l) \/ KnowFails(l) \/ Control(l) \/ Take(l) \/ Serve(l)
       \/ \E c \in DOMAIN client, kind \in {"spawn", "correlate", "again"} : Request(c, l, kind)

Spec == Init /\ [][Next]_vars
FairSpec ==
  /\ Spec /\ WF_vars(Abort) /\ WF_vars(Decide) /\ WF_vars(Publish)
  /\ \A l \in Lanes : WF_vars(Post(l)) /\ WF_vars(Control(l) \/ Take(l) \/ Serve(l))

TypeOK ==
  /\ \A l \in Lanes : active[l] \in {1, 2} /\ know[l] \subseteq {1, 2}
  /\ co.phase \in {"idle", "one", "decided", "done", "aborted", "fencing", "retired"} /\ co.try \in 0..MaxTries
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
