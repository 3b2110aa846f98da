------------------------------- MODULE Lease -------------------------------
(* The lease of a role (owner L4): one replica at a time does what all of a *)
(* store needs done once.                                                   *)
(*                                                                          *)
(* A role is a row that names its owner and an epoch. Whoever has it renews *)
(* the claim, which raises the epoch, and believes in it for a time counted *)
(* from before it asked. Whoever wants it watches: a claim that stayed the  *)
(* same for longer than anybody believes is freed. The store shows what it  *)
(* did not sync yet, and a crash takes the newest of that back. A request   *)
(* lands late, or never, and its answer may be lost.                        *)
(*                                                                          *)
(*  Time is what passes, not a number: every age and every rest of a belief *)
(*  moves with Pass. Clocks run at rates within Margin of each other: the   *)
(*  one who watches may count up to Margin too much.                        *)
(*                                                                          *)
(*    idle -Ask-> taking, renewing -Believe-> idle, with a claim            *)
(*      ^              | Unsure, Refused        | Lose                      *)
(*      +--------------+------------------------+                           *)
EXTENDS Integers, Sequences

CONSTANTS
  Replicas,
  Watch,      \* how long a claim must stay the same before it is freed
  Margin,     \* by how much less a holder believes
  MaxFaults,  \* lost answers, refusals, crashes and deaths of one behavior
  MaxLate,    \* how often time passes while an answer is due
  Nobody, None

VARIABLES
  row,     \* the row as the store shows it
  kept,    \* the row that the worst crash would leave
  log,     \* the rows from kept to row, oldest first
  seen,    \* the claims that the row has carried: what is read may be old when it is acted on
  sure,    \* those that were durable
  task,    \* replica -> what it does and believes
  net,     \* the requests under way
  faults,  \* faults so far
  late     \* how often time passed while an answer was due

vars == <<row, kept, log, seen, sure, task, net, faults, late>>

Belief == Watch - Margin

Claim(owner, epoch) == [owner |-> owner, epoch |-> epoch]
ClaimOf(x) == Claim(x.owner, x.epoch)
Grown(c, r) == Claim(r, c.epoch + 1)            \* what a take or a renewal of c by r makes of it

Idle == [at |-> "idle", claim |-> None, left |-> 0, on |-> None, sent |-> 0, got |-> FALSE,
         unsure |-> FALSE, first |-> 0, doubt |-> FALSE, watch |-> None, age |-> 0]

Places == {"idle", "taking", "renewing", "over", "dead"}
Asking == {"taking", "renewing"}
Alive(r) == task[r].at \notin {"over", "dead"}

Request(kind, c, r) == [kind |-> kind, on |-> c, by |-> r, lost |-> FALSE]
Mine(r) == Request(IF task[r].at = "taking" THEN "take" ELSE "renew", task[r].on, r)
Without(r) == net \ {Mine(r)}

Fault == faults < MaxFaults /\ faults' = faults + 1
Least(x, y) == IF x < y THEN x ELSE y
Most(x, y) == IF x > y THEN x ELSE y

Remembered == seen

Init ==
  /\ row = [there |-> FALSE, owner |-> Nobody, epoch |-> 0]
  /\ kept = row
  /\ log = <<row>>
  /\ seen = {ClaimOf(row)}
  /\ sure = {}
  /\ task = [r \in Replicas |-> Idle]
  /\ net = {}
  /\ faults = 0
  /\ late = 0

\* ---- replicas --------------------------------------------------------------

\* It asks for a claim that it saw free, or to renew the one it has. Its belief will count from here.
Ask(r, c) ==
  /\ task[r].at = "idle"
  /\ IF c.owner = Nobody THEN task[r].claim = None /\ c \in seen /\ c.epoch > 0 ELSE c = task[r].claim
  /\ LET at == IF c.owner = Nobody THEN "taking" ELSE "renewing" IN
     /\ task' = [task EXCEPT ![r].at = at, ![r].on = c, ![r].sent = 0, ![r].got = FALSE]
     /\ net' = net \cup {Request(IF at = "taking" THEN "take" ELSE "renew", c, r)}
  /\ UNCHANGED <<row, kept, log, seen, sure, faults, late>>

