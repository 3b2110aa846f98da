------------------------------- MODULE Drain -------------------------------
(* How a drain finds out that nothing moves any more (D2), with parked messages (A2).                            *)
(*                                                                                                               *)
(* The intake is closed, so work only goes on or ends. A batch waits in a relay, is collected by the stage that   *)
(* reads it, and there is published to another relay, buffered until a flush, parked until the outside answers,   *)
(* or done. The observer cannot read all of that at one instant: it reads one counter after the other while the    *)
(* batches move behind its back. It therefore reads the sequence of admissions of every relay before and after     *)
(* the rest. Stages may form a circle.                                                                            *)
(*                                                                                                               *)
(* Two rules that the catalogue states shortly are made exact here, because the specification fails without them:  *)
(* - what a stage has collected, buffered and parked is one word (D1), read at once; a batch enters that word      *)
(*   before it leaves its relay;                                                                                   *)
(* - a flush publishes before it takes the batch out of the word.                                                  *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Stage,     \* a stage and the relay that it reads have one name
  Batches,   \* how many batches are on their way when the intake closes
  MaxHops    \* how often the batches are published altogether; a circle must not turn for ever

VARIABLES
  queue,     \* batches in the relay of each stage
  word,      \* [collected, buffered, parked] of each stage, changed and read as one
  sequence,  \* admissions of each relay so far
  moving,    \* the step that a stage is in the middle of: "no", "taken", "emitted", "flushed"
  hops,
  todo,      \* what the observer still reads in this round, in order: <<"sequence" or "word" or "queue", stage>>
  before,    \* the sequences that it read first
  busy,      \* it has seen work in this round
  drained    \* it has concluded

vars == <<queue, word, sequence, moving, hops, todo, before, busy, drained>>
work == <<queue, word, sequence, moving, hops>>

Empty == [collected |-> 0, buffered |-> 0, parked |-> 0]

Init ==
  /\ \E q \in [Stage -> 0..Batches] : queue = q
  /\ \E c \in [Stage -> 0..Batches], b \in [Stage -> 0..Batches] :
       word = [s \in Stage |-> [collected |-> c[s], buffered |-> b[s], parked |-> 0]]
  /\ LET total[left \in SUBSET Stage] ==
           IF left = {} THEN 0
           ELSE LET s == CHOOSE x \in left : TRUE
                IN queue[s] + word[s].collected + word[s].buffered + total[left \ {s}]
     IN total[Stage] = Batches
  /\ sequence = [s \in Stage |-> 0] /\ moving = [s \in Stage |-> "no"] /\ hops = 0
  /\ todo = <<>> /\ before = sequence /\ busy = TRUE /\ drained = FALSE

Moves(s, now) == moving' = [moving EXCEPT ![s] = now]
Count(s, field, by) == word' = [word EXCEPT ![s][field] = @ + by]
Uncount(s, field) == word' = [word EXCEPT ![s][field] = @ - 1]

--------------------------------------------------------------------------------------------------------------------
(* A batch goes from its relay to its stage: it is counted there first. *)

Collect(s) ==
  /\ moving[s] = "no" /\ queue[s] > 0
  /\ Count(s, "collected", 1) /\ Moves(s, "taken")
  /\ UNCHANGED <<queue, sequence, hops>>

Dequeue(s) ==
  /\ moving[s] = "taken"
  /\ queue' = [queue EXCEPT ![s] = @ - 1] /\ Moves(s, "no")
  /\ UNCHANGED <<word, sequence, hops>>

(* A batch is admitted to a relay, and leaves the stage afterwards. *)
Admit(s, to, now) ==
  /\ moving[s] = "no" /\ hops < MaxHops
  /\ queue' = [queue EXCEPT ![to] = @ + 1] /\ sequence' = [sequence EXCEPT ![to] = @ + 1] /\ hops' = hops + 1
  /\ Moves(s, now) /\ UNCHANGED word

Emit(s, to) == word[s].collected > 0 /\ Admit(s, to, "emitted")
Flush(s, to) == word[s].buffered > 0 /\ Admit(s, to, "flushed")

Sent(s) ==
  /\ \/ moving[s] = "emitted" /\ Uncount(s, "collected")
     \/ moving[s] = "flushed" /\ Uncount(s, "buffered")
  /\ Moves(s, "no") /\ UNCHANGED <<queue, sequence, hops>>

(* What stays in a stage changes its place in one step. *)
Becomes(s, field) ==
  /\ moving[s] = "no" /\ word[s].collected > 0
  /\ word' = [word EXCEPT ![s].collected = @ - 1, ![s][field] = @ + 1]
  /\ UNCHANGED <<queue, sequence, moving, hops>>

Buffer(s) == hops < MaxHops /\ Becomes(s, "buffered")
Park(s) == Becomes(s, "parked")

Done(s) ==
  /\ moving[s] = "no"
  /\ \/ word[s].collected > 0 /\ Uncount(s, "collected")
     \/ word[s].buffered > 0 /\ hops = MaxHops /\ Uncount(s, "buffered")
  /\ UNCHANGED <<queue, sequence, moving, hops>>

(* A parked message is answered. It is acknowledged; while the intake is closed it publishes nothing. *)
Answer(s) == word[s].parked > 0 /\ Uncount(s, "parked") /\ UNCHANGED <<queue, sequence, moving, hops>>

--------------------------------------------------------------------------------------------------------------------
(* The observer: sequences, then words and queues, then the sequences again. It may read the stages of each kind in *)
(* any order; Plans are all orders that it may choose.                                                              *)

Orders == {o \in [1..Cardinality(Stage) -> Stage] : \A s \in Stage : \E i \in DOMAIN o : o[i] = s}
Of(kind, o) == [i \in DOMAIN o |-> <<kind, o[i]>>]
Plans == {Of("first", o) \o Of("queue", p) \o Of("word", q) \o Of("last", o) : o \in Orders, p \in Orders, q \in Orders}

Begin ==
  /\ ~drained /\ todo = <<>>
  /\ todo' \in Plans /\ busy' = FALSE
  /\ UNCHANGED <<before, drained, work>>

Active(s) == word[s].collected + word[s].buffered > 0

Read ==
  /\ todo # <<>>
  /\ LET kind == Head(todo)[1]
         s == Head(todo)[2]
     IN
     /\ before' = IF kind = "first" THEN [before EXCEPT ![s] = sequence[s]] ELSE before
     /\ busy' = (busy \/ CASE kind = "queue" -> queue[s] > 0
                          [] kind = "word" -> Active(s)
                          [] kind = "last" -> sequence[s] # before[s]
                          [] kind = "first" -> FALSE)
  /\ todo' = Tail(todo)
  /\ drained' = (Len(todo) = 1 /\ ~busy')
  /\ UNCHANGED work

