------------------------------ MODULE Barrier ------------------------------
(* The durability barrier (E5): how writers learn that what they wrote survives a crash, and how a large state is *)
(* replaced by a newer one.                                                                                       *)
(*                                                                                                                *)
(* The store is a log; a crash keeps a prefix of it that contains what was flushed. A writer appends, takes the   *)
(* length of the log as its ticket, and waits until a flush covers it. Only a flush that began after the write    *)
(* does, so a flush covers what the log held when it began. One storage job flushes for everybody: it owns the    *)
(* slot from its start until, in one step, it finds no ticket that waits. A writer that gives up leaves all that  *)
(* as it is. After a flush that failed nobody is told that anything is durable.                                   *)
(*                                                                                                                *)
(* A large state is a set of segments and, written last, the header that makes them the state. The older set is   *)
(* dropped afterwards, and not before the last reader of it has unpinned it.                                      *)
(*                                                                                                                *)
(* A crash is no action here: the invariants speak of every prefix that a crash could leave.                      *)
EXTENDS Integers, FiniteSets, Sequences

CONSTANTS
  Writer,     \* each writes one small record
  Keeper,     \* replaces the state
  Reader,     \* each reads the state once
  Job,        \* who may flush; one at a time, if the barrier is right
  Segments,   \* of a state
  Versions    \* the last one that is written; the first is there already

VARIABLES
  log,       \* [kind, version, part]
  durable,   \* how much of the log a crash keeps
  hole,      \* a flush failed: the store promises nothing about what came after
  who,       \* of each writer and the keeper: step, ticket, what it was told
  slot,      \* a job has been started and has not ended
  job,       \* of each job: step, and the length of the log when it began
  covered,   \* tickets up to it are covered
  broken,    \* a round failed
  written,   \* version and parts of it that the keeper has written; one more than Segments with the header
  read       \* of each reader: the version it has pinned (0: none), and its next segment

vars == <<log, durable, hole, who, slot, job, covered, broken, written, read>>
Waiters == Writer \cup {Keeper}
Rec(kind, version, part) == [kind |-> kind, version |-> version, part |-> part]

Init ==
  /\ log = [i \in 1..Segments |-> Rec("segment", 1, i)] \o <<Rec("header", 1, 0)>>
  /\ durable = Segments + 1 /\ covered = Segments + 1 /\ hole = FALSE /\ broken = FALSE /\ slot = FALSE
  /\ who = [w \in Waiters |-> [at |-> "write", ticket |-> 0, told |-> "nothing"]]
  /\ job = [j \in Job |-> [at |-> "rest", from |-> 0]]
  /\ written = [version |-> 2, part |-> 0]
  /\ read = [r \in Reader |-> [pin |-> 0, next |-> 1, done |-> FALSE]]

Written(v, upTo) == {i \in 1..upTo : log[i].kind = "segment" /\ log[i].version = v}
Dropped(v, upTo) == \E i \in 1..upTo : log[i].kind = "drop" /\ log[i].version = v
Headers(upTo) == {i \in 1..upTo : log[i].kind = "header"}
Current(upTo) == LET h == CHOOSE i \in Headers(upTo) : \A k \in Headers(upTo) : k <= i IN log[h].version
Whole(v, upTo) == ~Dropped(v, upTo) /\ Cardinality(Written(v, upTo)) = Segments

--------------------------------------------------------------------------------------------------------------------
(* Writing. The ticket is taken after the write. *)

Write(w) ==
  /\ w \in Writer /\ who[w].at = "write"
  /\ log' = Append(log, Rec("record", 0, 0))
  /\ who' = [who EXCEPT ![w].at = "ask", ![w].ticket = Len(log) + 1]
  /\ UNCHANGED <<durable, hole, slot, job, covered, broken, written, read>>

WriteSegment ==
  /\ who[Keeper].at = "write" /\ written.version <= Versions /\ written.part < Segments
  /\ log' = Append(log, Rec("segment", written.version, written.part + 1))
  /\ written' = [written EXCEPT !.part = @ + 1]
  /\ UNCHANGED <<durable, hole, who, slot, job, covered, broken, read>>