Settled(r) == [task[r] EXCEPT !.at = "idle", !.on = None, !.sent = 0, !.got = FALSE]

\* The rest of a belief in what was asked for an age ago.
Rest(age) == Most(0, Belief - age)
Durable(c) == c \in sure

Believing(r, c, age) ==
  [Idle EXCEPT !.claim = c, !.left = Rest(age)]

\* The answer came: the claim was granted, and it is durable.
Granted(r, c) ==
  /\ task[r].at \in Asking /\ task[r].got /\ c = Grown(task[r].on, r) /\ Durable(c)
  /\ task' = [task EXCEPT ![r] = Believing(r, c, task[r].sent)]

\* A renewal whose answer was lost has landed. Which of several it was is not known: the first counts.
Found(r, c) ==
  /\ task[r].at = "idle" /\ task[r].claim # None /\ task[r].unsure
  /\ c.owner = r /\ c.epoch > task[r].claim.epoch /\ Durable(c)
  /\ task' = [task EXCEPT ![r] = Believing(r, c, task[r].first)]

Believe(r, c) ==
  /\ Granted(r, c) \/ Found(r, c)
  /\ UNCHANGED <<row, kept, log, seen, sure, net, faults, late>>

\* The answer is lost, or a crash may have taken back what it told. The request may land yet, or not.
TakenBack(r) == LET c == Grown(task[r].on, r) IN task[r].got /\ c \notin sure /\ \A i \in 1..Len(log) : ClaimOf(log[i]) # c

Unsure(r) ==
  /\ task[r].at \in Asking
  /\ IF TakenBack(r) THEN UNCHANGED faults ELSE Fault
  /\ LET held == task[r].claim # None IN
     task' = [task EXCEPT ![r] =
       [Settled(r) EXCEPT !.unsure = held, !.first = IF held /\ ~task[r].unsure THEN task[r].sent ELSE @,
                          !.doubt = @ \/ ~held]]
  /\ \/ net' = Without(r)
     \/ Mine(r) \in net /\ net' = Without(r) \cup {[Mine(r) EXCEPT !.lost = TRUE]}
  /\ UNCHANGED <<row, kept, log, seen, sure, late>>

\* The store refuses: it has done nothing and will do nothing.
Refused(r) ==
  /\ task[r].at \in Asking /\ ~task[r].got
  /\ IF ClaimOf(row) = task[r].on THEN Fault ELSE UNCHANGED faults
  /\ task' = [task EXCEPT ![r] = Settled(r)]
  /\ net' = Without(r)
  /\ UNCHANGED <<row, kept, log, seen, sure, late>>

\* What is durable is past its claim.
Lose(r) ==
  /\ task[r].at = "idle" /\ task[r].claim # None
  /\ \E c \in sure : c.epoch > task[r].claim.epoch
  /\ task' = [task EXCEPT ![r] = [Idle EXCEPT !.doubt = task[r].doubt]]
  /\ UNCHANGED <<row, kept, log, seen, sure, net, faults, late>>

\* A candidate sees a claim that it has not seen before. It is durable: a crash could take another back, and the
\* same claim, granted again, would be younger than its watch.
Look(r, c) ==
  /\ task[r].at = "idle" /\ task[r].claim = None
  /\ c \in seen /\ Durable(c) /\ c.owner \notin {Nobody, r} /\ c # task[r].watch
  /\ task' = [task EXCEPT ![r].watch = c, ![r].age = 0]
  /\ UNCHANGED <<row, kept, log, seen, sure, net, faults, late>>