--------------------------------------------------------------------------------------------------------------------
Ends(s) == Dequeue(s) \/ Sent(s)
Works(s) == Collect(s) \/ Park(s) \/ Done(s) \/ Ends(s)
Next ==
  \/ Begin \/ Read
  \/ \E s \in Stage :
       /\ \/ Works(s) \/ Buffer(s) \/ Answer(s)
          \/ \E to \in Stage : Emit(s, to) \/ Flush(s, to)
       /\ UNCHANGED <<todo, before, busy, drained>>

(* Stages go on, buffers are flushed; nothing makes the outside answer a parked message. *)
Goes(s) == (Works(s) \/ \E to \in Stage : Flush(s, to)) /\ UNCHANGED <<todo, before, busy, drained>>
Fair == WF_vars(Begin \/ Read) /\ \A s \in Stage : WF_vars(Goes(s))
Spec == Init /\ [][Next]_vars /\ Fair

--------------------------------------------------------------------------------------------------------------------
TypeOK ==
  /\ \A s \in Stage : queue[s] \in Nat /\ sequence[s] \in Nat /\ before[s] \in Nat
                      /\ moving[s] \in {"no", "taken", "emitted", "flushed"}
                      /\ word[s] \in [collected : Nat, buffered : Nat, parked : Nat]
  /\ hops \in 0..MaxHops /\ busy \in BOOLEAN /\ drained \in BOOLEAN
  /\ todo \in Seq({"first", "queue", "word", "last"} \X Stage)

(* D2.I1: when the observer concludes, nothing moves, and never will again. *)
D2I1_DrainedIsTrue == drained => \A s \in Stage : queue[s] = 0 /\ ~Active(s)

(* D2: a drain ends, also with a message that stays parked. *)
D2L1_DrainEnds == <>drained
=============================================================================
