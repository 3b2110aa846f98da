------------------------------- MODULE Relay -------------------------------
(* A relay hands every batch to every consumer that is attached, through a bounded queue for each of them (C6).   *)
(*                                                                                                                *)
(* Whoever publishes reads the list of consumers once, reserves a share of the attempt for each of them, and      *)
(* pushes into their queues one after the other. A full queue makes it wait. Two pairs of words keep wake-ups from *)
(* being lost, in both directions: the publisher raises waiting and then reads the room, the consumer frees room   *)
(* and then reads waiting; the consumer raises idle and then reads the list, the publisher links an item and then  *)
(* reads idle. Removing a consumer closes its queue and stops nobody; a smaller capacity discards nothing.         *)
(*                                                                                                                *)
(* Each batch is one call of Publish, by a task of its own.                                                        *)
EXTENDS Integers, FiniteSets, Sequences

CONSTANTS
  Batch,       \* calls of Publish
  Consumer,
  Stalled,     \* consumers that may stop receiving for ever; they may be removed
  Capacity,    \* of each queue at first
  Smallest,    \* to which it is shrunk, and from which it grows again
  Resizes      \* how often altogether

VARIABLES
  attached,  \* the published list of consumers
  capacity, places, closed, waiting,      \* words of each queue
  line, permit,                           \* its notification of room: who is registered, and the stored permit
  items,                                  \* what is linked, in order
  idle, ready,                            \* the consumer's word and its stored wake-up
  call,      \* the step of each call
  todo,      \* consumers that the call still offers to, in order of attachment
  reserved,  \* shares that it reserved
  fate,      \* of the batch at each consumer: "none", "reserved", "linked", "received", "failed"
  limit,     \* the capacity that the call has read
  awake,     \* how its registration was woken: "no", "one" with a permit, "all"
  turn,      \* the step of each consumer
  control,   \* the step of whoever removes or resizes each consumer
  resizes

queueVars == <<capacity, places, closed, waiting, line, permit, items, idle, ready>>
callVars == <<call, todo, reserved, fate, limit, awake>>
vars == <<attached, queueVars, callVars, turn, control, resizes>>

Init ==
  /\ attached = Consumer
  /\ capacity = [c \in Consumer |-> Capacity] /\ places = [c \in Consumer |-> 0]
  /\ closed = [c \in Consumer |-> FALSE] /\ waiting = [c \in Consumer |-> 0]
  /\ line = [c \in Consumer |-> <<>>] /\ permit = [c \in Consumer |-> FALSE] /\ items = [c \in Consumer |-> <<>>]
  /\ idle = [c \in Consumer |-> FALSE] /\ ready = [c \in Consumer |-> FALSE]
  /\ call = [b \in Batch |-> "new"] /\ todo = [b \in Batch |-> {}] /\ reserved = [b \in Batch |-> 0]
  /\ fate = [b \in Batch |-> [c \in Consumer |-> "none"]] /\ limit = [b \in Batch |-> 0]
  /\ awake = [b \in Batch |-> "no"]
  /\ turn = [c \in Consumer |-> "take"] /\ control = [c \in Consumer |-> "rest"] /\ resizes = 0

B(b, from, to) == call[b] = from /\ call' = [call EXCEPT ![b] = to]
C(c, from, to) == turn[c] = from /\ turn' = [turn EXCEPT ![c] = to]
Now(b) == CHOOSE c \in todo[b] : TRUE        \* the order of attachment
Next1(b) == IF Cardinality(todo[b]) = 1 THEN "end" ELSE "offer"

(* A permit goes to whoever is registered longest, or is stored. *)
One(c) ==
  IF line[c] = <<>> THEN permit' = [permit EXCEPT ![c] = TRUE] /\ UNCHANGED <<line, awake>>
  ELSE /\ awake' = [awake EXCEPT ![Head(line[c])] = "one"] /\ line' = [line EXCEPT ![c] = Tail(@)]
       /\ UNCHANGED permit
All(c) ==
  /\ awake' = [b \in Batch |-> IF \E i \in DOMAIN line[c] : line[c][i] = b THEN "all" ELSE awake[b]]
  /\ line' = [line EXCEPT ![c] = <<>>] /\ UNCHANGED permit

--------------------------------------------------------------------------------------------------------------------
(* Publishing. One snapshot of the list decides whom the batch is offered to and how many shares are reserved. *)

