----------------------------- MODULE Assignment -----------------------------
(* The generation of an assignment (E8): who may work on a branch's state, across changes of its owner.          *)
(*                                                                                                                *)
(* One word holds the generation and what it may do: "work", or "closed" while a whole state is installed. An     *)
(* operation has a token, the word that it was given. It counts itself under the parity of its generation, and    *)
(* then compares its token with the word. A rebind publishes the next word, and then waits until the parity of    *)
(* the generation before is at zero: whoever it could have admitted has left. Since rebinds take turns, two       *)
(* parities are enough, and what the successor does counts under the other one and never extends the wait.        *)
(*                                                                                                                *)
(* A rebind that only hands over publishes a word that may work at once. One that installs a whole state publishes *)
(* a closed word, waits, installs, and opens the word.                                                             *)
EXTENDS Integers, FiniteSets

CONSTANTS
  Worker,     \* each runs one operation after the other
  Binder,     \* each rebinds
  MaxGen      \* generations

VARIABLES
  word,       \* [gen, may]
  count,      \* operations counted under each parity
  op,         \* the step of each worker, the word it was given, and its kind
  wake,       \* a leaving operation took its parity to zero: binders that are woken
  bind,       \* the step of each binder, the word it replaced, and whether it installs
  turn,       \* the binder whose turn it is
  settled,    \* the last generation whose predecessor is known to have left
  described   \* the generation whose state was described last, and the one that was settled then

vars == <<word, count, op, wake, bind, turn, settled, described>>
Nobody == "nobody"
Parity(gen) == gen % 2

NoWord == [gen |-> 0, may |-> "work"]
Init ==
  /\ word = [gen |-> 0, may |-> "work"] /\ count = [p \in 0..1 |-> 0] /\ wake = {}
  /\ op = [w \in Worker |-> [at |-> "rest", token |-> NoWord, kind |-> "change", parity |-> 0]]
  /\ bind = [b \in Binder |-> [at |-> "rest", old |-> 0, installs |-> FALSE]]
  /\ turn = Nobody /\ settled = 0 /\ described = [gen |-> 0, settled |-> 0]

Kinds == {"change", "capture"}
W(w, from, to) == op[w].at = from /\ op' = [op EXCEPT ![w].at = to]
B(b, from, to) == bind[b].at = from /\ bind' = [bind EXCEPT ![b].at = to]
bindUnchanged == UNCHANGED <<word, bind, turn, settled>>

--------------------------------------------------------------------------------------------------------------------
(* An operation. Its token says that its generation may work; it was given some time ago, for tokens are kept. *)

Given(w) ==
  /\ op[w].at = "rest"
  /\ \E kind \in Kinds :
       op' = [op EXCEPT ![w] = [at |-> "given", token |-> [gen |-> word.gen, may |-> "work"], kind |-> kind,
                               parity |-> Parity(word.gen)]]
  /\ UNCHANGED <<count, wake, described>> /\ bindUnchanged

CountIn(w) ==
  /\ W(w, "given", "counted") /\ count' = [count EXCEPT ![op[w].parity] = @ + 1]
  /\ UNCHANGED <<wake, described>> /\ bindUnchanged

Compare(w) ==
  /\ W(w, "counted", IF op[w].token = word THEN "admitted" ELSE "leave")
  /\ UNCHANGED <<count, wake, described>> /\ bindUnchanged

(* Captures are shared: any number of them and of changes may be admitted together. *)
Act(w) ==
  /\ W(w, "admitted", "leave")
  /\ described' = IF op[w].kind = "capture" THEN [gen |-> op[w].token.gen, settled |-> settled] ELSE described
  /\ UNCHANGED <<count, wake>> /\ bindUnchanged

Leave(w) ==
  /\ W(w, "leave", "rest") /\ count' = [count EXCEPT ![op[w].parity] = @ - 1]
  /\ wake' = IF count[op[w].parity] = 1 THEN wake \cup Binder ELSE wake
  /\ UNCHANGED described /\ bindUnchanged

--------------------------------------------------------------------------------------------------------------------
(* A rebind. *)

Rebind(b) ==
  /\ turn = Nobody /\ word.gen < MaxGen /\ bind[b].at = "rest" /\ turn' = b
  /\ \E installs \in BOOLEAN : bind' = [bind EXCEPT ![b] = [at |-> "publish", old |-> word.gen, installs |-> installs]]
  /\ UNCHANGED <<word, count, op, wake, settled, described>>

