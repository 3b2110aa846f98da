---------------------------- MODULE TraceSettle -----------------------------
(* The registry of one replica as executions of the code are checked        *)
(* against Settle. A lane n is one delivery, attempt k at message m; several *)
(* are under way at once, and one may be brought again after a positive     *)
(* answer. The entries are shown; what was committed and told is hidden.    *)
EXTENDS Settle

TraceHome(n) == "r"
TraceInit == Init

Is(n, m, k) == lane[n].a = <<m, k>>
Taken(n, m, k) == Entries("r", <<m, k>>) = {}
Room(capacity) == Cardinality(reg["r"]) < capacity

TraceDeliver(n, m, k) == sent[m] + 1 = k /\ Bring(n, m)
TraceRegister(n, m, k, capacity) == Is(n, m, k) /\ Room(capacity) /\ Add(n)
TraceRefuseFull(n, m, k, capacity) ==
  Is(n, m, k) /\ ~Room(capacity) /\ (\A e \in reg["r"] : ~Evictable(e)) /\ TurnAway(n)
TraceRefuseStopped(n, m, k) == Is(n, m, k) /\ TurnAway(n)

\* A delivery that commits has a step of its own, whether or not another one of its instance has.
TraceCommit(n, m, k) ==
  /\ Is(n, m, k) /\ lane[n].at = "commit" /\ To(n, "arm")
  /\ db' = IF db[m] = "absent" THEN [db EXCEPT ![m] = "running"] ELSE db
  /\ UNCHANGED <<sent, att, reg, told, budget>>
\* A duplicate: what it read is what there is.
TraceRead(n, m, k, terminal) ==
  /\ Is(n, m, k) /\ lane[n].at = "commit" /\ (db[m] = "terminal") = terminal
  /\ To(n, IF terminal THEN "duplicate" ELSE "arm")
  /\ UNCHANGED <<db, sent, att, reg, told, budget>>
\* An entry is dropped by a commit that failed, or by a duplicate that has read its end.
TraceDrop(n, m, k) ==
  /\ Is(n, m, k)
  /\ \/ lane[n].at = "duplicate" /\ db[m] = "terminal" /\ Duplicate(n)
     \/ lane[n].at = "commit" /\ Fail(n) /\ UNCHANGED <<db, sent, told, budget>>
TraceArm(n, m, k) == Is(n, m, k) /\ ~Taken(n, m, k) /\ Arm(n)

TraceEvict(n, m, k) == \E e \in Entries("r", <<m, k>>) : Expel("r", e)
TracePoll(n, m, k) == Poll("r", <<m, k>>)
TraceTimeout(n, m, k) == Timeout("r", <<m, k>>)
TraceStop(n, m, k) == Stop("r", <<m, k>>)
TraceComplete(m) ==
  IF db[m] = "running" THEN Complete(m)
  ELSE db' = [db EXCEPT ![m] = "terminal"] /\ UNCHANGED <<sent, att, reg, lane, told, budget>>

(* The graph whose edges the sequences cover. Deliveries come in the order  *)
(* of their numbers, none for an instance that has ended: an end that finds *)
(* an entry pending is kept, and settles it when it is armed. The oldest    *)
(* armed entry is evicted; with room for one it is the only one.            *)
SequenceDeliver(n, m, k) ==
  /\ db[m] # "terminal" /\ Cardinality({a \in Attempts : att[a].st # "none"}) = n - 1
  /\ TraceDeliver(n, m, k)
SequenceRegister(n, m, k) == TraceRegister(n, m, k, Capacity)
SequenceRefuseFull(n, m, k) == TraceRefuseFull(n, m, k, Capacity)
SequenceRefuseStopped(n, m, k) == FALSE
SequenceCommit(n, m, k) == TraceCommit(n, m, k)
SequenceRead(n, m, k) == FALSE
SequenceDrop(n, m, k) == lane[n].at = "commit" /\ TraceDrop(n, m, k)
SequenceArm(n, m, k) == TraceArm(n, m, k)
Armed(m, k) == [a |-> <<m, k>>, st |-> "armed"] \in reg["r"]
SequenceEvict(n, m, k) == Full("r") /\ Armed(m, k) /\ TraceEvict(n, m, k)
SequencePoll(n, m, k) == Armed(m, k) /\ TracePoll(n, m, k)
SequenceTimeout(n, m, k) == FALSE
SequenceStop(n, m, k) == FALSE
SequenceComplete(m) == db[m] # "terminal" /\ TraceComplete(m)
=============================================================================