\* A claim may be freed that is nobody's belief: what came of a lost take, and the claim of somebody who was
\* watched for long enough. The former is durable: a request that lands late could free the same claim granted again.
\* After the end one's own is freed, and an epoch is moved past a take that may land yet.
MayFree(r, c) ==
  \/ /\ task[r].at = "idle" /\ task[r].claim = None
     /\ \/ c.owner = r /\ c \in seen /\ Durable(c)
        \/ c = task[r].watch /\ task[r].age >= Watch - Margin
  \/ /\ task[r].at = "over" /\ c \in seen
     /\ c.owner = r \/ (c.owner = Nobody /\ task[r].doubt)

\* The request may get lost on its way.
Free(r, c) ==
  /\ MayFree(r, c)
  /\ \/ net' = net \cup {Request("free", c, r)} /\ UNCHANGED faults
     \/ net' = net /\ Fault
  /\ UNCHANGED <<row, kept, log, seen, sure, task, late>>

\* It stops, in order: it believes no more before it frees anything.
End(r) ==
  /\ task[r].at = "idle"
  /\ task' = [task EXCEPT ![r] = [Idle EXCEPT !.at = "over", !.doubt = task[r].doubt]]
  /\ UNCHANGED <<row, kept, log, seen, sure, net, faults, late>>

\* It stops for good, wherever it is. What it believed it believes to the end of its time.
Die(r) ==
  /\ Alive(r) /\ Fault
  /\ task' = [task EXCEPT ![r] = [Idle EXCEPT !.at = "dead", !.claim = task[r].claim, !.left = task[r].left]]
  /\ net' = {IF q.by = r THEN [q EXCEPT !.lost = TRUE] ELSE q : q \in net}
  /\ UNCHANGED <<row, kept, log, seen, sure, late>>

\* ---- the store ---------------------------------------------------------------

Show(x) ==
  /\ row' = x
  /\ log' = Append(log, x)
  /\ seen' = Remembered \cup {ClaimOf(x)}
  /\ UNCHANGED <<kept, sure, faults, late>>

\* Whoever finds no row makes one.
Make == ~row.there /\ Show([there |-> TRUE, owner |-> Nobody, epoch |-> row.epoch + 1]) /\ UNCHANGED <<task, net>>

Lands(q) == q \in net /\ ClaimOf(row) = q.on
Moved(q) == [row EXCEPT !.owner = q.by, !.epoch = q.on.epoch + 1]
Told(q) == IF q.lost THEN task' = task ELSE task' = [task EXCEPT ![q.by].got = TRUE]

LandTake(q) ==
  /\ q.kind = "take" /\ Lands(q) /\ row.there
  /\ Show(Moved(q)) /\ Told(q) /\ net' = net \ {q}

LandRenew(q) ==
  /\ q.kind = "renew" /\ Lands(q)
  /\ Show(Moved(q)) /\ Told(q) /\ net' = net \ {q}

LandFree(q) ==
  /\ q.kind = "free" /\ Lands(q)
  /\ Show([row EXCEPT !.owner = Nobody, !.epoch = q.on.epoch + 1]) /\ net' = net \ {q} /\ UNCHANGED task

\* Everything up to the n-th of the log is durable.
Secure(n) == sure' = sure \cup {ClaimOf(log[i]) : i \in 1..n}

Sync(n) ==
  /\ n \in 1..Len(log)
  /\ kept' = log[n] /\ log' = SubSeq(log, n, Len(log)) /\ Secure(n)
  /\ UNCHANGED <<row, seen, task, net, faults, late>>

\* What came after the n-th is gone, and so is what was on its way and nobody waits for.
Crash(n) ==
  /\ n \in 1..Len(log) /\ Fault
  /\ kept' = log[n] /\ row' = log[n] /\ log' = <<log[n]>> /\ Secure(n)
  /\ net' = {q \in net : ~q.lost}
  /\ seen' = Remembered \cup {ClaimOf(log[n])}
  /\ UNCHANGED <<task, late>>

\* ---- time ---------------------------------------------------------------------

