-------------------------------- MODULE Step --------------------------------
(* The step transaction whose outcome is lost (owner L6). One instance row  *)
(* (owner, epoch); a step is (owner p, epoch e, cause c). What was sent may *)
(* land at any later time, be refused there, or vanish. A step that commits *)
(* writes a durable record of itself, frees the row, and is refused when    *)
(* its cause is recorded already (the inbox key). An owner that learned     *)
(* nothing decides in rounds: fence its own step by moving the epoch past   *)
(* it, read the row, read the record.                                       *)
EXTENDS Naturals, FiniteSets

CONSTANTS Owners, Causes, MaxEpoch, MaxSweeps, Nobody, None

VARIABLES
  row,       \* owner, epoch, and whether the row was collected
  records,   \* of the steps that committed; they outlive the row
  net,       \* steps and fences under way
  at,        \* owner -> where it is
  my,        \* owner -> its step
  held,      \* owner -> whether its first read showed the row under its claim
  verdicts,  \* what owners were told
  acked,     \* causes that were acknowledged
  sweeps

vars == <<row, records, net, at, my, held, verdicts, acked, sweeps>>

NoStep == [p |-> None, e |-> 0, c |-> None]
Steps == [p : Owners, e : 1..MaxEpoch, c : Causes]

Init ==
  /\ row = [owner |-> Nobody, epoch |-> 0, gone |-> FALSE]
  /\ records = {} /\ net = {}
  /\ at = [p \in Owners |-> "idle"]
  /\ my = [p \in Owners |-> NoStep]
  /\ held = [p \in Owners |-> FALSE]
  /\ verdicts = {} /\ acked = {}
  /\ sweeps = MaxSweeps

Seen(c) == \E r \in records : r.c = c
Holds(t) == row.owner = t.p /\ row.epoch = t.e /\ ~row.gone

\* A delivery that was seen is answered from its record; for another one the claim is taken.
Claim(p) ==
  /\ at[p] = "idle" /\ row.owner = Nobody /\ ~row.gone /\ row.epoch < MaxEpoch
  /\ \E c \in Causes \ acked :
       IF Seen(c) THEN acked' = acked \cup {c} /\ UNCHANGED <<row, my, at>>
       ELSE /\ row' = [row EXCEPT !.owner = p, !.epoch = @ + 1]
            /\ my' = [my EXCEPT ![p] = [p |-> p, e |-> row.epoch + 1, c |-> c]]
            /\ at' = [at EXCEPT ![p] = "claimed"]
            /\ UNCHANGED acked
  /\ UNCHANGED <<records, net, held, verdicts, sweeps>>

Send(p) ==
  /\ at[p] = "claimed"
  /\ net' = net \cup {[kind |-> "step", t |-> my[p]]}
  /\ at' = [at EXCEPT ![p] = "sent"]
  /\ UNCHANGED <<row, records, my, held, verdicts, acked, sweeps>>

LandStep(t) ==
  IF Holds(t) /\ ~Seen(t.c)
  THEN records' = records \cup {t} /\ row' = [row EXCEPT !.owner = Nobody, !.epoch = @ + 1]
  ELSE UNCHANGED <<row, records>>

LandFence(t) ==
  /\ row' = IF Holds(t) THEN [row EXCEPT !.owner = Nobody, !.epoch = @ + 1] ELSE row
  /\ UNCHANGED records

Land(x) ==
  /\ x \in net /\ net' = net \ {x}
  /\ IF x.kind = "fence" THEN LandFence(x.t) ELSE LandStep(x.t)
  /\ UNCHANGED <<at, my, held, verdicts, acked, sweeps>>

Vanish(x) ==
  /\ x \in net /\ net' = net \ {x}
  /\ UNCHANGED <<row, records, at, my, held, verdicts, acked, sweeps>>

Decide(p, v) ==
  /\ verdicts' = verdicts \cup {[t |-> my[p], v |-> v]}
  /\ acked' = IF v = "committed" THEN acked \cup {my[p].c} ELSE acked
  /\ at' = [at EXCEPT ![p] = "idle"]
  /\ my' = [my EXCEPT ![p] = NoStep]

Answer(p) ==
  /\ at[p] = "sent" /\ my[p] \in records
  /\ Decide(p, "committed")
  /\ UNCHANGED <<row, records, net, held, sweeps>>

\* The store refuses the step, for good.
Refuse(p) ==
  LET x == [kind |-> "step", t |-> my[p]] IN
  /\ at[p] = "sent" /\ x \in net /\ net' = net \ {x}
  /\ Decide(p, "failed")
  /\ UNCHANGED <<row, records, held, sweeps>>

