------------------------------- MODULE Restore -------------------------------
(* How a restored state is published (E9): staged, validated as a whole, pointed at durably, and only then started. *)
(*                                                                                                                *)
(* A coordinator takes over with a new term, which fences every earlier one. For a request that was not carried   *)
(* out it stages the pieces of a new generation, validates all of them, and writes the durable pointer, asserting  *)
(* its term. Then it releases the start gate: that the generation runs and that the gate is open is one effect.    *)
(* A retry of the same request finds the pointer and only releases again. Generations that nobody can need any     *)
(* more are reclaimed piece by piece, under readers that retain one.                                               *)
EXTENDS Integers, FiniteSets

CONSTANTS
  Coordinator,
  Reader,
  Pieces,       \* of a generation
  MaxGen,
  MaxRequest,
  MaxCrash,     \* losses of everything that is not durable
  MaxEarly,     \* takeovers of a coordinator that is not dead
  MaxBad        \* pieces that are torn while they are staged

VARIABLES
  term, pointer, piece, staged,   \* durable: term; [gen, request]; state of each piece; the term that stages each generation
  wanted,                         \* the request that is to be carried out
  coord,                          \* of each coordinator: step, term, generation, request
  running, gate,                  \* the generation that runs (0: none); the start gate is open
  retained,                       \* the generation that each reader retains (0: none)
  pointed,                        \* every pointer there was
  crashes, early, bad

vars == <<term, pointer, piece, staged, wanted, coord, running, gate, retained, pointed, crashes, early, bad>>
Gen == 1..MaxGen
Piece == 1..Pieces
Rest == [at |-> "rest", term |-> 0, gen |-> 0, request |-> 0]

Init ==
  /\ term = 0 /\ pointer = [gen |-> 0, request |-> 0] /\ wanted = 1
  /\ piece = [g \in Gen |-> [k \in Piece |-> "none"]] /\ staged = [g \in Gen |-> 0]
  /\ coord = [c \in Coordinator |-> Rest] /\ running = 0 /\ gate = FALSE
  /\ retained = [r \in Reader |-> 0] /\ pointed = {} /\ crashes = 0 /\ early = 0 /\ bad = 0

Unused == {g \in Gen : staged[g] = 0}
Next1 == CHOOSE g \in Unused : \A h \in Unused : g <= h
Live(c) == coord[c].at # "rest" /\ coord[c].term = term
Whole(g) == \A k \in Piece : piece[g][k] = "good"
countersUnchanged == UNCHANGED <<crashes, early, bad>>

--------------------------------------------------------------------------------------------------------------------
(* A coordinator takes over. What is carried out already is only released again; else whatever runs is stopped. *)
Begin(c) ==
  LET done == pointer.request = wanted IN
  /\ coord[c].at = "rest" /\ term' = term + 1
  /\ IF done
     THEN /\ coord' = [coord EXCEPT ![c] = [at |-> "release", term |-> term', gen |-> pointer.gen, request |-> wanted]]
          /\ UNCHANGED <<staged, running, gate>>
     ELSE /\ Unused # {}
          /\ coord' = [coord EXCEPT ![c] = [at |-> "stage", term |-> term', gen |-> Next1, request |-> wanted]]
          /\ staged' = [staged EXCEPT ![Next1] = term'] /\ running' = 0 /\ gate' = FALSE
  /\ UNCHANGED <<pointer, piece, wanted, retained, pointed>>

Needed == ~gate /\ \A c \in Coordinator : ~Live(c)
TakeOver(c) == Needed /\ Begin(c) /\ countersUnchanged
TakeOverEarly(c) == ~Needed /\ early < MaxEarly /\ Begin(c) /\ early' = early + 1 /\ UNCHANGED <<crashes, bad>>

C(c, from, to) == coord[c].at = from /\ coord' = [coord EXCEPT ![c].at = to]

(* A piece is staged under the term as well: else a fenced coordinator and the one who reclaims its generation could go *)
(* on for ever.                                                                                                       *)
Stage(c, k) ==
  LET g == coord[c].gen IN
  /\ coord[c].at = "stage" /\ coord[c].term = term /\ piece[g][k] # "good"
  /\ \/ piece' = [piece EXCEPT ![g][k] = "good"] /\ UNCHANGED bad
     \/ bad < MaxBad /\ piece' = [piece EXCEPT ![g][k] = "torn"] /\ bad' = bad + 1
  /\ UNCHANGED <<term, pointer, staged, wanted, coord, running, gate, retained, pointed, crashes, early>>

(* The whole generation is read back. A torn piece is staged again. *)
Validate(c) ==
  /\ coord[c].at = "stage" /\ \A k \in Piece : piece[coord[c].gen][k] # "none"
  /\ C(c, "stage", IF Whole(coord[c].gen) THEN "point" ELSE "stage")
  /\ UNCHANGED <<term, pointer, piece, staged, wanted, running, gate, retained, pointed>> /\ countersUnchanged

