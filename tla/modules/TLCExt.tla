---- MODULE TLCExt ----
EXTENDS Naturals
AssertError(msg, e) == TRUE
AssertEq(a, b) == a = b
TLCDefer(e) == TRUE
TLCCache(e, closure) == e
PickSuccessor(e) == TRUE
TLCEvalDefinition(d) == d
CounterExample == [action |-> {}, state |-> {}]
ToTrace(c) == <<>>
====
