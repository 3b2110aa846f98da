---- MODULE SVG ----
EXTENDS Integers, TLC
LOCAL Join(a, b) == a @@ b
SVGElem(n, a, c, t) == [name |-> n, attrs |-> a, children |-> c, innerText |-> t]
Line(x1, y1, x2, y2, attrs) == SVGElem("line", Join([x1 |-> x1, y1 |-> y1, x2 |-> x2, y2 |-> y2], attrs), <<>>, "")
Circle(cx, cy, r, attrs) == SVGElem("circle", Join([cx |-> cx, cy |-> cy, r |-> r], attrs), <<>>, "")
Rect(x, y, w, h, attrs) == SVGElem("rect", Join([x |-> x, y |-> y, width |-> w, height |-> h], attrs), <<>>, "")
Text(x, y, text, attrs) == SVGElem("text", Join([x |-> x, y |-> y], attrs), <<>>, text)
Image(x, y, w, h, href, attrs) == SVGElem("image", Join([x |-> x, y |-> y, width |-> w, height |-> h, href |-> href], attrs), <<>>, "")
LOCAL AsSeq(f) == IF DOMAIN f \subseteq Nat THEN f ELSE [i \in 1..Cardinality(DOMAIN f) |-> f[CHOOSE k \in DOMAIN f : TRUE]]
Group(children, attrs) == SVGElem("g", attrs, children, "")
Svg(children, attrs) == SVGElem("svg", attrs, children, "")
SVGDoc(children, x, y, w, h, attrs) == Svg(<<children>>, Join("viewBox" :> ToString(x) \o " " \o ToString(y) \o " " \o ToString(w) \o " " \o ToString(h), attrs))
PointOnLine(from, to, part) == [x |-> from.x + ((to.x - from.x) \div part), y |-> from.y + ((to.y - from.y) \div part)]
====