Publish(b) ==
  /\ B(b, "new", IF attached = {} THEN "end" ELSE "offer")
  /\ todo' = [todo EXCEPT ![b] = attached] /\ reserved' = [reserved EXCEPT ![b] = Cardinality(attached)]
  /\ fate' = [fate EXCEPT ![b] = [c \in Consumer |-> IF c \in attached THEN "reserved" ELSE "none"]]
  /\ UNCHANGED <<attached, queueVars, limit, awake, turn, control, resizes>>

(* Looking for a place: the capacity is read, then a place below it is taken in one step, or the queue is closed. *)
ReadCapacity(b) ==
  /\ B(b, "offer", "add") \/ B(b, "again", "addWaiting")
  /\ limit' = [limit EXCEPT ![b] = capacity[Now(b)]]
  /\ UNCHANGED <<attached, queueVars, todo, reserved, fate, awake, turn, control, resizes>>

HasRoom(b) == ~closed[Now(b)] /\ places[Now(b)] < limit[b]

Add(b) ==
  /\ call[b] = "add"
  /\ LET c == Now(b) IN
     IF HasRoom(b) THEN B(b, "add", "link") /\ places' = [places EXCEPT ![c] = @ + 1] /\ UNCHANGED waiting
     ELSE IF closed[c] THEN B(b, "add", "fail") /\ UNCHANGED <<places, waiting>>
     ELSE B(b, "add", "register") /\ waiting' = [waiting EXCEPT ![c] = @ + 1] /\ UNCHANGED places
  /\ UNCHANGED <<attached, capacity, closed, line, permit, items, idle, ready, todo, reserved, fate, limit, awake, turn, control, resizes>>

(* Waiting for a place: waiting is raised, the call registers, then it looks again. *)
Register(b) ==
  /\ B(b, "register", "again")
  /\ LET c == Now(b) IN
     IF permit[c] THEN permit' = [permit EXCEPT ![c] = FALSE] /\ awake' = [awake EXCEPT ![b] = "one"] /\ UNCHANGED line
     ELSE line' = [line EXCEPT ![c] = Append(@, b)] /\ awake' = [awake EXCEPT ![b] = "no"] /\ UNCHANGED permit
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, items, idle, ready, todo, reserved, fate, limit, turn, control, resizes>>

AddWaiting(b) ==
  /\ call[b] = "addWaiting"
  /\ LET c == Now(b) IN
     IF HasRoom(b) THEN B(b, "addWaiting", "drop") /\ places' = [places EXCEPT ![c] = @ + 1]
     ELSE B(b, "addWaiting", IF closed[c] THEN "dropClosed" ELSE "sleep") /\ UNCHANGED places
  /\ UNCHANGED <<attached, capacity, closed, waiting, line, permit, items, idle, ready, todo, reserved, fate, limit, awake, turn, control, resizes>>

(* A registration that is given up passes its permit on. A call may give up at any time when it sleeps: its scope ended. *)
Drop(b) ==
  /\ B(b, "drop", "lowerLink") \/ B(b, "dropClosed", "lowerFail") \/ B(b, "sleep", "lowerFail")
  /\ LET c == Now(b)
         here == {i \in DOMAIN line[c] : line[c][i] = b}
     IN
     IF here # {} THEN line' = [line EXCEPT ![c] = SelectSeq(@, LAMBDA x : x # b)] /\ UNCHANGED <<permit, awake>>
     ELSE IF awake[b] = "one" THEN One(c)
     ELSE UNCHANGED <<line, permit, awake>>
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, items, idle, ready, todo, reserved, fate, limit, turn, control, resizes>>

Wake(b) ==
  /\ awake[b] # "no" /\ B(b, "sleep", "register")
  /\ UNCHANGED <<attached, queueVars, todo, reserved, fate, limit, awake, turn, control, resizes>>

LowerWaiting(b) ==
  /\ B(b, "lowerLink", "link") \/ B(b, "lowerFail", "fail")
  /\ waiting' = [waiting EXCEPT ![Now(b)] = @ - 1] /\ awake' = [awake EXCEPT ![b] = "no"]
  /\ UNCHANGED <<attached, capacity, places, closed, line, permit, items, idle, ready, todo, reserved, fate, limit, turn, control, resizes>>

(* A batch with a place is linked; then the consumer is woken if it is idle. *)
Link(b) ==
  /\ B(b, "link", "wake")
  /\ items' = [items EXCEPT ![Now(b)] = Append(@, b)] /\ fate' = [fate EXCEPT ![b][Now(b)] = "linked"]
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, line, permit, idle, ready, todo, reserved, limit, awake, turn, control, resizes>>