\* A claim may be given up before anything is sent; the row is freed by Sweep.
Abandon(p) ==
  /\ at[p] = "claimed"
  /\ at' = [at EXCEPT ![p] = "idle"]
  /\ my' = [my EXCEPT ![p] = NoStep]
  /\ UNCHANGED <<row, records, net, held, verdicts, acked, sweeps>>

\* Nothing is known of the step any more.
Lose(p) ==
  /\ at[p] = "sent"
  /\ at' = [at EXCEPT ![p] = "fence"]
  /\ UNCHANGED <<row, records, net, my, held, verdicts, acked, sweeps>>

\* The fence takes effect, is lost, or stays under way: its own outcome does not matter.
Fence(p) ==
  /\ at[p] = "fence"
  /\ at' = [at EXCEPT ![p] = "row"]
  /\ \/ LandFence(my[p]) /\ UNCHANGED net
     \/ UNCHANGED <<row, records, net>>
     \/ net' = net \cup {[kind |-> "fence", t |-> my[p]]} /\ UNCHANGED <<row, records>>
  /\ UNCHANGED <<my, held, verdicts, acked, sweeps>>

ReadRow(p) ==
  /\ at[p] = "row"
  /\ held' = [held EXCEPT ![p] = Holds(my[p])]
  /\ at' = [at EXCEPT ![p] = "record"]
  /\ UNCHANGED <<row, records, net, my, verdicts, acked, sweeps>>

ReadRecord(p) ==
  /\ at[p] = "record"
  /\ IF my[p] \in records THEN Decide(p, "committed")
     ELSE IF ~held[p] THEN Decide(p, "failed")
     ELSE at' = [at EXCEPT ![p] = "fence"] /\ UNCHANGED <<my, verdicts, acked>>
  /\ UNCHANGED <<row, records, net, held, sweeps>>

\* A read that fails begins the round again.
Retry(p) ==
  /\ at[p] \in {"row", "record"}
  /\ at' = [at EXCEPT ![p] = "fence"]
  /\ UNCHANGED <<row, records, net, my, held, verdicts, acked, sweeps>>

Sweep ==
  /\ row.owner # Nobody /\ sweeps > 0
  /\ sweeps' = sweeps - 1
  /\ row' = [row EXCEPT !.owner = Nobody, !.epoch = @ + 1]
  /\ UNCHANGED <<records, net, at, my, held, verdicts, acked>>

\* A completed instance is cleaned away; its records stay.
Collect ==
  /\ ~row.gone /\ row.owner = Nobody /\ records # {}
  /\ row' = [row EXCEPT !.gone = TRUE]
  /\ records' = records
  /\ UNCHANGED <<net, at, my, held, verdicts, acked, sweeps>>

Next ==
  \/ \E p \in Owners : Claim(p) \/ Send(p) \/ Answer(p) \/ Lose(p) \/ Fence(p) \/ ReadRow(p) \/ ReadRecord(p)
  \/ \E p \in Owners : Refuse(p) \/ Abandon(p) \/ Retry(p)
  \/ \E x \in net : Land(x) \/ Vanish(x)
  \/ Sweep \/ Collect

Spec == Init /\ [][Next]_vars

\* Owners go on, and a fence or read that is tried again and again succeeds at last.
FairSpec ==
  /\ Spec
  /\ \A p \in Owners :
       /\ WF_vars(Send(p)) /\ WF_vars(Lose(p)) /\ SF_vars(ReadRow(p)) /\ SF_vars(ReadRecord(p)) /\ WF_vars(Fence(p))
       /\ SF_vars(Fence(p) /\ LandFence(my[p]))

TypeOK ==
  /\ row.owner \in Owners \cup {Nobody} /\ row.epoch \in 0..(2 * MaxEpoch) /\ row.gone \in BOOLEAN
  /\ records \subseteq Steps
  /\ \A p \in Owners : at[p] \in {"idle", "claimed", "sent", "fence", "row", "record"} /\ my[p] \in Steps \cup {NoStep}

\* "committed" is answered only for a step that took effect, "failed" only for one that never will.
L6D1_CommittedIsTrue == \A v \in verdicts : v.v = "committed" => v.t \in records
L6D2_FailedIsTrue == \A v \in verdicts : v.v = "failed" => v.t \notin records
\* What was acknowledged took effect, and a delivery takes effect once (L7).
L7I1_AckedIsDone == \A c \in acked : Seen(c)
L7I2_AtMostOnce == \A a, b \in records : a.c = b.c => a = b
\* A step whose outcome is lost is decided in the end.
L6_Decided == \A p \in Owners : (at[p] = "fence") ~> (at[p] = "idle")
=============================================================================
