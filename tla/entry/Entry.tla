-------------------------------- MODULE Entry --------------------------------
(* A materialized entry (E6): the value of one key that many tasks offer to and many read, with captures of it.   *)
(*                                                                                                                *)
(* An offer carries a high and a low watermark. The larger high wins, then the larger low; an equal one keeps the  *)
(* first and changes nothing. An entry ends by being cleared and then withdrawn from the table: a task that still   *)
(* holds it finds it ended, and a new entry for the key is another generation. Before the live state is installed  *)
(* readers see the snapshot it is restored from; afterwards the live state owns absence as well.                   *)
(*                                                                                                                *)
(* A capture needs a sealed copy that is at least as new as its request. One is built at a time, and the last one   *)
(* is kept: the revision is read before the content is, so that a seal never claims more than it has.               *)
EXTENDS Integers, FiniteSets

CONSTANTS
  Task,       \* each offers once
  Ender,      \* each ends the entry once
  Reader,     \* each reads once
  Capturer,   \* each captures once
  Mark,       \* [high, low] that may be offered
  MaxGen

VARIABLES
  entry,      \* of each generation: state and value
  named,      \* the generation in the table (0: none)
  owned,      \* the live state is installed
  revision, truth,  \* revision of the state, and the value that it stands for
  task, ender, reader, capture,   \* steps
  sealed,     \* [revision, newest]: what the cached copy claims, and the revision that its content really has
  asleep      \* captures that are registered for the end of a build

vars == <<entry, named, owned, revision, truth, task, ender, reader, capture, sealed, asleep>>
Gen == 1..MaxGen
Absent == [high |-> 0, low |-> 0, by |-> "nobody", gen |-> 0]
Restored == [high |-> 1, low |-> 0, by |-> "snapshot", gen |-> 1]
Larger(a, b) == a.high > b.high \/ (a.high = b.high /\ a.low > b.low)

Init ==
  /\ entry = [g \in Gen |-> [state |-> "none", value |-> Absent]] /\ named = 0 /\ owned = FALSE
  /\ revision = 1 /\ truth = Restored
  /\ task \in [Task -> {[at |-> "hold", gen |-> 0, high |-> m.high, low |-> m.low] : m \in Mark}]
  /\ ender = [e \in Ender |-> [at |-> "hold", gen |-> 0]]
  /\ reader = [r \in Reader |-> [at |-> "rest", gen |-> 0, may |-> {}, answer |-> Absent]]
  /\ capture = [c \in Capturer |-> [at |-> "rest", need |-> 0, revision |-> 0, newest |-> 0]]
  /\ sealed = [revision |-> 0, newest |-> 0] /\ asleep = {}

(* The state becomes v. Whoever reads meanwhile may answer v. *)
Becomes(v) ==
  /\ truth' = v /\ revision' = revision + 1
  /\ reader' = [r \in Reader |-> IF reader[r].at = "rest" THEN reader[r] ELSE [reader[r] EXCEPT !.may = @ \cup {v}]]
stays == UNCHANGED <<truth, revision, reader>>
captureUnchanged == UNCHANGED <<capture, sealed, asleep>>

(* The live state takes over from the snapshot in one step. *)
Install ==
  /\ ~owned /\ owned' = TRUE /\ named' = 1 /\ entry' = [entry EXCEPT ![1] = [state |-> "live", value |-> Restored]]
  /\ UNCHANGED <<task, ender>> /\ stays /\ captureUnchanged

--------------------------------------------------------------------------------------------------------------------
(* Offering. A task holds the entry that the table names, or makes one. *)

Unused == {g \in Gen : entry[g].state = "none"}

Hold(t) ==
  /\ owned /\ task[t].at = "hold"
  /\ IF named # 0 THEN task' = [task EXCEPT ![t].at = "offer", ![t].gen = named] /\ UNCHANGED <<entry, named>>
     ELSE /\ Unused # {}
          /\ LET g == CHOOSE x \in Unused : \A y \in Unused : x <= y IN
               /\ entry' = [entry EXCEPT ![g].state = "live"] /\ named' = g
               /\ task' = [task EXCEPT ![t].at = "offer", ![t].gen = g]
  /\ UNCHANGED <<owned, ender>> /\ stays /\ captureUnchanged

