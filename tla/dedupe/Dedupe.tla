------------------------------- MODULE Dedupe -------------------------------
(* Deduplication with a durable file (owner E2 and the commit point of G6).  *)
(* The first delivery of a key reserves it and passes; its unit carries the *)
(* lines of the file and the keys, and the commit point makes both durable: *)
(* lines written, file synced, one synced commit of keys and file length.   *)
(* A delivery with a key that another one holds shares that one's fate. A   *)
(* crash keeps any part of what was not synced, and the next life cuts the  *)
(* file to its committed length before it begins with the keys in the store.*)
(*                                                                          *)
(*   unit: none -Pass-> open -Submit-> queued -Take-> taken -Settled-> ok,  *)
(*         refused or fenced -Learn-> none                                  *)
(*   point: closed -Open-> idle -Take-> taken -Write-> written -Sync->      *)
(*          synced -Land-> landed -Recorded-> done -Settled-> idle          *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS
  Keys,
  Attempts,   \* of sources; one that failed is made again
  MaxFaults,  \* failures, unknown outcomes and ends of a life in one behavior
  Torn        \* a line of which a part is there

VARIABLES
  rows,    \* what the store shows: keys, and the committed length of the file
  kept,    \* the same, as the worst crash would leave it
  file,    \* the lines that a reader sees
  disk,    \* those that the worst crash would leave
  seen,    \* key -> "no", "known", or the attempt that has reserved it
  begun,   \* whether this life has read its keys
  run,     \* attempt -> where it is, its keys, the lines of its unit, whose end it waits for, whether one failed
  unit,    \* attempt -> the state of its unit
  stage,   \* of the commit point
  group,   \* the attempts whose units it has, in order
  fenced,  \* the branch knows that the commit point is fenced
  acked,   \* attempts that were acknowledged
  faults

durable == <<rows, kept, file, disk>>
vars == <<durable, seen, begun, run, unit, stage, group, fenced, acked, faults>>

Range(s) == {s[n] : n \in DOMAIN s}
Fault == faults < MaxFaults /\ faults' = faults + 1
Away == [at |-> "away", keys |-> {}, data |-> <<>>, owes |-> {}, failed |-> FALSE]
Committed == SubSeq(file, 1, rows.len)

RECURSIVE DataOf(_)
DataOf(g) == IF g = <<>> THEN <<>> ELSE run[Head(g)].data \o DataOf(Tail(g))

Init ==
  /\ rows = [keys |-> {}, len |-> 0] /\ kept = rows
  /\ file = <<>> /\ disk = <<>>
  /\ seen = [k \in Keys |-> "no"] /\ begun = FALSE
  /\ run = [a \in Attempts |-> Away] /\ unit = [a \in Attempts |-> "none"]
  /\ stage = "closed" /\ group = <<>> /\ fenced = FALSE
  /\ acked = {} /\ faults = 0

\* ---- lives -----------------------------------------------------------------------

Forget ==
  /\ seen' = [k \in Keys |-> "no"] /\ begun' = FALSE /\ fenced' = FALSE /\ group' = <<>>
  /\ unit' = [a \in Attempts |-> "none"]
  /\ run' = [a \in Attempts |-> [run[a] EXCEPT !.at = "away", !.owes = {}, !.failed = FALSE]]

\* The file is cut to its committed length, once that is durable.
Begins ==
  /\ rows = kept
  /\ stage' = "idle" /\ Forget
  /\ file' = Committed /\ disk' = IF Len(file) > rows.len THEN Committed ELSE disk
  /\ UNCHANGED <<rows, kept, acked, faults>>
Open == stage \in {"closed", "over"} /\ Begins

\* A crash keeps some of what was not synced, the last line perhaps in part.
Survivors ==
  LET long == IF Len(file) > Len(disk) THEN file ELSE disk
      short == IF Len(file) > Len(disk) THEN Len(disk) ELSE Len(file)
  IN {SubSeq(long, 1, n) : n \in short..Len(long)} \cup {Append(SubSeq(long, 1, n), Torn) : n \in short..(Len(long) - 1)}
Crash ==
  /\ rows' \in {rows, kept} /\ kept' = rows'
  /\ file' \in Survivors /\ disk' = file'
  /\ stage' = "closed" /\ Forget
  /\ UNCHANGED acked
Die == stage # "closed" /\ Fault /\ Crash

\* What the keys rest on is durable before anything passes.
Begin(ks) ==
  /\ ~begun /\ stage # "closed" /\ ks = rows.keys /\ ks \subseteq kept.keys
  /\ begun' = TRUE
  /\ seen' = [k \in Keys |-> IF k \in ks THEN "known" ELSE "no"]
  /\ UNCHANGED <<durable, run, unit, stage, group, fenced, acked, faults>>

\* ---- the deduplicator ------------------------------------------------------------

Holders(ks) == {seen[k] : k \in ks} \cap Attempts

\* A delivery passes with the keys that were not seen. Without any it is a duplicate, of what is known at once.
Pass(a, ks, fresh) ==
  /\ begun /\ ~fenced /\ run[a].at = "away" /\ unit[a] = "none"
  /\ Range(fresh) = {k \in ks : seen[k] = "no"} /\ Len(fresh) = Cardinality(Range(fresh))
  /\ LET owes == Holders(ks) \cup (IF fresh = <<>> THEN {} ELSE {a}) IN
     /\ run' = [run EXCEPT ![a] = [at |-> IF owes = {} THEN "away" ELSE "in", keys |-> ks, data |-> fresh, owes |-> owes, failed |-> FALSE]]
     /\ acked' = IF owes = {} THEN acked \cup {a} ELSE acked
  /\ seen' = [k \in Keys |-> IF k \in Range(fresh) THEN a ELSE seen[k]]
  /\ unit' = [unit EXCEPT ![a] = IF fresh = <<>> THEN "none" ELSE "open"]
  /\ UNCHANGED <<durable, begun, stage, group, fenced, faults>>

\* Its consumers have staged and acknowledged, or one of them has failed it.
Submit(a) ==
  /\ unit[a] = "open" /\ unit' = [unit EXCEPT ![a] = "queued"]
  /\ UNCHANGED <<durable, seen, begun, run, stage, group, fenced, acked, faults>>
Drop(a) ==
  /\ unit[a] = "open" /\ Fault /\ unit' = [unit EXCEPT ![a] = "refused"]
  /\ UNCHANGED <<durable, seen, begun, run, stage, group, fenced, acked>>

\* What a settled unit owed is resolved, for the attempts in who.
Resolved(a, who) ==
  [b \in Attempts |->
    IF b \notin who \/ a \notin run[b].owes THEN run[b]
    ELSE LET left == run[b].owes \ {a} IN
         [run[b] EXCEPT !.owes = left, !.failed = @ \/ unit[a] # "ok", !.at = IF left = {} THEN "away" ELSE "in"]]
Acknowledged(after) == {b \in Attempts : run[b].at = "in" /\ after[b].at = "away" /\ ~after[b].failed}
Resolve(a, who) == LET after == Resolved(a, who) IN run' = after /\ acked' = acked \cup Acknowledged(after)

\* The source of the delivery that passed is told what became of it; the branch learns the same, and those who follow.
\* A unit whose outcome nobody knows stays what it is in this life.
Mine(a) == {k \in Keys : seen[k] = a}
Ends(a, isOver) == unit' = [unit EXCEPT ![a] = IF isOver /\ @ # "fenced" THEN "none" ELSE @]
Answer(a) ==
  /\ unit[a] \in {"ok", "refused", "fenced"} /\ a \in run[a].owes
  /\ Resolve(a, {a})
  /\ Ends(a, Mine(a) = {})
  /\ UNCHANGED <<durable, seen, begun, stage, group, fenced, faults>>
Learn(a) ==
  /\ unit[a] \in {"ok", "refused", "fenced"} /\ Mine(a) # {}
  /\ Resolve(a, Attempts \ {a})
  /\ seen' = [k \in Keys |-> IF k \notin Mine(a) \/ unit[a] = "fenced" THEN seen[k] ELSE IF unit[a] = "ok" THEN "known" ELSE "no"]
  /\ fenced' = (fenced \/ unit[a] = "fenced")
  /\ Ends(a, a \notin run[a].owes)
  /\ UNCHANGED <<durable, begun, stage, group, faults>>

\* ---- the commit point ------------------------------------------------------------

Point(from, to) == stage = from /\ stage' = to
Take(g) ==
  /\ Point("idle", "taken") /\ g # <<>> /\ \A a \in Range(g) : unit[a] = "queued"
  /\ group' = g
  /\ unit' = [a \in Attempts |-> IF a \in Range(g) THEN "taken" ELSE unit[a]]
  /\ UNCHANGED <<durable, seen, begun, run, fenced, acked, faults>>

\* Lines are written behind the committed length, over whatever is there.
Over(data) == Committed \o data \o SubSeq(file, rows.len + Len(data) + 1, Len(file))
Write ==
  /\ Point("taken", "written") /\ file' = Over(DataOf(group))
  /\ UNCHANGED <<rows, kept, disk, seen, begun, run, unit, group, fenced, acked, faults>>
WriteFails ==
  /\ Point("taken", "cut") /\ Fault
  /\ LET data == DataOf(group) IN
     \E n \in 0..Len(data) :
       \/ file' = Over(SubSeq(data, 1, n))
       \/ n < Len(data) /\ file' = Over(Append(SubSeq(data, 1, n), Torn))
  /\ UNCHANGED <<rows, kept, disk, seen, begun, run, unit, group, fenced, acked>>

Sync ==
  /\ Point("written", "synced") /\ disk' = file
  /\ UNCHANGED <<rows, kept, file, seen, begun, run, unit, group, fenced, acked, faults>>
SyncFails ==
  /\ Point("written", "fence") /\ Fault
  /\ UNCHANGED <<durable, seen, begun, run, unit, group, fenced, acked>>

\* The one commit takes effect.
Land ==
  /\ Point("synced", "landed")
  /\ rows' = [keys |-> rows.keys \cup Range(DataOf(group)), len |-> rows.len + Len(DataOf(group))]
  /\ UNCHANGED <<kept, file, disk, seen, begun, run, unit, group, fenced, acked, faults>>
StoreSync ==
  /\ kept' = rows
  /\ UNCHANGED <<rows, file, disk, seen, begun, run, unit, stage, group, fenced, acked, faults>>
Recorded ==
  /\ Point("landed", "done") /\ kept = rows
  /\ UNCHANGED <<durable, seen, begun, run, unit, group, fenced, acked, faults>>
Refused ==
  /\ Point("synced", "cut") /\ Fault
  /\ UNCHANGED <<durable, seen, begun, run, unit, group, fenced, acked>>
Unknown ==
  /\ stage \in {"synced", "landed"} /\ stage' = "fence" /\ Fault
  /\ UNCHANGED <<durable, seen, begun, run, unit, group, fenced, acked>>

\* A group that is refused is cut back; when that fails, too, only a restart removes what it wrote.
CutBack ==
  /\ Point("cut", "refuse") /\ file' = Committed /\ disk' = file'
  /\ UNCHANGED <<rows, kept, seen, begun, run, unit, group, fenced, acked, faults>>
CutFails ==
  /\ Point("cut", "fence") /\ Fault
  /\ file' \in {file, Committed} /\ disk' = disk
  /\ UNCHANGED <<rows, kept, seen, begun, run, unit, group, fenced, acked>>

Outcome == CASE stage = "done" -> "ok" [] stage = "refuse" -> "refused" [] stage = "fence" -> "fenced" [] OTHER -> "none"
Settled(a) ==
  /\ Outcome # "none" /\ group # <<>> /\ a = Head(group)
  /\ group' = Tail(group) /\ unit' = [unit EXCEPT ![a] = Outcome]
  /\ stage' = IF Len(group) > 1 THEN stage ELSE IF stage = "fence" THEN "over" ELSE "idle"
  /\ UNCHANGED <<durable, seen, begun, run, fenced, acked, faults>>

\* A point that is fenced, or closed, settles what comes after.
Late(a) ==
  /\ unit[a] = "queued"
  /\ \/ stage = "over" /\ unit' = [unit EXCEPT ![a] = "fenced"] /\ UNCHANGED faults
     \/ Fault /\ unit' = [unit EXCEPT ![a] = "refused"]
  /\ UNCHANGED <<durable, seen, begun, run, stage, group, fenced, acked>>

\* ---- what must hold ---------------------------------------------------------------

Times(k, s) == Cardinality({n \in DOMAIN s : s[n] = k})

TypeOK ==
  /\ rows.keys \subseteq Keys /\ rows.len \in 0..Len(file) /\ kept.keys \subseteq rows.keys /\ kept.len \in 0..rows.len
  /\ Range(file) \cup Range(disk) \subseteq Keys \cup {Torn}
  /\ \A k \in Keys : seen[k] \in {"no", "known"} \cup Attempts
  /\ \A a \in Attempts :
       /\ run[a].at = (IF run[a].owes = {} THEN "away" ELSE "in") /\ run[a].owes \subseteq Attempts
       /\ unit[a] \in {"none", "open", "queued", "taken", "ok", "refused", "fenced"}
  /\ stage \in {"closed", "idle", "taken", "written", "synced", "landed", "done", "cut", "refuse", "fence", "over"}

\* What was acknowledged is durable: in the store, and in the file within its committed length, once.
E2I1_AckedIsKept ==
  \A a \in acked : \A k \in run[a].keys : k \in kept.keys /\ Times(k, SubSeq(disk, 1, kept.len)) = 1

\* No key is in the file twice.
E2I2_Once == \A k \in Keys : Times(k, file) <= 1

\* A committed key is in the file, and nothing else is within the committed length, also after the worst crash.
E2I3_KeysAreTheFile ==
  /\ rows.len <= Len(disk)
  /\ rows.keys = Range(SubSeq(disk, 1, rows.len)) /\ kept.keys = Range(SubSeq(disk, 1, kept.len))

\* What is refused has left nothing behind when its keys are released, so it may be sent again.
E2I4_RefusedLeavesNothing ==
  \A a \in Attempts : unit[a] = "refused" => \A k \in Mine(a) : k \notin rows.keys /\ Times(k, file) = 0

\* The first one wins: a key is with one unit, and one whose fate nobody knows keeps it in this life.
Undecided == {a \in Attempts : unit[a] \in {"open", "queued", "taken", "fenced"}}
E2I5_OneHolder == \A a, b \in Undecided : a # b => Range(run[a].data) \cap Range(run[b].data) = {}
=============================================================================