WakeConsumer(b) ==
  /\ B(b, "wake", Next1(b))
  /\ ready' = [ready EXCEPT ![Now(b)] = @ \/ idle[Now(b)]] /\ todo' = [todo EXCEPT ![b] = @ \ {Now(b)}]
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, line, permit, items, idle, reserved, fate, limit, awake, turn, control, resizes>>

Fail(b) ==
  /\ B(b, "fail", Next1(b))
  /\ fate' = [fate EXCEPT ![b][Now(b)] = "failed"] /\ todo' = [todo EXCEPT ![b] = @ \ {Now(b)}]
  /\ UNCHANGED <<attached, queueVars, reserved, limit, awake, turn, control, resizes>>

--------------------------------------------------------------------------------------------------------------------
(* Receiving. The consumer takes the first item, frees its place, and then wakes one waiter. When there is nothing  *)
(* it raises idle and looks again before it sleeps.                                                                *)

Take(c) ==
  /\ items[c] # <<>> /\ (C(c, "take", "free") \/ C(c, "takeIdle", "free"))
  /\ fate' = [fate EXCEPT ![Head(items[c])][c] = "received"] /\ items' = [items EXCEPT ![c] = Tail(@)]
  /\ idle' = [idle EXCEPT ![c] = FALSE]
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, line, permit, ready, call, todo, reserved, limit, awake, control, resizes>>

FreePlace(c) ==
  /\ C(c, "free", "room") /\ places' = [places EXCEPT ![c] = @ - 1]
  /\ UNCHANGED <<attached, capacity, closed, waiting, line, permit, items, idle, ready, callVars, control, resizes>>

WakeOne(c) ==
  /\ C(c, "room", "take")
  /\ IF waiting[c] > 0 THEN One(c) ELSE UNCHANGED <<line, permit, awake>>
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, items, idle, ready, call, todo, reserved, fate, limit, control, resizes>>

RaiseIdle(c) ==
  /\ items[c] = <<>> /\ C(c, "take", "takeIdle") /\ idle' = [idle EXCEPT ![c] = TRUE]
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, line, permit, items, ready, callVars, control, resizes>>

(* Nothing again: the queue is drained when it is closed and nobody has a place, else the consumer sleeps. *)
LookAgain(c) ==
  /\ items[c] = <<>> /\ C(c, "takeIdle", IF closed[c] /\ places[c] = 0 THEN "end" ELSE "sleep")
  /\ UNCHANGED <<attached, queueVars, callVars, control, resizes>>

Woken(c) ==
  /\ ready[c] /\ C(c, "sleep", "take")
  /\ ready' = [ready EXCEPT ![c] = FALSE] /\ idle' = [idle EXCEPT ![c] = FALSE]
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, line, permit, items, callVars, control, resizes>>

--------------------------------------------------------------------------------------------------------------------
(* Removing a consumer: it leaves the list, its queue is closed, and everybody who waits is woken. What has a place *)
(* is still received.                                                                                              *)

R(c, from, to) == control[c] = from /\ control' = [control EXCEPT ![c] = to]

Remove(c) ==
  /\ c \in Stalled /\ R(c, "rest", "close") /\ attached' = attached \ {c}
  /\ UNCHANGED <<queueVars, callVars, turn, resizes>>

Close(c) ==
  /\ R(c, "close", "closeWaiters") /\ closed' = [closed EXCEPT ![c] = TRUE]
  /\ UNCHANGED <<attached, capacity, places, waiting, line, permit, items, idle, ready, callVars, turn, resizes>>

WakeAll(c) ==
  /\ R(c, "closeWaiters", "closeConsumer") \/ R(c, "resized", "rest")
  /\ IF waiting[c] > 0 THEN All(c) ELSE UNCHANGED <<line, permit, awake>>
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, items, idle, ready, call, todo, reserved, fate, limit, turn, resizes>>

CloseConsumer(c) ==
  /\ R(c, "closeConsumer", "removed") /\ ready' = [ready EXCEPT ![c] = @ \/ idle[c]]
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, line, permit, items, idle, callVars, turn, resizes>>

Resize(c) ==
  /\ resizes < Resizes /\ R(c, "rest", "resized") /\ resizes' = resizes + 1
  /\ capacity' = [capacity EXCEPT ![c] = IF @ = Capacity THEN Smallest ELSE Capacity]
  /\ UNCHANGED <<attached, places, closed, waiting, line, permit, items, idle, ready, callVars, turn>>