Value(t) == [high |-> task[t].high, low |-> task[t].low, by |-> t, gen |-> task[t].gen]

Offer(t) ==
  /\ task[t].at = "offer" /\ entry[task[t].gen].state = "live" /\ task' = [task EXCEPT ![t].at = "done"]
  /\ IF Larger(Value(t), entry[task[t].gen].value)
     THEN entry' = [entry EXCEPT ![task[t].gen].value = Value(t)] /\ Becomes(Value(t))
     ELSE UNCHANGED entry /\ stays
  /\ UNCHANGED <<named, owned, ender>> /\ captureUnchanged

(* An ended entry refuses: its holder looks into the table again. *)
Refused(t) ==
  /\ task[t].at = "offer" /\ entry[task[t].gen].state = "ended"
  /\ task' = [task EXCEPT ![t].at = "hold", ![t].gen = 0]
  /\ UNCHANGED <<entry, named, owned, ender>> /\ stays /\ captureUnchanged

--------------------------------------------------------------------------------------------------------------------
(* Ending: the entry is cleared, then withdrawn. *)

Clear(e) ==
  /\ ender[e].at = "hold" /\ named # 0 /\ entry[named].state = "live"
  /\ ender' = [ender EXCEPT ![e] = [at |-> "withdraw", gen |-> named]]
  /\ entry' = [entry EXCEPT ![named] = [state |-> "ended", value |-> Absent]]
  /\ IF truth = Absent THEN stays ELSE Becomes(Absent)
  /\ UNCHANGED <<named, owned, task>> /\ captureUnchanged

Withdraw(e) ==
  /\ ender[e].at = "withdraw" /\ ender' = [ender EXCEPT ![e].at = "done"] /\ named' = 0
  /\ UNCHANGED <<entry, owned, task>> /\ stays /\ captureUnchanged

--------------------------------------------------------------------------------------------------------------------
(* Reading. *)

StartRead(r) ==
  /\ reader[r].at = "rest" /\ reader' = [reader EXCEPT ![r].at = "lookup", ![r].may = {truth}]
  /\ UNCHANGED <<entry, named, owned, revision, truth, task, ender>> /\ captureUnchanged

Answer(r, v) == reader' = [reader EXCEPT ![r].at = "answered", ![r].answer = v]

Lookup(r) ==
  /\ reader[r].at = "lookup"
  /\ IF ~owned THEN Answer(r, Restored)
     ELSE IF named = 0 THEN Answer(r, Absent)
     ELSE reader' = [reader EXCEPT ![r].at = "value", ![r].gen = named]
  /\ UNCHANGED <<entry, named, owned, revision, truth, task, ender>> /\ captureUnchanged

ReadValue(r) ==
  /\ reader[r].at = "value" /\ Answer(r, entry[reader[r].gen].value)
  /\ UNCHANGED <<entry, named, owned, revision, truth, task, ender>> /\ captureUnchanged

--------------------------------------------------------------------------------------------------------------------
(* Capturing: register for the end of a build, look, and build if nobody does. *)

K(c, from, to) == capture[c].at = from /\ capture' = [capture EXCEPT ![c].at = to]
stateUnchanged == UNCHANGED <<entry, named, owned, revision, truth, task, ender, reader>>
Building == {c \in Capturer : capture[c].at \in {"copy", "seal"}}

Ask(c) ==
  /\ capture[c].at = "rest" /\ capture' = [capture EXCEPT ![c].at = "register", ![c].need = revision]
  /\ UNCHANGED <<sealed, asleep>> /\ stateUnchanged

Register(c) == K(c, "register", "look") /\ asleep' = asleep \cup {c} /\ UNCHANGED sealed /\ stateUnchanged

Look(c) ==
  /\ capture[c].at = "look"
  /\ IF sealed.revision >= capture[c].need THEN capture' = [capture EXCEPT ![c].at = "served", ![c].newest = sealed.newest]
     ELSE IF Building # {} THEN K(c, "look", "asleep")
     ELSE capture' = [capture EXCEPT ![c].at = "copy", ![c].revision = revision]
  /\ UNCHANGED <<sealed, asleep>> /\ stateUnchanged

