------------------------------ MODULE Revision ------------------------------
(* How a change of the running graph is installed (H5): everything is prepared, then published once.              *)
(*                                                                                                                *)
(* A revision is a plan for each part of the graph. A change names the parts that it replaces. Its installer opens *)
(* a plan for each of them beside the running ones; only then does it publish the next revision, in one step that  *)
(* requires the revision it began with to be the current one still. If it is not, or if a plan cannot be prepared,  *)
(* the installer closes what it has opened and the predecessor goes on as if nothing had happened. Parts that are   *)
(* not replaced keep their plans, and so their identity. A plan that was replaced is closed when its last user has  *)
(* left.                                                                                                            *)
EXTENDS Integers, FiniteSets

CONSTANTS
  Part,
  Installer,
  User,       \* tasks that take the current revision and use its plans
  Plans       \* how many plans can be opened altogether

VARIABLES
  current,    \* [number, plan]
  published,  \* every revision there has been
  plan,       \* of each plan: "free", "open", "closed"
  inst,       \* of each installer: step, the revision it began with, parts it replaces, what it has prepared (0: nothing)
  replaced,   \* plans that an installer has replaced and has to close
  user        \* of each user: the revision that it took (number 0: none)

vars == <<current, published, plan, inst, replaced, user>>
Plan == 1..Plans
None == [number |-> 0, plan |-> [p \in Part |-> 0]]
Rest == [at |-> "rest", base |-> None, parts |-> {}, made |-> [p \in Part |-> 0]]
Numbered == CHOOSE f \in [Part -> 1..Cardinality(Part)] : \A p, q \in Part : p # q => f[p] # f[q]

Init ==
  /\ current = [number |-> 1, plan |-> Numbered] /\ published = {current}
  /\ plan = [n \in Plan |-> IF n <= Cardinality(Part) THEN "open" ELSE "free"]
  /\ inst = [i \in Installer |-> Rest] /\ replaced = [i \in Installer |-> {}]
  /\ user = [u \in User |-> None]

Free == {n \in Plan : plan[n] = "free"}
Set(i, at) == inst' = [inst EXCEPT ![i].at = at]

--------------------------------------------------------------------------------------------------------------------
Begin(i) ==
  /\ inst[i].at = "rest" /\ \E parts \in SUBSET Part \ {{}} :
       /\ Cardinality(parts) <= Cardinality(Free)
       /\ inst' = [inst EXCEPT ![i] = [at |-> "prepare", base |-> current, parts |-> parts, made |-> [p \in Part |-> 0]]]
  /\ UNCHANGED <<current, published, plan, replaced, user>>

Prepare(i, p) ==
  /\ inst[i].at = "prepare" /\ p \in inst[i].parts /\ inst[i].made[p] = 0 /\ Free # {}
  /\ LET n == CHOOSE x \in Free : \A y \in Free : x <= y IN
       /\ plan' = [plan EXCEPT ![n] = "open"] /\ inst' = [inst EXCEPT ![i].made[p] = n]
  /\ UNCHANGED <<current, published, replaced, user>>

(* Preparing may fail at any time. *)
Fail(i) == inst[i].at = "prepare" /\ Set(i, "undo") /\ UNCHANGED <<current, published, plan, replaced, user>>

Ready(i) == inst[i].at = "prepare" /\ \A p \in inst[i].parts : inst[i].made[p] # 0

Publish(i) ==
  /\ Ready(i) /\ inst[i].base.number = current.number
  /\ current' = [number |-> current.number + 1,
                 plan |-> [p \in Part |-> IF p \in inst[i].parts THEN inst[i].made[p] ELSE inst[i].base.plan[p]]]
  /\ published' = published \cup {current'}
  /\ replaced' = [replaced EXCEPT ![i] = {current.plan[p] : p \in Part} \ {current'.plan[p] : p \in Part}]
  /\ Set(i, "retire")
  /\ UNCHANGED <<plan, user>>

Refuse(i) ==
  /\ Ready(i) /\ inst[i].base.number # current.number
  /\ Set(i, "undo") /\ UNCHANGED <<current, published, plan, replaced, user>>

(* What was prepared and is not published is closed. *)
Undo(i) ==
  /\ inst[i].at = "undo"
  /\ plan' = [n \in Plan |-> IF \E p \in Part : inst[i].made[p] = n THEN "closed" ELSE plan[n]]
  /\ inst' = [inst EXCEPT ![i] = Rest]
  /\ UNCHANGED <<current, published, replaced, user>>

