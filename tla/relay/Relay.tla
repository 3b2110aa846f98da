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
  control,   \* the step of whoever removes each consumer
  sizer,     \* the step of whoever changes the capacity of its queue
  resizes

queueVars == <<capacity, places, closed, waiting, line, permit, items, idle, ready>>
callVars == <<call, todo, reserved, fate, limit, awake>>
vars == <<attached, queueVars, callVars, turn, control, sizer, resizes>>

Init ==
  /\ attached = Consumer
  /\ capacity = [c \in Consumer |-> Capacity] /\ places = [c \in Consumer |-> 0]
  /\ closed = [c \in Consumer |-> FALSE] /\ waiting = [c \in Consumer |-> 0]
  /\ line = [c \in Consumer |-> <<>>] /\ permit = [c \in Consumer |-> FALSE] /\ items = [c \in Consumer |-> <<>>]
  /\ idle = [c \in Consumer |-> FALSE] /\ ready = [c \in Consumer |-> FALSE]
  /\ call = [b \in Batch |-> "new"] /\ todo = [b \in Batch |-> {}] /\ reserved = [b \in Batch |-> 0]
  /\ fate = [b \in Batch |-> [c \in Consumer |-> "none"]] /\ limit = [b \in Batch |-> 0]
  /\ awake = [b \in Batch |-> "no"]
  /\ turn = [c \in Consumer |-> "take"] /\ control = [c \in Consumer |-> "rest"]
  /\ sizer = [c \in Consumer |-> "rest"] /\ resizes = 0

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
  /\ UNCHANGED <<attached, queueVars, limit, awake, turn, control, sizer, resizes>>

(* Looking for a place: the capacity is read, then a place below it is taken in one step; if there was none, the call   *)
(* reads whether the queue is closed.                                                                                  *)
ReadCapacity(b) ==
  /\ B(b, "offer", "add") \/ B(b, "again", "addWaiting")
  /\ limit' = [limit EXCEPT ![b] = capacity[Now(b)]]
  /\ UNCHANGED <<attached, queueVars, todo, reserved, fate, awake, turn, control, sizer, resizes>>

HasRoom(b) == ~closed[Now(b)] /\ places[Now(b)] < limit[b]

Add(b) ==
  /\ call[b] \in {"add", "addWaiting"} /\ HasRoom(b) /\ (B(b, "add", "swap") \/ B(b, "addWaiting", "drop"))
  /\ places' = [places EXCEPT ![Now(b)] = @ + 1]
  /\ UNCHANGED <<attached, capacity, closed, waiting, line, permit, items, idle, ready, todo, reserved, fate, limit, awake, turn, control, sizer, resizes>>

NoRoom(b) ==
  /\ call[b] \in {"add", "addWaiting"} /\ ~HasRoom(b) /\ (B(b, "add", "refused") \/ B(b, "addWaiting", "refusedWaiting"))
  /\ UNCHANGED <<attached, queueVars, todo, reserved, fate, limit, awake, turn, control, sizer, resizes>>

ReadClosed(b) ==
  /\ \/ B(b, "refused", IF closed[Now(b)] THEN "fail" ELSE "raise")
     \/ B(b, "refusedWaiting", IF closed[Now(b)] THEN "dropClosed" ELSE "sleep")
  /\ UNCHANGED <<attached, queueVars, todo, reserved, fate, limit, awake, turn, control, sizer, resizes>>

(* Waiting for a place: waiting is raised, the call registers, then it looks again. *)
RaiseWaiting(b) ==
  /\ B(b, "raise", "register") /\ waiting' = [waiting EXCEPT ![Now(b)] = @ + 1]
  /\ UNCHANGED <<attached, capacity, places, closed, line, permit, items, idle, ready, todo, reserved, fate, limit, awake, turn, control, sizer, resizes>>

Register(b) ==
  /\ B(b, "register", "again")
  /\ LET c == Now(b) IN
     IF permit[c] THEN permit' = [permit EXCEPT ![c] = FALSE] /\ awake' = [awake EXCEPT ![b] = "one"] /\ UNCHANGED line
     ELSE line' = [line EXCEPT ![c] = Append(@, b)] /\ awake' = [awake EXCEPT ![b] = "no"] /\ UNCHANGED permit
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, items, idle, ready, todo, reserved, fate, limit, turn, control, sizer, resizes>>

