-------------------------------- MODULE Late --------------------------------
(* Next values that are assigned more than once, compared, or read within the *)
(* same step, and an invariant whose conjuncts read different variables.      *)
EXTENDS Naturals
VARIABLES s, f, g, h

S == 1..3

Init == s = {} /\ f = [i \in S |-> 0] /\ g = 0 /\ h = {}

(* Both assignments agree. *)
Put(i) == s' = s \cup {i} /\ s' = {i} \cup s /\ UNCHANGED <<f, g, h>>

(* They agree only when i is not there. *)
Drop(i) == s' = s \ {i} /\ UNCHANGED s /\ h' = h \cup {i} /\ h' \in SUBSET S /\ UNCHANGED <<f, g>>

(* The next value of f is read, that of h is not. *)
Count(i) ==
  /\ f[i] < 2
  /\ f' = [f EXCEPT ![i] = @ + 1]
  /\ g' = f'[i]
  /\ h' = h \ {i}
  /\ \E j \in S : s' = s \cup {j}

(* They never agree. *)
Never(i) == f' = [f EXCEPT ![i] = 7] /\ f' = [f EXCEPT ![i] = 8] /\ UNCHANGED <<s, g, h>>

Next == \E i \in S : Put(i) \/ Drop(i) \/ Count(i) \/ Never(i)

Spec == Init /\ [][Next]_<<s, f, g, h>>

Sets == s \subseteq S /\ h \in SUBSET S
Good == /\ Sets
        /\ f \in [S -> 0..2]
        /\ g \in 0..2
        /\ g > 0 => s # {}

Few == Good /\ \A i \in S : f[i] + g < 4
=============================================================================