WriteHeader ==
  /\ who[Keeper].at = "write" /\ written.part = Segments
  /\ log' = Append(log, Rec("header", written.version, 0))
  /\ written' = [version |-> written.version + 1, part |-> 0]
  /\ who' = [who EXCEPT ![Keeper] = [at |-> "ask", ticket |-> Len(log) + 1, told |-> "nothing"]]
  /\ UNCHANGED <<durable, hole, slot, job, covered, broken, read>>

(* An older set is dropped when nobody reads it. *)
Drop(v) ==
  /\ v < Current(Len(log)) /\ ~Dropped(v, Len(log)) /\ \A r \in Reader : read[r].pin # v
  /\ log' = Append(log, Rec("drop", v, 0))
  /\ UNCHANGED <<durable, hole, who, slot, job, covered, broken, written, read>>

--------------------------------------------------------------------------------------------------------------------
(* Waiting. Who finds the slot free starts a job; the job belongs to the store from then on. *)

Ask(w) ==
  /\ who[w].at = "ask" /\ who' = [who EXCEPT ![w].at = "wait"]
  /\ IF slot \/ covered >= who[w].ticket \/ broken THEN UNCHANGED <<slot, job>>
     ELSE /\ slot' = TRUE
          /\ \E j \in Job : job[j].at = "rest"
          /\ job' = [job EXCEPT ![CHOOSE j \in Job : job[j].at = "rest"].at = "started"]
  /\ UNCHANGED <<log, durable, hole, covered, broken, written, read>>

Told(w) ==
  /\ who[w].at = "wait" /\ (broken \/ covered >= who[w].ticket)
  /\ who' = [who EXCEPT ![w].at = IF w = Keeper /\ ~broken THEN "write" ELSE "end",
                        ![w].told = IF covered >= who[w].ticket THEN "durable" ELSE "failed"]
  /\ UNCHANGED <<log, durable, hole, slot, job, covered, broken, written, read>>

(* A writer may give up while it waits. *)
Abandon(w) ==
  /\ who[w].at = "wait" /\ w # Keeper
  /\ who' = [who EXCEPT ![w].at = "gone"]
  /\ UNCHANGED <<log, durable, hole, slot, job, covered, broken, written, read>>

--------------------------------------------------------------------------------------------------------------------
(* The storage job. *)

Begin(j) ==
  /\ job[j].at = "started" /\ job' = [job EXCEPT ![j] = [at |-> "flushing", from |-> Len(log)]]
  /\ UNCHANGED <<log, durable, hole, who, slot, covered, broken, written, read>>

Max(a, b) == IF a > b THEN a ELSE b

(* A flush keeps what the log held when it began. Behind a hole the store may say so, but does not. *)
Flushed(j) ==
  /\ job[j].at = "flushing" /\ job' = [job EXCEPT ![j].at = "look"]
  /\ durable' = IF hole THEN durable ELSE Max(durable, job[j].from)
  /\ covered' = IF broken THEN covered ELSE Max(covered, job[j].from)
  /\ UNCHANGED <<log, hole, who, slot, broken, written, read>>

FlushFails(j) ==
  /\ job[j].at = "flushing" /\ job' = [job EXCEPT ![j].at = "look"]
  /\ hole' = TRUE /\ broken' = TRUE
  /\ UNCHANGED <<log, durable, who, slot, covered, written, read>>

(* It ends in the step that finds no ticket left over. *)
Look(j) ==
  /\ job[j].at = "look"
  /\ LET more == ~broken /\ \E w \in Waiters : who[w].at = "wait" /\ who[w].ticket > covered
     IN job' = [job EXCEPT ![j].at = IF more THEN "started" ELSE "rest"] /\ slot' = more
  /\ UNCHANGED <<log, durable, hole, who, covered, broken, written, read>>

--------------------------------------------------------------------------------------------------------------------
(* A reader pins the set that is current, reads its segments one by one, and unpins it. *)

