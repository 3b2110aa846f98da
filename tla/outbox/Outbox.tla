------------------------------- MODULE Outbox -------------------------------
(* The sender of an outbox (owner L11). Steps commit emissions of their     *)
(* instances, numbered from 1 without gaps; the sender reads them, hands    *)
(* the rows of one instance to one worker at a time, and the worker sends   *)
(* them in order, once what was read is durable. What was acknowledged is   *)
(* removed. The store shows what it did not sync, and a crash takes the     *)
(* newest of that back: commits, and removals, of which a row comes back    *)
(* that is then sent again under the same number.                           *)
(*                                                                          *)
(*   free -Offer-> offered -Secure-> ready -Leave, Acked-> … -Done-> free   *)
EXTENDS Naturals, Sequences

CONSTANTS
  Insts,
  MaxRows,    \* emissions of one instance
  MaxFaults   \* sends that fail, removals that fail and crashes of one behavior

VARIABLES
  rows,     \* instance -> [made, gone]: emissions committed, and removed, as the store shows it
  kept,     \* the rows that the worst crash would leave
  log,      \* the rows from kept to those shown, oldest first
  run,      \* instance -> the stretch of rows that a worker has
  arrived,  \* instance -> how many reached the receiver
  faults

vars == <<rows, kept, log, run, arrived, faults>>

Nothing == [made |-> 0, gone |-> 0]
Free == [at |-> "free", first |-> 0, last |-> 0, next |-> 0]
Fault == faults < MaxFaults /\ faults' = faults + 1

Init ==
  /\ rows = [i \in Insts |-> Nothing]
  /\ kept = rows
  /\ log = <<rows>>
  /\ run = [i \in Insts |-> Free]
  /\ arrived = [i \in Insts |-> 0]
  /\ faults = 0

\* ---- the store -------------------------------------------------------------------

Show(x) == rows' = x /\ log' = Append(log, x) /\ kept' = kept

\* A step commits n emissions.
Commit(i, n) ==
  /\ rows[i].made + n <= MaxRows
  /\ Show([rows EXCEPT ![i].made = @ + n])
  /\ UNCHANGED <<run, arrived, faults>>

\* What was acknowledged is removed.
Remove(i) ==
  /\ run[i].at = "ready" /\ run[i].next > run[i].first
  /\ Show([rows EXCEPT ![i].gone = IF @ < run[i].next - 1 THEN run[i].next - 1 ELSE @])
  /\ UNCHANGED <<run, arrived, faults>>

Sync(n) ==
  /\ n \in 1..Len(log)
  /\ kept' = log[n] /\ log' = SubSeq(log, n, Len(log))
  /\ UNCHANGED <<rows, run, arrived, faults>>

\* The node that sends stops with its store, and another life begins.
Crash(n) ==
  /\ n \in 1..Len(log) /\ Fault
  /\ rows' = log[n] /\ kept' = log[n] /\ log' = <<log[n]>>
  /\ run' = [i \in Insts |-> Free]
  /\ UNCHANGED arrived

\* ---- the sender ------------------------------------------------------------------

\* It has read the rows of an instance from the first on, and a worker is given them.
Offer(i, last) ==
  /\ run[i].at = "free" /\ last \in (rows[i].gone + 1)..rows[i].made
  /\ run' = [run EXCEPT ![i] = [at |-> "offered", first |-> rows[i].gone + 1, last |-> last, next |-> rows[i].gone + 1]]
  /\ UNCHANGED <<rows, kept, log, arrived, faults>>

Durable(i, last) == last <= kept[i].made

\* What was read is durable.
Secure(i) ==
  /\ run[i].at = "offered" /\ Durable(i, run[i].last)
  /\ run' = [run EXCEPT ![i].at = "ready"]
  /\ UNCHANGED <<rows, kept, log, arrived, faults>>

