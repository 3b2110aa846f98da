---- MODULE UndirectedGraphs ----
LOCAL INSTANCE Naturals
LOCAL INSTANCE Sequences
LOCAL INSTANCE SequencesExt
LOCAL INSTANCE FiniteSets
LOCAL INSTANCE Relation
IsUndirectedGraph(G) == G = [node |-> G.node, edge |-> G.edge] /\ \A e \in G.edge : e \subseteq G.node /\ Cardinality(e) \in {1, 2}
IsLoopFreeUndirectedGraph(G) == G = [node |-> G.node, edge |-> G.edge] /\ \A e \in G.edge : e \subseteq G.node /\ Cardinality(e) = 2
UndirectedSubgraph(G) == {H \in [node : SUBSET G.node, edge : SUBSET G.edge] : \A e \in H.edge : e \subseteq H.node}
Path(G) == {p \in Seq(G.node) : p # <<>> /\ \A i \in 1..(Len(p) - 1) : {p[i], p[i + 1]} \in G.edge}
SimplePath(G) == {p \in SeqOf(G.node, Cardinality(G.node)) : /\ p # <<>>
                                                            /\ Cardinality({p[i] : i \in DOMAIN p}) = Len(p)
                                                            /\ \A i \in 1..(Len(p) - 1) : {p[i], p[i + 1]} \in G.edge}
LOCAL Reach(G) == ReflexiveTransitiveClosure([x, y \in G.node |-> {x, y} \in G.edge], G.node)
AreConnectedIn(m, n, G) == Reach(G)[m, n]
ConnectedComponents(G) == LET R == Reach(G) IN {{n \in G.node : R[m, n]} : m \in G.node}
IsStronglyConnected(G) == ConnectedComponents(G) = {G.node}
UndirectedGraphs(S) == [node : {S}, edge : SUBSET {{e[1], e[2]} : e \in S \X S}]
====
