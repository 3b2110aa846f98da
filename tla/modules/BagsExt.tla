---- MODULE BagsExt ----
EXTENDS Bags, Integers, Folds
BagAdd(B, x) == B (+) SetToBag({x})
BagRemove(B, x) == B (-) SetToBag({x})
BagRemoveAll(B, x) == [e \in DOMAIN B \ {x} |-> B[e]]
FoldBag(op(_, _), base, B) ==
  LET RECURSIVE All(_, _)
      All(acc, C) == IF C = EmptyBag THEN acc ELSE LET x == CHOOSE x \in DOMAIN C : TRUE IN All(op(acc, x), BagRemove(C, x))
  IN All(base, B)
SumBag(B) == FoldBag(LAMBDA a, b : a + b, 0, B)
ProductBag(B) == FoldBag(LAMBDA a, b : a * b, 1, B)
MapThenFoldBag(op(_, _), base, f(_), choose(_), B) ==
  LET RECURSIVE Rest(_)
      Rest(C) == IF C = EmptyBag THEN base ELSE LET x == choose(DOMAIN C) IN op(f(x), Rest(BagRemove(C, x)))
  IN Rest(B)
====
