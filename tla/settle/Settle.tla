------------------------------- MODULE Settle -------------------------------
(* Deferred settlement (owner L5) over two replicas that share one store.   *)
(* Each message spawns one instance. An attempt is one delivery of it by    *)
(* its transport to one replica. It ends settled: "pos" for good, "neg" or, *)
(* when its replica died, "lost"; the transport then delivers again. The    *)
(* registry of open attempts lives in the memory of the replica that holds  *)
(* them. Whoever takes an entry out of it settles, once.                    *)
(*                                                                          *)
(*   register (pending) -> commit -> arm -> told "deferred" -> taken        *)
EXTENDS Naturals, FiniteSets

CONSTANTS Replicas, Lanes, Messages, MaxAttempts, Capacity, MaxCrashes, MaxTimeouts, MaxFailures, None

VARIABLES
  db,       \* message -> what the store says of its instance
  sent,     \* message -> attempts so far
  att,      \* attempt -> its state, its replica, how often it was settled
  reg,      \* replica -> entries of its registry
  lane,     \* lane -> what it is doing; a replica has one here
  told,     \* attempts whose transport was told that the answer comes later
  budget

vars == <<db, sent, att, reg, lane, told, budget>>

Attempts == Messages \X (1..MaxAttempts)
Idle == [at |-> "idle", a |-> <<None, 0>>]

Init ==
  /\ db = [m \in Messages |-> "absent"]
  /\ sent = [m \in Messages |-> 0]
  /\ att = [a \in Attempts |-> [st |-> "none", r |-> None, settled |-> 0]]
  /\ reg = [r \in Replicas |-> {}]
  /\ lane = [l \in Lanes |-> Idle]
  /\ told = {}
  /\ budget = [crash |-> MaxCrashes, timeout |-> MaxTimeouts, fail |-> MaxFailures]

Home(l) == l   \* the replica of a lane

Settle(f, a, v) == [f EXCEPT ![a].st = IF @ = "held" THEN v ELSE @, ![a].settled = @ + 1]
To(l, at) == lane' = [lane EXCEPT ![l].at = at]
Done(l) == lane' = [lane EXCEPT ![l] = Idle]
Entries(r, a) == {e \in reg[r] : e.a = a}
Without(r, a) == [reg EXCEPT ![r] = @ \ Entries(r, a)]
Open(m) == \A k \in 1..MaxAttempts : att[<<m, k>>].st # "pos"

\* The transport delivers; also while an older attempt is still held.
Bring(l, m) ==
  /\ lane[l].at = "idle" /\ sent[m] < MaxAttempts
  /\ sent' = [sent EXCEPT ![m] = @ + 1]
  /\ att' = [att EXCEPT ![<<m, sent[m] + 1>>] = [st |-> "held", r |-> Home(l), settled |-> 0]]
  /\ lane' = [lane EXCEPT ![l] = [at |-> "register", a |-> <<m, sent[m] + 1>>]]
  /\ UNCHANGED <<db, reg, told, budget>>
Deliver(l, m) ==
  /\ Open(m)
  /\ IF sent[m] = 0 THEN TRUE ELSE att[<<m, sent[m]>>].st \in {"neg", "lost", "held"}
  /\ Bring(l, m)

Needed(m) == IF sent[m] = 0 THEN TRUE ELSE att[<<m, sent[m]>>].st \in {"neg", "lost"} /\ Open(m)

\* Only an armed entry may be evicted, and whoever is evicted hears it. A registry full of pending ones refuses
\* the newcomer before its commit.
Evictable(e) == e.st = "armed"
Full(r) == Cardinality(reg[r]) >= Capacity

Add(l) ==
  /\ lane[l].at = "register" /\ To(l, "commit")
  /\ reg' = [reg EXCEPT ![Home(l)] = @ \cup {[a |-> lane[l].a, st |-> "pending"]}]
  /\ UNCHANGED <<db, sent, att, told, budget>>
