----------------------------- MODULE TraceFlip -----------------------------
(* Flip as executions of the code are checked against it. The lanes' queues, what was acknowledged and where the       *)
(* coordinator is are hidden: the actions determine them. Attempts, failures and crashes have no bound.                *)
EXTENDS Flip

TraceBegin == Begin
TracePost(l) == Post(l)
TraceDecide == Decide
TracePublish == Publish
TraceAbort == Abort
TraceFence == Fence
TraceOccupied == Occupied
TraceRetire == Retire
TraceRequest(c, l, kind) == Request(c, l, kind)
TraceControl(l) == Control(l)
TraceKnowFails(l) == KnowFails(l)
TraceTake(l) == Take(l)
TraceServe(l) == Serve(l)
TraceCrash == Crash
=============================================================================
