---- MODULE Bitwise ----
EXTENDS Integers
====