Register(l) == ~Full(Home(l)) /\ Add(l)

Expel(r, e) ==
  /\ e \in reg[r] /\ Evictable(e)
  /\ reg' = [reg EXCEPT ![r] = @ \ {e}]
  /\ att' = Settle(att, e.a, "neg")
  /\ UNCHANGED <<db, sent, lane, told, budget>>
Evict(l, e) == lane[l].at = "register" /\ Full(Home(l)) /\ Expel(Home(l), e)

TurnAway(l) ==
  /\ lane[l].at = "register"
  /\ att' = Settle(att, lane[l].a, "neg") /\ Done(l)
  /\ UNCHANGED <<db, sent, reg, told, budget>>
RefuseFull(l) == Full(Home(l)) /\ (\A e \in reg[Home(l)] : ~Evictable(e)) /\ TurnAway(l)

Commit(l) ==
  LET m == lane[l].a[1] IN
  /\ lane[l].at = "commit"
  /\ IF db[m] = "absent" THEN db' = [db EXCEPT ![m] = "running"] /\ To(l, "arm")
     ELSE UNCHANGED db /\ To(l, "duplicate")
  /\ UNCHANGED <<sent, att, reg, told, budget>>

\* A definite failure takes the entry and refuses; if somebody has taken it, that one has settled.
Fail(l) ==
  LET a == lane[l].a  r == Home(l) IN
  /\ att' = IF Entries(r, a) = {} THEN att ELSE Settle(att, a, "neg")
  /\ reg' = Without(r, a)
  /\ Done(l)

CommitFails(l) ==
  LET a == lane[l].a IN
  /\ lane[l].at = "commit" /\ db[a[1]] = "absent" /\ budget.fail > 0 /\ sent[a[1]] < MaxAttempts
  /\ budget' = [budget EXCEPT !.fail = @ - 1]
  /\ Fail(l)
  /\ UNCHANGED <<db, sent, told>>

\* After registering, a duplicate reads the durable terminal state.
Duplicate(l) ==
  LET a == lane[l].a  r == Home(l) IN
  /\ lane[l].at = "duplicate"
  /\ IF db[a[1]] = "terminal"
     THEN /\ Done(l) /\ reg' = Without(r, a)
          /\ att' = IF Entries(r, a) # {} THEN Settle(att, a, "pos") ELSE att
     ELSE To(l, "arm") /\ UNCHANGED <<att, reg>>
  /\ UNCHANGED <<db, sent, told, budget>>

\* The lane tells its transport to wait, unless the entry was taken meanwhile: then it says nothing.
Arm(l) ==
  LET a == lane[l].a  r == Home(l) IN
  /\ lane[l].at = "arm" /\ Done(l)
  /\ IF Entries(r, a) = {} THEN UNCHANGED <<told, reg>>
     ELSE /\ told' = told \cup {a}
          /\ reg' = [reg EXCEPT ![r] = (@ \ Entries(r, a)) \cup {[a |-> a, st |-> "armed"]}]
  /\ UNCHANGED <<db, sent, att, budget>>

\* The instance ends, by a step of some lane of some replica.
Complete(m) ==
  /\ db[m] = "running" /\ db' = [db EXCEPT ![m] = "terminal"]
  /\ UNCHANGED <<sent, att, reg, lane, told, budget>>

\* Every replica compares its own entries with durable terminal state, told or not: a notification is only faster.
Poll(r, a) ==
  /\ Entries(r, a) # {} /\ db[a[1]] = "terminal"
  /\ reg' = Without(r, a) /\ att' = Settle(att, a, "pos")
  /\ UNCHANGED <<db, sent, lane, told, budget>>

\* The timeout and the eviction by an operator refuse while the instance runs on.
Timeout(r, a) ==
  /\ budget.timeout > 0 /\ sent[a[1]] < MaxAttempts
  /\ \E e \in Entries(r, a) : Evictable(e)
  /\ budget' = [budget EXCEPT !.timeout = @ - 1]
  /\ reg' = Without(r, a) /\ att' = Settle(att, a, "neg")
  /\ UNCHANGED <<db, sent, lane, told>>

