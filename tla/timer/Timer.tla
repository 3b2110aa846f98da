-------------------------------- MODULE Timer --------------------------------
(* Due timers (owner L10). A wait is open in the store until a step closes   *)
(* it; when it is due it is brought to the lane of its instance, again and   *)
(* again, until the commit of a step has closed it. A commit is visible      *)
(* before it is durable, and a crash may take it back: the wait is open then *)
(* and its timer fires again. Time is what passes: rest moves with Pass.     *)
EXTENDS Integers

CONSTANTS
  Waits,
  MaxDue,    \* the longest time to a due date
  MaxFaults  \* refusals, crashes and closings by somebody else of one behavior

VARIABLES
  open,   \* the waits that the store shows as open
  kept,   \* those that the worst crash would leave open
  rest,   \* wait -> the time until it is due
  at,     \* wait -> whether a lane has its timer
  fired,  \* the waits that a step closed for their timer
  told,   \* those of which the lane has said so
  faults

vars == <<open, kept, rest, at, fired, told, faults>>

Fault == faults < MaxFaults /\ faults' = faults + 1

Init ==
  /\ open = Waits
  /\ kept = open
  /\ rest \in [Waits -> 0..MaxDue]
  /\ at = [t \in Waits |-> "free"]
  /\ fired = {} /\ told = {}
  /\ faults = 0

Due(t) == rest[t] = 0

Offer(t) ==
  /\ at[t] = "free" /\ t \in open /\ Due(t)
  /\ at' = [at EXCEPT ![t] = "offered"]
  /\ UNCHANGED <<open, kept, rest, fired, told, faults>>

\* The step of a timer commits, and closes its wait.
Commit(t) ==
  /\ at[t] = "offered" /\ t \in open
  /\ open' = open \ {t}
  /\ fired' = fired \cup {t}
  /\ UNCHANGED <<kept, rest, at, told, faults>>

\* Somebody else closes the wait.
Close(t) ==
  /\ t \in open /\ Fault
  /\ open' = open \ {t}
  /\ UNCHANGED <<kept, rest, at, fired, told>>

\* The lane replies: the commit is durable.
Fired(t) ==
  /\ at[t] = "offered" /\ t \in fired /\ t \notin kept
  /\ at' = [at EXCEPT ![t] = "free"]
  /\ told' = told \cup {t}
  /\ UNCHANGED <<open, kept, rest, fired, faults>>

Gone(t) ==
  /\ at[t] = "offered" /\ t \notin open
  /\ at' = [at EXCEPT ![t] = "free"]
  /\ UNCHANGED <<open, kept, rest, fired, told, faults>>

\* Not now: the claim is held, or the store fails.
Refused(t) ==
  /\ at[t] = "offered" /\ Fault
  /\ at' = [at EXCEPT ![t] = "free"]
  /\ UNCHANGED <<open, kept, rest, fired, told>>

\* What closed before is durable.
Sync ==
  /\ kept' \in {k \in SUBSET kept : open \subseteq k}
  /\ UNCHANGED <<open, rest, at, fired, told, faults>>

\* The store crashes, and the node with it: some of what was not durable is taken back. Timers start anew.
Crash ==
  /\ Fault
  /\ open' \in {k \in SUBSET kept : open \subseteq k}
  /\ kept' = open'
  /\ fired' = fired \ open'
  /\ at' = [t \in Waits |-> "free"]
  /\ UNCHANGED <<rest, told>>

Pass(d) ==
  /\ rest' = [t \in Waits |-> IF rest[t] > d THEN rest[t] - d ELSE 0]
  /\ UNCHANGED <<open, kept, at, fired, told, faults>>

Next ==
  \/ \E t \in Waits : Offer(t) \/ Commit(t) \/ Close(t) \/ Fired(t) \/ Gone(t) \/ Refused(t)
  \/ Sync \/ Crash \/ Pass(1)

Spec == Init /\ [][Next]_vars

\* Looks are taken, lanes work and reply, the store syncs, time passes.
Fairness ==
  /\ \A t \in Waits : WF_vars(Offer(t)) /\ WF_vars(Commit(t)) /\ WF_vars(Fired(t) \/ Gone(t))
  /\ WF_vars(Sync /\ kept' = open) /\ WF_vars(Pass(1))

FairSpec == Spec /\ Fairness

TypeOK ==
  /\ open \subseteq kept /\ kept \subseteq Waits /\ fired \subseteq Waits /\ told \subseteq Waits
  /\ \A t \in Waits : rest[t] \in 0..MaxDue /\ at[t] \in {"free", "offered"}

\* No timer is brought before it is due.
L10I2_NotEarly == \A t \in Waits : at[t] = "offered" => Due(t)

\* A timer fires once: the step that it caused has closed its wait.
L10I3_Once == fired \cap open = {}

\* A wait leaves the store by the commit of a step, and what a lane says of it is true for good.
L10I4_ToldIsTrue == told \cap kept = {}

\* Each timer fires, unless somebody else closed its wait.
L10_AllFire == \A t \in Waits : <>[](t \notin kept)
=============================================================================
