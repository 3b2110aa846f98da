---- MODULE Functions ----
EXTENDS Integers, Folds
Restrict(f, S) == [x \in S |-> f[x]]
RestrictDomain(f, Test(_)) == Restrict(f, {x \in DOMAIN f : Test(x)})
RestrictValues(f, Test(_)) == Restrict(f, {x \in DOMAIN f : Test(f[x])})
IsRestriction(narrow, wide) == DOMAIN narrow \subseteq DOMAIN wide /\ \A x \in DOMAIN narrow : narrow[x] = wide[x]
Range(f) == {f[x] : x \in DOMAIN f}
Pointwise(f, g, T(_, _)) == [x \in DOMAIN f |-> T(f[x], g[x])]
Inverse(f, S, T) == [t \in T |-> CHOOSE s \in S : t \in Range(f) => f[s] = t]
AntiFunction(f) == Inverse(f, DOMAIN f, Range(f))
IsInjective(f) == \A a, b \in DOMAIN f : f[a] = f[b] => a = b
Injection(S, T) == {f \in [S -> T] : IsInjective(f)}
Surjection(S, T) == {f \in [S -> T] : \A t \in T : \E s \in S : f[s] = t}
Bijection(S, T) == {f \in Injection(S, T) : \A t \in T : \E s \in S : f[s] = t}
ExistsInjection(S, T) == Injection(S, T) # {}
ExistsSurjection(S, T) == Surjection(S, T) # {}
ExistsBijection(S, T) == Bijection(S, T) # {}
FoldFunction(op(_, _), base, f) == base
FoldFunctionOnSet(op(_, _), base, f, S) == base
SumFunctionOnSet(f, S) == FoldFunctionOnSet(LAMBDA a, b : a + b, 0, f, S)
SumFunction(f) == SumFunctionOnSet(f, DOMAIN f)
====