(* A registration that is given up passes its permit on. A call may give up at any time when it sleeps: its scope ended. *)
Drop(b) ==
  /\ B(b, "drop", "lowerLink") \/ B(b, "dropClosed", "lowerFail") \/ B(b, "sleep", "lowerFail")
  /\ LET c == Now(b)
         here == {i \in DOMAIN line[c] : line[c][i] = b}
     IN
     IF here # {} THEN line' = [line EXCEPT ![c] = SelectSeq(@, LAMBDA x : x # b)] /\ UNCHANGED <<permit, awake>>
     ELSE IF awake[b] = "one" THEN One(c)
     ELSE UNCHANGED <<line, permit, awake>>
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, items, idle, ready, todo, reserved, fate, limit, turn, control, sizer, resizes>>

Wake(b) ==
  /\ awake[b] # "no" /\ B(b, "sleep", "register")
  /\ UNCHANGED <<attached, queueVars, todo, reserved, fate, limit, awake, turn, control, sizer, resizes>>

LowerWaiting(b) ==
  /\ B(b, "lowerLink", "swap") \/ B(b, "lowerFail", "fail")
  /\ waiting' = [waiting EXCEPT ![Now(b)] = @ - 1] /\ awake' = [awake EXCEPT ![b] = "no"]
  /\ UNCHANGED <<attached, capacity, places, closed, line, permit, items, idle, ready, todo, reserved, fate, limit, turn, control, sizer, resizes>>

(* A batch with a place joins the list in one step and can be seen from it in the next: until then it also hides what  *)
(* comes after it. Then the consumer is woken if it is idle.                                                          *)
Swap(b) ==
  /\ B(b, "swap", "link") /\ items' = [items EXCEPT ![Now(b)] = Append(@, b)]
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, line, permit, idle, ready, todo, reserved, fate, limit, awake, turn, control, sizer, resizes>>

Link(b) ==
  /\ B(b, "link", "wake") /\ fate' = [fate EXCEPT ![b][Now(b)] = "linked"]
  /\ UNCHANGED <<attached, queueVars, todo, reserved, limit, awake, turn, control, sizer, resizes>>

ReadIdle(b) ==
  /\ call[b] = "wake" /\ call' = [call EXCEPT ![b] = IF idle[Now(b)] THEN "send" ELSE Next1(b)]
  /\ todo' = [todo EXCEPT ![b] = IF idle[Now(b)] THEN @ ELSE @ \ {Now(b)}]
  /\ UNCHANGED <<attached, queueVars, reserved, fate, limit, awake, turn, control, sizer, resizes>>

WakeConsumer(b) ==
  /\ B(b, "send", Next1(b)) /\ ready' = [ready EXCEPT ![Now(b)] = TRUE] /\ todo' = [todo EXCEPT ![b] = @ \ {Now(b)}]
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, line, permit, items, idle, reserved, fate, limit, awake, turn, control, sizer, resizes>>

Fail(b) ==
  /\ B(b, "fail", Next1(b))
  /\ fate' = [fate EXCEPT ![b][Now(b)] = "failed"] /\ todo' = [todo EXCEPT ![b] = @ \ {Now(b)}]
  /\ UNCHANGED <<attached, queueVars, reserved, limit, awake, turn, control, sizer, resizes>>

--------------------------------------------------------------------------------------------------------------------
(* Receiving. The consumer takes the first item, frees its place, and then wakes one waiter if there are any. When     *)
(* there is nothing it raises idle and looks again before it sleeps.                                                   *)

Visible(c) == items[c] # <<>> /\ fate[Head(items[c])][c] = "linked"
Idles(c, to) == IF idle[c] THEN "lower" ELSE to

Take(c) ==
  /\ Visible(c) /\ (C(c, "take", "free") \/ C(c, "takeIdle", "free"))
  /\ fate' = [fate EXCEPT ![Head(items[c])][c] = "received"] /\ items' = [items EXCEPT ![c] = Tail(@)]
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, line, permit, idle, ready, call, todo, reserved, limit, awake, control, sizer, resizes>>

