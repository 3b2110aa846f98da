----------------------------- MODULE TraceDedupe -----------------------------
(* Dedupe as executions of the code are checked against it. An attempt is   *)
(* one delivery that passed, in the order of their passing. What the store  *)
(* shows, visible and durable, and the lines of the file are shown; what a  *)
(* crash leaves of the file shows when the next life has cut it. Faults     *)
(* have no bound.                                                           *)
EXTENDS Dedupe

\* A new life begins; the one before has ended, or was stopped where it was.
TraceOpen == rows.len <= Len(file) /\ Begins
TraceCrash == Crash /\ UNCHANGED faults
TraceStoreSync == StoreSync
TraceBegin(ks) == Begin(ks)

TracePass(a, ks, fresh, holders) == holders = Holders(ks) \ Range(fresh) /\ Pass(a, ks, fresh)
TraceAnswer(a) == Answer(a)
TraceLearn(a) == Learn(a)
TraceSubmit(g) == Submit(g[1])
TraceDrop(g) == Drop(g[1])
TraceTake(g) == Take(g)
TraceSettled(g) == Settled(g[1])
TraceLate(g, isFenced) == Late(g[1]) /\ unit'[g[1]] = (IF isFenced THEN "fenced" ELSE "refused")

TraceWrite == Write
TraceWriteFails == WriteFails
TraceSync == Sync
TraceSyncFails == SyncFails
TraceLand == Land
TraceRecorded == Recorded
TraceRefused == Refused
TraceUnknown == Unknown
TraceCutBack == CutBack
TraceCutFails == CutFails
=============================================================================