\* An emission leaves, and reaches the receiver, or not.
Leave(i, s) ==
  /\ run[i].at = "ready" /\ s = run[i].next /\ s <= run[i].last
  /\ \/ arrived' = [arrived EXCEPT ![i] = IF @ < s THEN s ELSE @]
     \/ arrived' = arrived
  /\ run' = [run EXCEPT ![i].at = "sent"]
  /\ UNCHANGED <<rows, kept, log, faults>>

\* The receiver acknowledged it, so that it did reach it.
Acked(i) ==
  /\ run[i].at = "sent" /\ arrived[i] >= run[i].next
  /\ run' = [run EXCEPT ![i].at = "ready", ![i].next = @ + 1]
  /\ UNCHANGED <<rows, kept, log, arrived, faults>>

\* No acknowledgement came in time; the rest of the run waits for another one.
Fails(i) ==
  /\ run[i].at = "sent"
  /\ IF arrived[i] >= run[i].next THEN Fault ELSE UNCHANGED faults
  /\ run' = [run EXCEPT ![i].at = "ready", ![i].last = run[i].next - 1]
  /\ UNCHANGED <<rows, kept, log, arrived>>

\* The run is over: all of it is removed, or its rows stay and are read again.
Over(i) == run[i].next > run[i].last \/ run[i].at = "offered"
Done(i) ==
  /\ run[i].at \in {"offered", "ready"} /\ Over(i)
  /\ IF run[i].at = "offered" \/ rows[i].gone < run[i].next - 1 THEN Fault ELSE UNCHANGED faults
  /\ run' = [run EXCEPT ![i] = Free]
  /\ UNCHANGED <<rows, kept, log, arrived>>

\* ---- behaviors -------------------------------------------------------------------

Next ==
  \/ \E i \in Insts :
       \/ Commit(i, 1) \/ Remove(i) \/ Secure(i) \/ Acked(i) \/ Fails(i) \/ Done(i)
       \/ \E s \in 1..MaxRows : Offer(i, s) \/ Leave(i, s)
  \/ \E n \in 1..Len(log) : Sync(n) \/ Crash(n)

Spec == Init /\ [][Next]_vars

\* The sender looks and its workers go on, the store syncs, and what is sent again and again arrives.
Fairness ==
  /\ \A i \in Insts :
       /\ WF_vars(Offer(i, rows[i].made)) /\ WF_vars(Secure(i)) /\ WF_vars(\E s \in 1..MaxRows : Leave(i, s))
       /\ SF_vars(\E s \in 1..MaxRows : Leave(i, s) /\ arrived'[i] >= s)
       /\ WF_vars(Acked(i) \/ (Fails(i) /\ UNCHANGED faults)) /\ WF_vars(Remove(i) /\ rows' # rows) /\ WF_vars(Done(i) /\ UNCHANGED faults)
  /\ WF_vars(Sync(Len(log)) /\ kept' # kept)

FairSpec == Spec /\ Fairness

\* ---- what must hold ---------------------------------------------------------------

TypeOK ==
  /\ log[1] = kept /\ log[Len(log)] = rows
  /\ \A i \in Insts : /\ rows[i].gone \in 0..rows[i].made /\ rows[i].made \in 0..MaxRows
                      /\ run[i].at \in {"free", "offered", "ready", "sent"}

\* Nothing leaves before the commit that wrote it is durable.
L11I2_DurableBeforeItLeaves == \A i \in Insts : arrived[i] <= kept[i].made

\* Emissions arrive in order: an emission leaves after every earlier one of its instance arrived.
L11I3_InOrder == [][\A i \in Insts : run[i].at # "sent" /\ run'[i].at = "sent" => arrived[i] >= run[i].next - 1]_vars

\* A row is removed after it arrived.
L11I4_RemovedHasArrived == \A i \in Insts : rows[i].gone <= arrived[i]

\* What was committed for good arrives, and its row goes.
L11_AllArrive == \A i \in Insts : \A s \in 1..MaxRows : kept[i].made >= s ~> arrived[i] >= s
L11_RowsGo == \A i \in Insts : <>[](rows[i].gone = rows[i].made)
=============================================================================
