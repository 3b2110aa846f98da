---- MODULE IOUtils ----
EXTENDS Integers
zeroPadN(n, width) == n
====