Uses(u, n) == user[u].number # 0 /\ \E p \in Part : user[u].plan[p] = n

(* What was replaced is closed, one plan after the other, when nobody uses it. *)
Retire(i) ==
  /\ inst[i].at = "retire"
  /\ \/ \E n \in replaced[i] :
          /\ \A u \in User : ~Uses(u, n)
          /\ plan' = [plan EXCEPT ![n] = "closed"] /\ replaced' = [replaced EXCEPT ![i] = @ \ {n}] /\ UNCHANGED inst
     \/ replaced[i] = {} /\ inst' = [inst EXCEPT ![i] = Rest] /\ UNCHANGED <<plan, replaced>>
  /\ UNCHANGED <<current, published, user>>

--------------------------------------------------------------------------------------------------------------------
Take(u) ==
  /\ user[u].number = 0 /\ user' = [user EXCEPT ![u] = current]
  /\ UNCHANGED <<current, published, plan, inst, replaced>>
Leave(u) ==
  /\ user[u].number # 0 /\ user' = [user EXCEPT ![u] = None]
  /\ UNCHANGED <<current, published, plan, inst, replaced>>

--------------------------------------------------------------------------------------------------------------------
Installs(i) == (\E p \in Part : Prepare(i, p)) \/ Publish(i) \/ Refuse(i) \/ Undo(i) \/ Retire(i)
Next == (\E i \in Installer : Begin(i) \/ Fail(i) \/ Installs(i)) \/ (\E u \in User : Take(u) \/ Leave(u))

(* Who began goes on; users leave, and may take again, so retiring needs strong fairness. When there is no plan left  *)
(* that could be opened, preparing fails.                                                                           *)
Fair ==
  /\ \A i \in Installer : SF_vars(Installs(i)) /\ WF_vars(Free = {} /\ ~Ready(i) /\ Fail(i))
  /\ \A u \in User : WF_vars(Leave(u))
Spec == Init /\ [][Next]_vars /\ Fair

--------------------------------------------------------------------------------------------------------------------
Revisions == [number : Nat, plan : [Part -> 0..Plans]]
TypeOK ==
  /\ current \in Revisions /\ \A r \in published : r \in Revisions
  /\ plan \in [Plan -> {"free", "open", "closed"}]
  /\ \A i \in Installer : inst[i].at \in {"rest", "prepare", "undo", "retire"} /\ inst[i].base \in Revisions
                          /\ inst[i].parts \subseteq Part /\ inst[i].made \in [Part -> 0..Plans] /\ replaced[i] \subseteq Plan
  /\ \A u \in User : user[u] \in Revisions

(* H5.I1: whoever takes a revision takes one that was published, whole. *)
H5I1_OneRevisionIsSeen == \A u \in User : user[u].number = 0 \/ user[u] \in published

(* H5.I2: the plans of the current revision, and of one that somebody uses, run: a failure leaves the predecessor. *)
H5I2_PlansInUseRun ==
  /\ \A p \in Part : plan[current.plan[p]] = "open"
  /\ \A u \in User, p \in Part : user[u].number # 0 => plan[user[u].plan[p]] = "open"

(* H5.I3: a revision follows the one that its installer began with; a stale one is refused. *)
H5I3_StaleIsRefused ==
  [][current' # current => /\ current'.number = current.number + 1
                           /\ \E i \in Installer : inst'[i].at = "retire" /\ inst[i].at = "prepare" /\ inst[i].base = current]_vars

(* H5.I4: a part that the change does not replace keeps its plan. *)
H5I4_UnchangedKeepsIdentity ==
  [][current' # current => \E i \in Installer : inst[i].at = "prepare" /\
        \A p \in Part : (current'.plan[p] # current.plan[p]) <=> (p \in inst[i].parts)]_vars

(* H5.I5: every open plan is current, or some installer will publish or close it. *)
H5I5_NothingLeaks ==
  \A n \in Plan : plan[n] = "open" =>
    \/ \E p \in Part : current.plan[p] = n
    \/ \E i \in Installer : n \in replaced[i] \/ (inst[i].at \in {"prepare", "undo"} /\ \E p \in Part : inst[i].made[p] = n)

(* H5: an installation ends: published and its predecessors closed, refused, or failed. *)
H5L1_InstallationEnds == \A i \in Installer : (inst[i].at = "prepare") ~> (inst[i].at = "rest")
=============================================================================
