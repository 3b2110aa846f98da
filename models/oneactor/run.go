package oneactor

// run takes every token that can go on to where it cannot, in the order in which they became able to.
func (i *instance) run() {
	i.visits = 0
	for len(i.ready) > 0 {
		t := i.ready[0]
		i.ready = i.ready[1:]
		if t.gone {
			continue
		}
		if i.visits++; i.visits > maxVisits {
			t.incident = "step-bound"
			continue
		}
		i.enter(t)
	}
}

// enter is what a token does at the node it has come to.
func (i *instance) enter(t *token) {
	switch t.at.kind {
	case "startEvent":
		i.leave(t, t.at.out)
	case "endEvent":
		i.finish(t)
	case "exclusiveGateway":
		i.choose(t)
	case "parallelGateway":
		i.join(t)
	case "eventBasedGateway":
		i.await(t)
	case "intermediateCatchEvent":
		i.await(t)
	default:
		i.begin(t)
	}
}

// leave moves the token on along the first flow and copies of it along the others; without a flow it ends.
func (i *instance) leave(t *token, flows []*flow) {
	s := t.scope
	i.remove(t)
	for _, f := range flows {
		i.spawn(s, f.to).via = f
	}
	i.check(s)
}

// check completes a scope that nothing is left of.
func (i *instance) check(s *scope) {
	if i.status != running {
		return
	}
	for _, t := range i.tokens {
		if t.scope == s {
			return
		}
	}
	if s.owner == nil {
		i.end(completed)
		return
	}
	i.complete(s)
}

// complete goes on behind an activity whose inside has ended.
func (i *instance) complete(s *scope) {
	t := s.owner
	t.inside = nil
	switch {
	case !s.called:
		i.outputs(t, s)
	case t.at.noChild:
		i.outputs(t, s)
	default:
		i.results(t, s.variables)
	}
	i.leave(t, t.at.out)
}

// choose takes the first flow whose condition is true, in the order of the file, else the default.
func (i *instance) choose(t *token) {
	for _, f := range t.at.out {
		if f == t.at.fallback {
			continue
		}
		if f.condition == nil || f.condition(t.scope.lookup) == true {
			i.leave(t, []*flow{f})
			return
		}
	}
	if t.at.fallback == nil {
		t.incident = "no-true-flow"
		return
	}
	i.leave(t, []*flow{t.at.fallback})
}

// join holds the token until each incoming flow holds one; a second one on a flow is for the next round.
func (i *instance) join(t *token) {
	arrived := t.scope.arrived[t.at]
	if arrived == nil {
		arrived = map[*flow]int{}
		t.scope.arrived[t.at] = arrived
	}
	arrived[t.via]++
	t.held = true
	for _, f := range t.at.in {
		if arrived[f] == 0 {
			return
		}
	}
	for _, f := range t.at.in {
		arrived[f]--
		for _, other := range i.tokens {
			if other != t && other.held && other.scope == t.scope && other.at == t.at && other.via == f && f != t.via {
				i.remove(other)
				break
			}
		}
	}
	i.leave(t, t.at.out)
}

// finish is the end of a token, and of more when it terminates or throws.
func (i *instance) finish(t *token) {
	switch {
	case t.at.throws:
		i.throw(t, t.at.errorCode)
	case t.at.terminate:
		s := t.scope
		i.clear(s)
		i.check(s)
	default:
		i.leave(t, nil)
	}
}

// throw looks for the innermost activity around a token with an event for the error: first one that names its code.
func (i *instance) throw(t *token, code string) {
	for at := t; at != nil; at = at.scope.owner {
		for _, named := range []bool{true, false} {
			for _, b := range at.at.boundary {
				if b.catches && (b.errorCode == code) == named && (named || b.errorCode == "") {
					i.interrupt(at, b)
					return
				}
			}
		}
	}
	t.incident = "error-uncaught"
}

// interrupt ends an activity with everything inside and goes on behind a boundary event of it.
func (i *instance) interrupt(t *token, b *node) {
	s := t.scope
	i.remove(t)
	u := i.spawn(s, b)
	i.ready = i.ready[:len(i.ready)-1] // it is behind the event already
	i.leave(u, b.out)
}