--------------------------------------------------------------------------------------------------------------------
Publishes(b) ==
  \/ ReadCapacity(b) \/ Add(b) \/ Register(b) \/ AddWaiting(b) \/ (call[b] # "sleep" /\ Drop(b)) \/ Wake(b)
  \/ LowerWaiting(b) \/ Link(b) \/ WakeConsumer(b) \/ Fail(b)
GivesUp(b) == call[b] = "sleep" /\ Drop(b)
Takes(c) == Take(c) \/ RaiseIdle(c)
Receives(c) == FreePlace(c) \/ WakeOne(c) \/ LookAgain(c) \/ Woken(c)
Controls(c) == Close(c) \/ WakeAll(c) \/ CloseConsumer(c)

Next ==
  \/ \E b \in Batch : Publish(b) \/ Publishes(b) \/ GivesUp(b)
  \/ \E c \in Consumer : Takes(c) \/ Receives(c) \/ Controls(c) \/ Remove(c) \/ Resize(c)

(* Calls and consumers go on. A consumer that may stall takes nothing if it does not want to; then it is removed. *)
Fair ==
  /\ \A b \in Batch : WF_vars(Publishes(b))
  /\ \A c \in Consumer : WF_vars(Receives(c)) /\ WF_vars(Controls(c))
  /\ \A c \in Consumer \ Stalled : WF_vars(Takes(c))
  /\ \A c \in Stalled : SF_vars(Remove(c))
Spec == Init /\ [][Next]_vars /\ Fair

--------------------------------------------------------------------------------------------------------------------
TypeOK ==
  /\ attached \subseteq Consumer
  /\ \A c \in Consumer :
       /\ capacity[c] \in {Capacity, Smallest} /\ places[c] \in Nat /\ waiting[c] \in 0..Cardinality(Batch)
       /\ closed[c] \in BOOLEAN /\ permit[c] \in BOOLEAN /\ idle[c] \in BOOLEAN /\ ready[c] \in BOOLEAN
       /\ turn[c] \in {"take", "free", "room", "takeIdle", "sleep", "end"}
       /\ control[c] \in {"rest", "close", "closeWaiters", "closeConsumer", "removed", "resized"}
  /\ \A b \in Batch :
       /\ call[b] \in {"new", "offer", "add", "register", "again", "addWaiting", "sleep", "drop", "dropClosed", "lowerLink",
                       "lowerFail", "link", "wake", "fail", "end"}
       /\ todo[b] \subseteq Consumer /\ awake[b] \in {"no", "one", "all"}
       /\ \A c \in Consumer : fate[b][c] \in {"none", "reserved", "linked", "received", "failed"}
  /\ resizes \in 0..Resizes

HasPlace(c) == {b \in Batch : call[b] \in {"link", "drop", "lowerLink"} /\ Now(b) = c}

(* C6.I1: places taken are items linked, calls between their place and their link, and the consumer between an item *)
(* and its place.                                                                                                   *)
C6I1_PlacesAddUp ==
  \A c \in Consumer : places[c] = Len(items[c]) + Cardinality(HasPlace(c)) + (IF turn[c] = "free" THEN 1 ELSE 0)

(* C6.I2: a place is taken below the capacity of that moment, so never beyond the largest one. *)
C6I2_Bounded == \A c \in Consumer : places[c] <= Capacity

(* C6.I3: a closed queue gives no place. *)
C6I3_ClosedGivesNoPlace == [][\A c \in Consumer : closed[c] => places'[c] <= places[c]]_vars

(* C6.I4: the shares reserved are as many as the consumers that the batch is offered to. *)
C6I4_SharesEqualTheSnapshot ==
  \A b \in Batch : reserved[b] = Cardinality({c \in Consumer : fate[b][c] # "none"})

(* C6.I5: a reserved share reaches its consumer's queue or fails: when a call has ended, none is left over, and what *)
(* is linked is received or still there.                                                                             *)
C6I5_NothingIsLost ==
  \A b \in Batch, c \in Consumer :
    /\ call[b] = "end" => fate[b][c] # "reserved"
    /\ fate[b][c] = "linked" => turn[c] # "end" /\ \E i \in DOMAIN items[c] : items[c][i] = b

(* C6: no wake-up of a publisher is lost, and removing one consumer stops nobody. *)
C6L1_PublishEnds == \A b \in Batch : (call[b] = "offer") ~> (call[b] = "end")

(* C6: no wake-up of a consumer is lost. *)
C6L2_LinkedIsReceived ==
  \A b \in Batch, c \in Consumer \ Stalled : (fate[b][c] = "linked") ~> (fate[b][c] = "received")
=============================================================================
