---- MODULE MCTick ----
EXTENDS Tick
====
