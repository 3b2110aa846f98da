------------------------------ MODULE MCDedupe ------------------------------
(* Small models of Dedupe: what each source sends, again and again.          *)
EXTENDS Dedupe

CONSTANT Sends   \* attempt -> its keys, in order

Both == [a \in {"1", "2"} |-> IF a = "1" THEN <<"k", "l">> ELSE <<"l">>]
Three == [a \in {"1", "2", "3"} |-> IF a = "3" THEN <<"k", "l">> ELSE <<"k">>]

NotSeen(k) == seen[k] = "no"
Groups == {<<a>> : a \in Attempts} \cup {<<a, b>> : a, b \in Attempts}
Distinct(g) == \A m, n \in DOMAIN g : g[m] = g[n] => m = n
Sent(a) == a \notin acked /\ Pass(a, Range(Sends[a]), SelectSeq(Sends[a], NotSeen))

Deduplicates(a) == Submit(a) \/ Answer(a) \/ Learn(a) \/ Settled(a)
Works == Write \/ Sync \/ Land \/ Recorded \/ CutBack

Next ==
  \/ Open \/ Die \/ Begin(rows.keys) \/ StoreSync
  \/ \E a \in Attempts : Sent(a) \/ Deduplicates(a) \/ Drop(a) \/ Late(a)
  \/ \E g \in Groups : Distinct(g) /\ Take(g)
  \/ Works \/ WriteFails \/ SyncFails \/ Refused \/ Unknown \/ CutFails

Spec == Init /\ [][Next]_vars

\* A node is started, goes on and syncs; what is not acknowledged is sent again.
Fairness ==
  /\ WF_vars(Open) /\ WF_vars(Begin(rows.keys)) /\ WF_vars(StoreSync /\ kept # rows) /\ WF_vars(Works)
  /\ WF_vars(\E g \in Groups : Distinct(g) /\ Take(g))
  /\ \A a \in Attempts :
       /\ WF_vars(Sent(a)) /\ WF_vars(Submit(a)) /\ WF_vars(Answer(a)) /\ WF_vars(Learn(a)) /\ WF_vars(Settled(a))
       /\ WF_vars(Late(a) /\ UNCHANGED faults)

FairSpec == Spec /\ Fairness

\* Every delivery is acknowledged in the end.
E2_AllAcked == \A a \in Attempts : <>(a \in acked)
=============================================================================
