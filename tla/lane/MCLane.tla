------------------------------- MODULE MCLane -------------------------------
(* Small models of Lane: two lanes with one place each, three or            *)
(* four callers: as many as two loops and two full queues hold.             *)
EXTENDS Lane

ThreeWants == [c \in {"p", "q", "r"} |-> IF c = "r" THEN "j" ELSE "i"]
FourWants == [c \in {"p", "q", "r", "s"} |-> IF c \in {"r", "s"} THEN "j" ELSE "i"]
NoAnswer(l) == FALSE
=============================================================================