FreePlace(c) ==
  /\ C(c, "free", "room") /\ places' = [places EXCEPT ![c] = @ - 1]
  /\ UNCHANGED <<attached, capacity, closed, waiting, line, permit, items, idle, ready, callVars, control, sizer, resizes>>

ReadWaiting(c) ==
  /\ C(c, "room", IF waiting[c] > 0 THEN "one" ELSE Idles(c, "take"))
  /\ UNCHANGED <<attached, queueVars, callVars, control, sizer, resizes>>

WakeOne(c) ==
  /\ C(c, "one", Idles(c, "take")) /\ One(c)
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, items, idle, ready, call, todo, reserved, fate, limit, control, sizer, resizes>>

Look(c) == ~Visible(c) /\ C(c, "take", "raise") /\ UNCHANGED <<attached, queueVars, callVars, control, sizer, resizes>>

RaiseIdle(c) ==
  /\ C(c, "raise", "takeIdle") /\ idle' = [idle EXCEPT ![c] = TRUE]
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, line, permit, items, ready, callVars, control, sizer, resizes>>

(* Nothing again: the queue is drained when it is closed and nobody has a place, else the consumer sleeps, until it is  *)
(* woken or has waited long enough.                                                                                    *)
LookAgain(c) == ~Visible(c) /\ C(c, "takeIdle", "drained") /\ UNCHANGED <<attached, queueVars, callVars, control, sizer, resizes>>

ReadDrained(c) ==
  /\ C(c, "drained", IF closed[c] /\ places[c] = 0 THEN "ended" ELSE "sleep")
  /\ UNCHANGED <<attached, queueVars, callVars, control, sizer, resizes>>

Woken(c) ==
  /\ ready[c] /\ C(c, "sleep", "lower") /\ ready' = [ready EXCEPT ![c] = FALSE]
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, line, permit, items, idle, callVars, control, sizer, resizes>>

StopSleeping(c) == C(c, "sleep", "lower") /\ UNCHANGED <<attached, queueVars, callVars, control, sizer, resizes>>

LowerIdle(c) ==
  /\ C(c, "lower", "take") \/ C(c, "ended", "end")
  /\ idle' = [idle EXCEPT ![c] = FALSE]
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, line, permit, items, ready, callVars, control, sizer, resizes>>

--------------------------------------------------------------------------------------------------------------------
(* Removing a consumer: it leaves the list, its queue is closed, and everybody who waits is woken. What has a place *)
(* is still received.                                                                                              *)

R(c, from, to) == control[c] = from /\ control' = [control EXCEPT ![c] = to]

Remove(c) ==
  /\ c \in Stalled /\ R(c, "rest", "close") /\ attached' = attached \ {c}
  /\ UNCHANGED <<queueVars, callVars, turn, sizer, resizes>>

CloseFrom(c, from) ==
  /\ R(c, from, "closeWaiters") /\ closed' = [closed EXCEPT ![c] = TRUE]
  /\ UNCHANGED <<attached, capacity, places, waiting, line, permit, items, idle, ready, callVars, turn, sizer, resizes>>
Close(c) == CloseFrom(c, "close")

CloseReadsWaiting(c) ==
  /\ R(c, "closeWaiters", IF waiting[c] > 0 THEN "closeAll" ELSE "closeConsumer")
  /\ UNCHANGED <<attached, queueVars, callVars, turn, sizer, resizes>>

CloseWakesAll(c) ==
  /\ R(c, "closeAll", "closeConsumer") /\ All(c)
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, items, idle, ready, call, todo, reserved, fate, limit, turn, sizer, resizes>>

CloseReadsIdle(c) ==
  /\ R(c, "closeConsumer", IF idle[c] THEN "closeSend" ELSE "removed")
  /\ UNCHANGED <<attached, queueVars, callVars, turn, sizer, resizes>>

CloseWakesConsumer(c) ==
  /\ R(c, "closeSend", "removed") /\ ready' = [ready EXCEPT ![c] = TRUE]
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, line, permit, items, idle, callVars, turn, sizer, resizes>>

(* Another capacity: it is stored, then everybody who waits is woken. *)