(* The pointer is written in one durable step that asserts the term. *)
Point(c) ==
  /\ coord[c].term = term /\ C(c, "point", "release")
  /\ pointer' = [gen |-> coord[c].gen, request |-> coord[c].request] /\ pointed' = pointed \cup {pointer'}
  /\ UNCHANGED <<term, piece, staged, wanted, running, gate, retained>> /\ countersUnchanged

Release(c) ==
  /\ coord[c].term = term /\ coord[c].at = "release" /\ coord' = [coord EXCEPT ![c] = Rest]
  /\ running' = coord[c].gen /\ gate' = TRUE
  /\ UNCHANGED <<term, pointer, piece, staged, wanted, retained, pointed>> /\ countersUnchanged

Refused(c) ==
  /\ coord[c].term # term /\ coord[c].at \in {"stage", "point", "release"} /\ coord' = [coord EXCEPT ![c] = Rest]
  /\ UNCHANGED <<term, pointer, piece, staged, wanted, running, gate, retained, pointed>> /\ countersUnchanged

--------------------------------------------------------------------------------------------------------------------
(* A new request stops what runs and fences the coordinators of the one before: a retry of it that comes late must not *)
(* start the old state again.                                                                                        *)
Request ==
  /\ wanted < MaxRequest /\ pointer.request = wanted /\ gate /\ wanted' = wanted + 1 /\ running' = 0 /\ gate' = FALSE
  /\ term' = term + 1
  /\ UNCHANGED <<pointer, piece, staged, coord, retained, pointed>> /\ countersUnchanged

Crash ==
  /\ crashes < MaxCrash /\ crashes' = crashes + 1
  /\ coord' = [c \in Coordinator |-> Rest] /\ running' = 0 /\ gate' = FALSE /\ retained' = [r \in Reader |-> 0]
  /\ UNCHANGED <<term, pointer, piece, staged, wanted, pointed, early, bad>>

Retain(r) ==
  /\ retained[r] = 0 /\ pointer.gen # 0 /\ retained' = [retained EXCEPT ![r] = pointer.gen]
  /\ UNCHANGED <<term, pointer, piece, staged, wanted, coord, running, gate, pointed>> /\ countersUnchanged
Free(r) ==
  /\ retained[r] # 0 /\ retained' = [retained EXCEPT ![r] = 0]
  /\ UNCHANGED <<term, pointer, piece, staged, wanted, coord, running, gate, pointed>> /\ countersUnchanged

(* Nobody can need a generation that is not pointed at, that no reader retains, and whose coordinator is fenced, *)
(* dead or done.                                                                                                 *)
Obsolete(g) ==
  /\ staged[g] # 0 /\ g # pointer.gen /\ \A r \in Reader : retained[r] # g
  /\ ~\E c \in Coordinator : Live(c) /\ coord[c].gen = g

Reclaim(g, k) ==
  /\ Obsolete(g) /\ piece[g][k] # "none" /\ piece' = [piece EXCEPT ![g][k] = "none"]
  /\ UNCHANGED <<term, pointer, staged, wanted, coord, running, gate, retained, pointed>> /\ countersUnchanged

--------------------------------------------------------------------------------------------------------------------
(* Staging comes to an end: torn pieces are finitely many. *)
Goes(c) == (\E k \in Piece : Stage(c, k)) \/ Point(c) \/ Release(c) \/ Refused(c)
           \/ (coord[c].at = "stage" /\ Whole(coord[c].gen) /\ Validate(c))
Next ==
  \/ \E c \in Coordinator : TakeOver(c) \/ TakeOverEarly(c) \/ Goes(c) \/ Validate(c)
  \/ Request \/ Crash
  \/ \E r \in Reader : Retain(r) \/ Free(r)
  \/ \E g \in Gen, k \in Piece : Reclaim(g, k)

(* Somebody takes over when it is needed, and goes on; readers leave; what is obsolete is reclaimed. *)
Fair ==
  /\ WF_vars(\E c \in Coordinator : TakeOver(c))
  /\ \A c \in Coordinator : WF_vars(Goes(c))
  /\ \A r \in Reader : WF_vars(Free(r))
  /\ \A g \in Gen : SF_vars(\E k \in Piece : Reclaim(g, k))
Spec == Init /\ [][Next]_vars /\ Fair

--------------------------------------------------------------------------------------------------------------------
TypeOK ==
  /\ term \in Nat /\ pointer \in [gen : 0..MaxGen, request : 0..MaxRequest] /\ wanted \in 1..MaxRequest
  /\ piece \in [Gen -> [Piece -> {"none", "torn", "good"}]] /\ staged \in [Gen -> Nat]
  /\ \A c \in Coordinator : coord[c].at \in {"rest", "stage", "point", "release"} /\ coord[c].gen \in 0..MaxGen
  /\ running \in 0..MaxGen /\ gate \in BOOLEAN /\ retained \in [Reader -> 0..MaxGen]

(* E9.I1: what the pointer names is whole. *)
E9I1_PointedIsWhole == pointer.gen # 0 => Whole(pointer.gen)

(* E9.I2: the gate is open exactly when something runs, and that is what the pointer names and the last request wants. *)
E9I2_GateAndStateAreOne ==
  (gate <=> running # 0) /\ (gate => running = pointer.gen /\ pointer.request = wanted)

(* E9.I3: a coordinator that was fenced publishes nothing. *)
E9I3_StaleIsRefused ==
  [][pointer' # pointer => \E c \in Coordinator : coord[c].at = "point" /\ coord[c].gen = pointer'.gen /\ coord[c].term = term]_vars

(* E9.I4: a retry is exact: a request leads to one generation. *)
E9I4_RetryIsExact == \A p, q \in pointed : p.request = q.request => p.gen = q.gen

(* E9.I5: a generation that a reader retains stays whole. *)
E9I5_RetainedIsWhole == \A r \in Reader : retained[r] # 0 => Whole(retained[r])

(* E9: every request is carried out, and runs. *)
E9L1_RequestRuns == \A q \in 1..MaxRequest : (wanted = q) ~> (pointer.request >= q /\ (gate \/ wanted > q))

(* E9: older generations are reclaimed. *)
E9L2_OldIsReclaimed == \A g \in Gen : (staged[g] # 0 /\ g < pointer.gen) ~> (\A k \in Piece : piece[g][k] = "none")
=============================================================================