Woken(c) == c \notin asleep /\ K(c, "asleep", "register") /\ UNCHANGED <<sealed, asleep>> /\ stateUnchanged

Copy(c) ==
  /\ capture[c].at = "copy" /\ capture' = [capture EXCEPT ![c].at = "seal", ![c].newest = revision]
  /\ UNCHANGED <<sealed, asleep>> /\ stateUnchanged

Seal(c) ==
  /\ K(c, "seal", "register") /\ sealed' = [revision |-> capture[c].revision, newest |-> capture[c].newest] /\ asleep' = {}
  /\ stateUnchanged

--------------------------------------------------------------------------------------------------------------------
Captures(c) == Register(c) \/ Look(c) \/ Woken(c) \/ Copy(c) \/ Seal(c)
Offers(t) == Hold(t) \/ Offer(t) \/ Refused(t)
Next ==
  \/ Install
  \/ \E t \in Task : Offers(t)
  \/ \E e \in Ender : Clear(e) \/ Withdraw(e)
  \/ \E r \in Reader : StartRead(r) \/ Lookup(r) \/ ReadValue(r)
  \/ \E c \in Capturer : Ask(c) \/ Captures(c)

(* The state is installed; whoever began goes on. *)
Fair ==
  /\ WF_vars(Install)
  /\ \A t \in Task : WF_vars(Offers(t))
  /\ \A e \in Ender : WF_vars(Withdraw(e))
  /\ \A c \in Capturer : WF_vars(Captures(c))
Spec == Init /\ [][Next]_vars /\ Fair

--------------------------------------------------------------------------------------------------------------------
TypeOK ==
  /\ \A g \in Gen : entry[g].state \in {"none", "live", "ended"}
  /\ named \in 0..MaxGen /\ owned \in BOOLEAN /\ revision \in Nat
  /\ \A t \in Task : task[t].at \in {"hold", "offer", "done"} /\ task[t].gen \in 0..MaxGen
  /\ \A e \in Ender : ender[e].at \in {"hold", "withdraw", "done"} /\ ender[e].gen \in 0..MaxGen
  /\ \A r \in Reader : reader[r].at \in {"rest", "lookup", "value", "answered"}
  /\ \A c \in Capturer : capture[c].at \in {"rest", "register", "look", "asleep", "copy", "seal", "served"}
  /\ asleep \subseteq Capturer

(* E6.I1: a value gives way to a larger one only, or to the end of its entry: an equal one keeps the first. *)
E6I1_LargerWins ==
  [][\A g \in Gen : entry'[g].value # entry[g].value => entry'[g].state = "ended" \/ Larger(entry'[g].value, entry[g].value)]_vars

(* E6.I2: the revision changes with the state, and not otherwise. *)
E6I2_RevisionIsChange == [][revision' # revision <=> truth' # truth]_vars

(* E6.I3: what is read was the state at some time of the reading: live state owns absence, clearing comes before *)
(* withdrawing.                                                                                                  *)
E6I3_ReadsAreFresh == \A r \in Reader : reader[r].at = "answered" => reader[r].answer \in reader[r].may

(* E6.I4: an ended entry, and one that is not in the table, holds nothing. *)
E6I4_EndedIsEmpty == \A g \in Gen : entry[g].state # "live" \/ named # g => entry[g].value = Absent

(* E6.I5: a holder of an ended entry never reaches its successor. *)
E6I5_OwnGeneration == \A g \in Gen : entry[g].value.gen \in {0, g}

(* E6.I6: one copy is built at a time. *)
E6I6_OneBuild == Cardinality(Building) <= 1

(* E6.I7: a seal has what it claims, and a capture gets what it asked for. *)
E6I7_SealHasWhatItClaims ==
  sealed.newest >= sealed.revision /\ \A c \in Capturer : capture[c].at = "served" => capture[c].newest >= capture[c].need

(* E6: what is larger than the state arrives in it. *)
E6L1_OfferIsDecided == \A t \in Task : (task[t].at = "offer") ~> (task[t].at = "done" \/ Unused = {})

(* E6: a capture is served. *)
E6L2_CaptureIsServed == \A c \in Capturer : (capture[c].at = "register") ~> (capture[c].at = "served")
=============================================================================
