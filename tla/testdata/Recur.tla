---- MODULE Recur ----
(* Actions defined by recursion: Add assigns x in its last call, Each assigns one entry of f per call. *)
EXTENDS Naturals
VARIABLES x, f

Init == x = 0 /\ f = <<0, 0>>

RECURSIVE Add(_)
Add(n) == IF n = 0 THEN x' = x ELSE x' = (x + n) % 5 \/ Add(n - 1)

RECURSIVE Any(_, _)
Any(i, k) == i <= k /\ (f' = [f EXCEPT ![i] = (@ + 1) % 2] \/ Any(i + 1, k))

Next == Add(3) /\ Any(1, 2)
Still == Add(0) /\ Any(3, 2)
Small == x < 5
Never == f # <<1, 1>>
====
