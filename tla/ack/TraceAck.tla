------------------------------ MODULE TraceAck ------------------------------
(* Ack as executions of the code are checked against it. Shares and tasks that are in the same situation are alike,  *)
(* so an event need not name them: any of them takes the step. Nobody parks yet.                                   *)
EXTENDS Ack

TraceInit ==
  \E n \in 0..Cardinality(Share) :
    /\ pending = [left |-> n, decided |-> n = 0, failed |-> FALSE]
    /\ tracking = [phase |-> 0, active |-> n]
    /\ share = [s \in Share |-> IF s <= n THEN "held" ELSE "none"]
    /\ task = [t \in Task |-> IF n = 0 /\ t = 0 THEN [at |-> "enter", set |-> {}, fail |-> FALSE, root |-> TRUE] ELSE Idle]
    /\ cause = "none" /\ receiver \in BOOLEAN /\ told = <<>> /\ parks = 0

(* One of the tasks at a step; which one does not matter. *)
Some(step) == CHOOSE t \in Task : task[t].at = step
AnyAt(step) == (\E t \in Task : task[t].at = step) = TRUE   \* a test, not a choice of t

(* first: nobody has taken this share before. *)
TraceTake(first, fail) ==
  /\ first
  /\ In("held") # {}
  /\ AnyAt("idle") /\ Take(Some("idle"), CHOOSE s \in Share : share[s] = "held", fail)

Lowering(fail) == {t \in Task : task[t].at = "lower" /\ task[t].fail = fail}
TraceLower(fail) == Lowering(fail) # {} /\ Lower(CHOOSE t \in Lowering(fail) : TRUE)
TraceEnter == AnyAt("enter") /\ Enter(Some("enter"))
TraceKeep == AnyAt("keep") /\ Keep(Some("keep"))
TraceLeave == AnyAt("leave") /\ Leave(Some("leave"))
TraceNotify == AnyAt("notify") /\ Notify(Some("notify"))
TraceRetire == AnyAt("retire") /\ Retire(Some("retire"))

(* New shares are the next ones in order. *)
Used == {s \in Share : share[s] # "none" \/ \E t \in Task : task[t].at = "reserve" /\ s \in task[t].set}
TraceRaise(n) == AnyAt("idle") /\ LET u == Cardinality(Used) IN Raise(Some("idle"), (u + 1)..(u + n))
Attaching(n) == {t \in Task : task[t].at = "reserve" /\ Cardinality(task[t].set) = n}
TraceReserve(n) == Attaching(n) # {} /\ Reserve(CHOOSE t \in Attaching(n) : TRUE)
TraceRefuse(n) == Attaching(n) # {} /\ Refuse(CHOOSE t \in Attaching(n) : TRUE)
=============================================================================