Pin(r) ==
  /\ read[r].pin = 0 /\ ~read[r].done /\ read' = [read EXCEPT ![r].pin = Current(Len(log))]
  /\ UNCHANGED <<log, durable, hole, who, slot, job, covered, broken, written>>

ReadSegment(r) ==
  /\ read[r].pin # 0 /\ read[r].next <= Segments /\ read' = [read EXCEPT ![r].next = @ + 1]
  /\ UNCHANGED <<log, durable, hole, who, slot, job, covered, broken, written>>

Unpin(r) ==
  /\ read[r].next > Segments /\ read[r].pin # 0
  /\ read' = [read EXCEPT ![r] = [pin |-> 0, next |-> 1, done |-> TRUE]]
  /\ UNCHANGED <<log, durable, hole, who, slot, job, covered, broken, written>>

--------------------------------------------------------------------------------------------------------------------
Works(w) == Ask(w) \/ Told(w)
Runs(j) == Begin(j) \/ Flushed(j) \/ FlushFails(j) \/ Look(j)
Reads(r) == ReadSegment(r) \/ Unpin(r)
Drops == \E v \in 1..Versions : Drop(v)
Next ==
  \/ \E w \in Waiters : Write(w) \/ Works(w) \/ Abandon(w)
  \/ WriteSegment \/ WriteHeader \/ Drops
  \/ \E j \in Job : Runs(j)
  \/ \E r \in Reader : Pin(r) \/ Reads(r)

(* Whoever asked is looked after, jobs run on, readers come to an end, old sets are dropped. *)
Fair ==
  /\ \A w \in Waiters : WF_vars(Works(w))
  /\ \A j \in Job : WF_vars(Runs(j))
  /\ \A r \in Reader : WF_vars(Reads(r))
  /\ WF_vars(Drops)
Spec == Init /\ [][Next]_vars /\ Fair

--------------------------------------------------------------------------------------------------------------------
TypeOK ==
  /\ \A i \in DOMAIN log : log[i] \in [kind : {"record", "segment", "header", "drop"}, version : 0..Versions, part : 0..Segments]
  /\ durable \in 0..Len(log) /\ covered \in 0..Len(log) /\ hole \in BOOLEAN /\ broken \in BOOLEAN /\ slot \in BOOLEAN
  /\ \A w \in Waiters : who[w].at \in {"write", "ask", "wait", "end", "gone"} /\ who[w].ticket \in 0..Len(log)
                        /\ who[w].told \in {"nothing", "durable", "failed"}
  /\ \A j \in Job : job[j].at \in {"rest", "started", "flushing", "look"} /\ job[j].from \in 0..Len(log)
  /\ \A r \in Reader : read[r].pin \in 0..Versions

(* E5.I1: who is told "durable" finds what it wrote after any crash. *)
E5I1_ToldDurableIsDurable == \A w \in Waiters : who[w].told = "durable" => who[w].ticket <= durable

(* E5.I2: one job runs, and the slot says so. *)
E5I2_OneRunner == Cardinality({j \in Job : job[j].at # "rest"}) = (IF slot THEN 1 ELSE 0)

(* E5.I3: whatever prefix a crash leaves, its newest header has its whole set. *)
E5I3_HeaderHasItsSet == \A n \in durable..Len(log) : Headers(n) # {} /\ Whole(Current(n), n)

(* E5.I4: a pinned reader keeps one whole set. *)
E5I4_PinnedSetIsWhole == \A r \in Reader : read[r].pin # 0 => Whole(read[r].pin, Len(log))

(* E5: who waits is told, or gives up. *)
E5L1_WaitersAreTold == \A w \in Waiters : (who[w].at = "ask") ~> (who[w].at \in {"write", "end", "gone"})

(* E5: older sets are dropped. *)
E5L2_OldSetsGo == \A v \in 1..(Versions - 1) : (\E i \in DOMAIN log : log[i] = Rec("header", v + 1, 0)) ~> Dropped(v, Len(log))
=============================================================================