\* A replica that stops refuses what it holds, whatever is known of it, and its lanes go on to their end.
Stop(r, a) ==
  /\ budget.crash > 0 /\ Entries(r, a) # {} /\ sent[a[1]] < MaxAttempts
  /\ budget' = [budget EXCEPT !.crash = @ - 1]
  /\ reg' = Without(r, a) /\ att' = Settle(att, a, "neg")
  /\ UNCHANGED <<db, sent, lane, told>>

Crash(r) ==
  /\ budget.crash > 0 /\ budget' = [budget EXCEPT !.crash = @ - 1]
  /\ \A a \in Attempts : att[a].st = "held" /\ att[a].r = r => sent[a[1]] < MaxAttempts
  /\ reg' = [reg EXCEPT ![r] = {}] /\ lane' = [l \in Lanes |-> IF Home(l) = r THEN Idle ELSE lane[l]]
  /\ att' = [a \in Attempts |-> IF att[a].st = "held" /\ att[a].r = r THEN [att[a] EXCEPT !.st = "lost"] ELSE att[a]]
  /\ UNCHANGED <<db, sent, told>>

Work(l) == Register(l) \/ RefuseFull(l) \/ Commit(l) \/ Duplicate(l) \/ Arm(l) \/ \E e \in reg[Home(l)] : Evict(l, e)
Next ==
  \/ \E l \in Lanes :
       \/ Register(l) \/ RefuseFull(l) \/ Commit(l) \/ Duplicate(l) \/ Arm(l) \/ CommitFails(l)
       \/ \E e \in reg[Home(l)] : Evict(l, e)
       \/ \E m \in Messages : Deliver(l, m)
  \/ \E r \in Replicas : Crash(r) \/ \E a \in Attempts : Poll(r, a) \/ Timeout(r, a) \/ Stop(r, a)
  \/ \E m \in Messages : Complete(m)

Spec == Init /\ [][Next]_vars
\* Timeout, stop, crash and failure are not fair: settling must not depend on them.
FairSpec ==
  /\ Spec
  /\ \A l \in Lanes : WF_vars(Work(l)) /\ \A r \in Replicas, a \in Attempts : WF_vars(Poll(r, a))
  /\ \A m \in Messages : SF_vars(\E l \in Lanes : Needed(m) /\ Deliver(l, m)) /\ WF_vars(Complete(m))

TypeOK ==
  /\ \A m \in Messages : db[m] \in {"absent", "running", "terminal"} /\ sent[m] \in 0..MaxAttempts
  /\ \A a \in Attempts : att[a].st \in {"none", "held", "pos", "neg", "lost"}
  /\ \A r \in Replicas : Cardinality(reg[r]) <= Capacity /\ \A e \in reg[r] : e.st \in {"pending", "armed"}

\* One settlement for each registration, whatever races.
L5I1_SettledOnce == \A a \in Attempts : att[a].settled <= 1
\* A positive answer rests on durable terminal state.
L5I2_PositiveIsTerminal == \A a \in Attempts : att[a].st = "pos" => db[a[1]] = "terminal"
\* Who was told to wait is registered, or has been settled.
L5I3_ToldIsRegistered == \A a \in told : att[a].st = "held" => Entries(att[a].r, a) # {}
\* "later" is said only while the entry is registered and the commit is done.
L5I4_ToldHonestly == [][\A a \in told' \ told : Entries(att[a].r, a) # {} /\ db[a[1]] # "absent"]_vars
\* Every attempt that is told to wait is settled, and every message ends settled for good.
L5_ToldSettles == \A a \in Attempts : (a \in told) ~> (att[a].st \in {"pos", "neg", "lost"})
L5_Accounted == \A m \in Messages : <>(~Open(m))
=============================================================================
