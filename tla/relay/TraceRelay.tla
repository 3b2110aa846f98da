----------------------------- MODULE TraceRelay -----------------------------
(* The queue of one consumer as executions of the code are checked against Relay: a batch is one call of Push. Who is *)
(* registered for room, stored permits and what is linked are hidden; the actions determine them.                     *)
EXTENDS Relay

K == "c"
TraceInit ==
  /\ attached = Consumer
  /\ capacity \in [Consumer -> Nat] /\ places = [c \in Consumer |-> 0]
  /\ closed = [c \in Consumer |-> FALSE] /\ waiting = [c \in Consumer |-> 0]
  /\ line = [c \in Consumer |-> <<>>] /\ permit = [c \in Consumer |-> FALSE] /\ items = [c \in Consumer |-> <<>>]
  /\ idle = [c \in Consumer |-> FALSE] /\ ready = [c \in Consumer |-> FALSE]
  /\ call = [b \in Batch |-> "new"] /\ todo = [b \in Batch |-> {}] /\ reserved = [b \in Batch |-> 0]
  /\ fate = [b \in Batch |-> [c \in Consumer |-> "none"]] /\ limit = [b \in Batch |-> 0]
  /\ awake = [b \in Batch |-> "no"]
  /\ turn = [c \in Consumer |-> "take"] /\ control = [c \in Consumer |-> "rest"] /\ sizer = [c \in Consumer |-> "rest"]
  /\ resizes = 0

TracePublish(b) == Publish(b)
TraceReadCapacity(b) == ReadCapacity(b)
TraceAdd(b) == Add(b)
TraceNoRoom(b) == NoRoom(b)
TraceReadClosed(b) == ReadClosed(b)
TraceRaiseWaiting(b) == RaiseWaiting(b)
TraceRegister(b) == Register(b)
TraceDrop(b) == Drop(b)
TraceWake(b) == Wake(b)
TraceLowerWaiting(b) == LowerWaiting(b)
TraceSwap(b) == Swap(b)
TraceLink(b) == Link(b)
TraceReadIdle(b) == ReadIdle(b)
TraceWakeConsumer(b) == WakeConsumer(b)

TraceTake == Take(K)
TraceFreePlace == FreePlace(K)
TraceReadWaiting == ReadWaiting(K)
TraceWakeOne == WakeOne(K)
(* Who has been told that the queue is drained may ask again. *)
TraceLook ==
  \/ Look(K)
  \/ ~Visible(K) /\ C(K, "end", "raise") /\ UNCHANGED <<attached, queueVars, callVars, control, sizer, resizes>>
TraceRaiseIdle == RaiseIdle(K)
TraceLookAgain == LookAgain(K)
TraceReadDrained == ReadDrained(K)
TraceWoken == Woken(K)
TraceStopSleeping == StopSleeping(K)
TraceLowerIdle == LowerIdle(K)

(* A queue may be closed by itself, without its consumer's leaving a relay. *)
TraceClose == CloseFrom(K, "rest")
TraceCloseReadsWaiting == CloseReadsWaiting(K)
TraceCloseWakesAll == CloseWakesAll(K)
TraceCloseReadsIdle == CloseReadsIdle(K)
TraceCloseWakesConsumer == CloseWakesConsumer(K)
TraceResize(n) == ResizeTo(K, n)
TraceResizeReadsWaiting == ResizeReadsWaiting(K)
TraceResizeWakesAll == ResizeWakesAll(K)

(* The graph whose edges the sequences cover. Calls of Push come in the order of their numbers. Of what reads a word,  *)
(* the move says what it finds: one event of the code is two of them.                                                  *)
SequencePublish(b) == (\A d \in Batch : d < b <=> call[d] # "new") /\ Publish(b)
SequenceReadCapacity(b) == ReadCapacity(b)
SequenceAdd(b) == Add(b)
SequenceNoRoom(b) == NoRoom(b)
SequenceReadClosed(b, found) == closed[K] = found /\ ReadClosed(b)
SequenceRaiseWaiting(b) == RaiseWaiting(b)
SequenceRegister(b) == Register(b)
SequenceDrop(b, slept) == (call[b] = "sleep") = slept /\ Drop(b)
SequenceWake(b) == Wake(b)
SequenceLowerWaiting(b) == LowerWaiting(b)
SequenceSwap(b) == Swap(b)
SequenceLink(b) == Link(b)
SequenceReadIdle(b, found) == idle[K] = found /\ ReadIdle(b)
SequenceWakeConsumer(b) == WakeConsumer(b)

SequenceTake == Take(K)
SequenceFreePlace == FreePlace(K)
SequenceReadWaiting(found) == (waiting[K] > 0) = found /\ ReadWaiting(K)
SequenceWakeOne == WakeOne(K)
SequenceLook == TraceLook
SequenceRaiseIdle == RaiseIdle(K)
SequenceLookAgain == LookAgain(K)
SequenceReadDrained(found) == (closed[K] /\ places[K] = 0) = found /\ ReadDrained(K)
SequenceWoken == Woken(K)
SequenceStopSleeping == StopSleeping(K)
SequenceLowerIdle == LowerIdle(K)
SequenceClose == TraceClose
SequenceCloseReadsWaiting(found) == (waiting[K] > 0) = found /\ CloseReadsWaiting(K)
SequenceCloseWakesAll(n) == Len(line[K]) = n /\ CloseWakesAll(K)
SequenceCloseReadsIdle(found) == idle[K] = found /\ CloseReadsIdle(K)
SequenceCloseWakesConsumer == CloseWakesConsumer(K)
SequenceResize(n) == n # capacity[K] /\ resizes < Resizes /\ ResizeTo(K, n)
SequenceResizeReadsWaiting(found) == (waiting[K] > 0) = found /\ ResizeReadsWaiting(K)
SequenceResizeWakesAll(n) == Len(line[K]) = n /\ ResizeWakesAll(K)
=============================================================================