\* An answer is due that a replica still waits for.
Due == \E r \in Replicas : task[r].at \in Asking /\ task[r].sent > 0

Older(x, d) ==
  [x EXCEPT !.left = Most(0, @ - d),
            !.sent = IF x.at \in Asking THEN Least(Belief, @ + d) ELSE @,
            !.first = IF x.unsure THEN Least(Belief, @ + d) ELSE @,
            !.age = IF x.watch # None THEN Least(Watch - Margin, @ + d) ELSE @]

Pass(d) ==
  /\ IF Due THEN late < MaxLate /\ late' = late + 1 ELSE UNCHANGED late
  /\ task' = [r \in Replicas |-> Older(task[r], d)]
  /\ UNCHANGED <<row, kept, log, seen, sure, net, faults>>

\* ---- behaviors ------------------------------------------------------------------

Next ==
  \/ \E r \in Replicas :
       \/ \E c \in seen : Ask(r, c) \/ Look(r, c) \/ Free(r, c)
       \/ \E c \in sure : Believe(r, c)
       \/ Unsure(r) \/ Refused(r) \/ Lose(r) \/ End(r) \/ Die(r)
  \/ Make \/ \E q \in net : LandTake(q) \/ LandRenew(q) \/ LandFree(q)
  \/ \E n \in 1..Len(log) : Sync(n) \/ Crash(n)
  \/ Pass(1)

Spec == Init /\ [][Next]_vars

\* Replicas go on with what they see, requests land, the store syncs, and time passes.
Now == ClaimOf(row)
Held(r) == task[r].claim # None
Goes(r) ==
  \/ ~Held(r) /\ Now.owner = Nobody /\ Ask(r, Now)
  \/ Held(r) /\ task[r].left <= 1 /\ Ask(r, task[r].claim)
  \/ (\E c \in sure : Believe(r, c))
  \/ (Refused(r) \/ Unsure(r)) /\ UNCHANGED faults
  \/ Lose(r)
  \/ Look(r, Now)
  \/ Free(r, Now)

Fairness ==
  /\ \A r \in Replicas : WF_vars(Goes(r))
  /\ WF_vars(Make)
  /\ WF_vars(\E q \in net : LandTake(q) \/ LandRenew(q) \/ LandFree(q))
  /\ WF_vars(Sync(Len(log)))
  /\ WF_vars(Pass(1))

FairSpec == Spec /\ Fairness

\* ---- what must hold -----------------------------------------------------------

TypeOK ==
  /\ row.owner \in Replicas \cup {Nobody} /\ row.epoch \in Nat /\ row.there \in BOOLEAN
  /\ log[1] = kept /\ log[Len(log)] = row
  /\ \A r \in Replicas :
       /\ task[r].at \in Places /\ task[r].left \in 0..Belief /\ task[r].sent \in 0..Belief
       /\ task[r].first \in 0..Belief /\ task[r].age \in 0..(Watch - Margin)
       /\ task[r].left > 0 => task[r].claim.owner = r
  /\ \A q \in net : q.kind \in {"take", "renew", "free"} /\ q.by \in Replicas

Believes(r) == task[r].left > 0

\* One replica at a time has the role.
L4I3_OneBeliever == \A p, r \in Replicas : Believes(p) /\ Believes(r) => p = r

\* A lease that ended is not held.
L4I4_EndedIsNotHeld == \A r \in Replicas : task[r].at = "over" => ~Believes(r)

\* Nobody believes what a crash could take back.
L4I5_BeliefIsDurable == \A r \in Replicas : Believes(r) => task[r].claim \in sure

\* The epoch of what is durable rises with every change.
L4I6_EpochRises == [][kept' # kept => kept'.epoch > kept.epoch]_vars

\* As long as somebody wants the role, somebody has it again and again.
L4_RoleComes == []<>((\E r \in Replicas : Believes(r)) \/ (\A r \in Replicas : ~Alive(r)))
=============================================================================