S(c, from, to) == sizer[c] = from /\ sizer' = [sizer EXCEPT ![c] = to]

ResizeTo(c, n) ==
  /\ S(c, "rest", "resized") /\ capacity' = [capacity EXCEPT ![c] = n] /\ resizes' = resizes + 1
  /\ UNCHANGED <<attached, places, closed, waiting, line, permit, items, idle, ready, callVars, turn, control>>
Resize(c) == resizes < Resizes /\ ResizeTo(c, IF capacity[c] = Capacity THEN Smallest ELSE Capacity)

ResizeReadsWaiting(c) ==
  /\ S(c, "resized", IF waiting[c] > 0 THEN "resizeAll" ELSE "rest")
  /\ UNCHANGED <<attached, queueVars, callVars, turn, control, resizes>>

ResizeWakesAll(c) ==
  /\ S(c, "resizeAll", "rest") /\ All(c)
  /\ UNCHANGED <<attached, capacity, places, closed, waiting, items, idle, ready, call, todo, reserved, fate, limit, turn, control, resizes>>

--------------------------------------------------------------------------------------------------------------------
Publishes(b) ==
  \/ ReadCapacity(b) \/ Add(b) \/ NoRoom(b) \/ ReadClosed(b) \/ RaiseWaiting(b) \/ Register(b)
  \/ (call[b] # "sleep" /\ Drop(b)) \/ Wake(b) \/ LowerWaiting(b)
  \/ Swap(b) \/ Link(b) \/ ReadIdle(b) \/ WakeConsumer(b) \/ Fail(b)
GivesUp(b) == call[b] = "sleep" /\ Drop(b)
Takes(c) == Take(c) \/ Look(c)
Receives(c) ==
  FreePlace(c) \/ ReadWaiting(c) \/ WakeOne(c) \/ RaiseIdle(c) \/ LookAgain(c) \/ ReadDrained(c) \/ Woken(c) \/ LowerIdle(c)
Controls(c) ==
  \/ Close(c) \/ CloseReadsWaiting(c) \/ CloseWakesAll(c) \/ CloseReadsIdle(c) \/ CloseWakesConsumer(c)
  \/ ResizeReadsWaiting(c) \/ ResizeWakesAll(c)

Next ==
  \/ \E b \in Batch : Publish(b) \/ Publishes(b) \/ GivesUp(b)
  \/ \E c \in Consumer : Takes(c) \/ Receives(c) \/ Controls(c) \/ StopSleeping(c) \/ Remove(c) \/ Resize(c)

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
       /\ turn[c] \in {"take", "free", "room", "one", "raise", "takeIdle", "drained", "sleep", "lower", "ended", "end"}
       /\ control[c] \in {"rest", "close", "closeWaiters", "closeAll", "closeConsumer", "closeSend", "removed"}
       /\ sizer[c] \in {"rest", "resized", "resizeAll"}
  /\ \A b \in Batch :
       /\ call[b] \in {"new", "offer", "add", "refused", "raise", "register", "again", "addWaiting", "refusedWaiting", "sleep",
                       "drop", "dropClosed", "lowerLink", "lowerFail", "swap", "link", "wake", "send", "fail", "end"}
       /\ todo[b] \subseteq Consumer /\ awake[b] \in {"no", "one", "all"}
       /\ \A c \in Consumer : fate[b][c] \in {"none", "reserved", "linked", "received", "failed"}
  /\ resizes \in Nat

HasPlace(c) == {b \in Batch : call[b] \in {"drop", "lowerLink", "swap"} /\ Now(b) = c}

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
    /\ fate[b][c] = "linked" => turn[c] \notin {"ended", "end"} /\ \E i \in DOMAIN items[c] : items[c][i] = b

(* C6: no wake-up of a publisher is lost, and removing one consumer stops nobody. *)
C6L1_PublishEnds == \A b \in Batch : (call[b] = "offer") ~> (call[b] = "end")

(* C6: no wake-up of a consumer is lost. *)
C6L2_LinkedIsReceived ==
  \A b \in Batch, c \in Consumer \ Stalled : (fate[b][c] = "linked") ~> (fate[b][c] = "received")
=============================================================================