Publish(b) ==
  /\ B(b, "publish", "register")
  /\ word' = [gen |-> bind[b].old + 1, may |-> IF bind[b].installs THEN "closed" ELSE "work"]
  /\ UNCHANGED <<count, op, wake, turn, settled, described>>

Register(b) == B(b, "register", "read") /\ wake' = wake \ {b} /\ UNCHANGED <<word, count, op, turn, settled, described>>

ReadOld(b) ==
  /\ B(b, "read", IF count[Parity(bind[b].old)] = 0 THEN "left" ELSE "asleep")
  /\ settled' = IF count[Parity(bind[b].old)] = 0 THEN bind[b].old + 1 ELSE settled
  /\ UNCHANGED <<word, count, op, wake, turn, described>>

Woken(b) == b \in wake /\ B(b, "asleep", "register") /\ UNCHANGED <<word, count, op, wake, turn, settled, described>>

Left(b) ==
  /\ B(b, "left", IF bind[b].installs THEN "install" ELSE "done")
  /\ UNCHANGED <<word, count, op, wake, turn, settled, described>>

Open(b) ==
  /\ B(b, "install", "done") /\ word' = [word EXCEPT !.may = "work"]
  /\ UNCHANGED <<count, op, wake, turn, settled, described>>

Done(b) == B(b, "done", "rest") /\ turn' = Nobody /\ UNCHANGED <<word, count, op, wake, settled, described>>

--------------------------------------------------------------------------------------------------------------------
Works(w) == CountIn(w) \/ Compare(w) \/ Act(w) \/ Leave(w)
Binds(b) == Publish(b) \/ Register(b) \/ ReadOld(b) \/ Woken(b) \/ Left(b) \/ Open(b) \/ Done(b)
Next == (\E w \in Worker : Given(w) \/ Works(w)) \/ (\E b \in Binder : Rebind(b) \/ Binds(b))

(* Who began goes on. Workers may begin again and again: that must not keep a rebind waiting. *)
Fair == (\A w \in Worker : WF_vars(Works(w))) /\ (\A b \in Binder : WF_vars(Binds(b)))
Spec == Init /\ [][Next]_vars /\ Fair

--------------------------------------------------------------------------------------------------------------------
TypeOK ==
  /\ word \in [gen : 0..MaxGen, may : {"work", "closed"}] /\ \A p \in 0..1 : count[p] \in 0..Cardinality(Worker)
  /\ \A w \in Worker : op[w].at \in {"rest", "given", "counted", "admitted", "leave"} /\ op[w].kind \in Kinds
                       /\ op[w].token \in [gen : 0..MaxGen, may : {"work", "closed"}] /\ op[w].parity \in 0..1
  /\ \A b \in Binder : bind[b].at \in {"rest", "publish", "register", "read", "asleep", "left", "install", "done"}
  /\ wake \subseteq Binder /\ turn \in Binder \cup {Nobody} /\ settled \in 0..MaxGen

Admitted == {w \in Worker : op[w].at = "admitted"}

(* E8.I1: a whole state is installed while nobody is admitted, neither to change nor to capture. *)
E8I1_InstallIsExclusive == (\E b \in Binder : bind[b].at = "install") => Admitted = {}

(* E8.I2: once a rebind has ended its wait, no earlier owner changes or describes anything. *)
E8I2_FormerOwnerIsGone == \A w \in Admitted : op[w].token.gen >= settled

(* E8.I3: the counts miss nobody who is admitted. *)
E8I3_CountsCover == \A p \in 0..1 : count[p] >= Cardinality({w \in Admitted : Parity(op[w].token.gen) = p})

(* E8.I4: rebinds take turns. *)
E8I4_RebindsTakeTurns == Cardinality({b \in Binder : bind[b].at # "rest"}) <= 1

(* E8.I5: a generation is described by its own owner, before a successor is settled. *)
E8I5_DescribedByItsOwner == described.gen >= described.settled

(* E8.I6: the word changes by a new generation, or opens the one that it closed. *)
E8I6_GenerationsRise ==
  [][word' # word => word'.gen = word.gen + 1 \/ (word.may = "closed" /\ word' = [word EXCEPT !.may = "work"])]_vars

(* E8: the wait of a rebind ends, whatever the successor's work. *)
E8L1_RebindEnds == \A b \in Binder : (bind[b].at = "register") ~> (bind[b].at = "rest")
=============================================================================
