package oneactor

import (
	"fmt"
	"slices"
)

// begin enters an activity: its variables, its boundary events, then what it does.
func (i *instance) begin(t *token) {
	i.open(t)
	n := t.at
	switch n.kind {
	case "scriptTask":
		i.results(t, map[string]any{n.variable: n.script(i.sight(t).lookup)})
	case "userTask":
		i.waits = append(i.waits, &wait{token: t, on: n, kind: "user"})
		return
	case "serviceTask":
		w := &wait{token: t, on: n, kind: "task", name: n.taskType, retries: n.retries, offered: i.engine.now}
		i.engine.offer(w)
		i.waits = append(i.waits, w)
		return
	case "receiveTask":
		i.event(t, n, false)
		return
	case "subProcess", "callActivity":
		i.inside(t)
		return
	default:
		i.outputs(t, i.sight(t))
	}
	i.leave(t, n.out)
}

// open makes the variables and the boundary events of an activity; the events once.
func (i *instance) open(t *token) {
	if t.at.inputs != nil {
		t.local = i.scope(t.scope, t, t.scope.process, map[string]any{})
		for _, m := range t.at.inputs {
			t.local.variables[m.target] = m.source(t.scope.lookup)
		}
	}
	if t.begun {
		return
	}
	t.begun = true
	for _, b := range t.at.boundary {
		if !b.catches {
			i.event(t, b, true)
		}
	}
}

// inside enters a subprocess or a called process. A subprocess has variables of its own when it has input mappings.
func (i *instance) inside(t *token) {
	if t.scope.depth+1 >= maxScopes {
		t.incident = "depth-bound"
		return
	}
	n := t.at
	s := i.scope(i.sight(t), t, n.inside, nil)
	if n.kind == "callActivity" {
		variables := map[string]any{}
		switch {
		case !n.noParent:
			variables = i.sight(t).all()
		case t.local != nil:
			variables = t.local.variables
		}
		s = i.scope(i.sight(t), t, i.engine.program.processes[n.called], variables)
		s.called = true
	}
	t.inside = s
	i.spawn(s, s.process.start)
}

// sight is the scope whose variables a token at an activity sees.
func (i *instance) sight(t *token) *scope {
	if t.local != nil {
		return t.local
	}
	return t.scope
}

// results gives the variables that an activity or event ended with to the instance.
func (i *instance) results(t *token, values map[string]any) {
	if t.at.outputs == nil {
		for name, value := range values { //order:each name is set once
			i.sight(t).assign(name, value)
		}
		return
	}
	own := i.scope(i.sight(t), t, t.scope.process, values)
	i.outputs(t, own)
}

// outputs maps what a scope sees to variables around the activity.
func (i *instance) outputs(t *token, s *scope) {
	for _, m := range t.at.outputs {
		t.scope.assign(m.target, m.source(s.lookup))
	}
}

// await opens the wait of an event, or those of all events behind a gateway.
func (i *instance) await(t *token) {
	if t.at.kind != "eventBasedGateway" {
		i.event(t, t.at, false)
		return
	}
	for _, f := range t.at.out {
		i.event(t, f.to, false)
	}
}

// event opens the wait for a message or timer. A message's key is evaluated in the scope around the element. What keeps an event
// from waiting is an incident of its own: its activity, and the other events of a gateway, go on.
func (i *instance) event(t *token, n *node, boundary bool) {
	w := &wait{token: t, on: n, boundary: boundary}
	i.waits = append(i.waits, w)
	if n.message == nil {
		w.kind, w.due, w.repeats = "timer", i.engine.now+n.timer.seconds, n.timer.repeats
		return
	}
	w.kind, w.name, w.key = "message", n.message.name, text(n.message.key(t.scope.lookup))
	if w.key == "" {
		w.stick("expression-failed")
	}
	for _, other := range i.engine.instances {
		taken := func(x *wait) bool { return x.kind == "message" && x.name == w.name && x.key == w.key }
		if other != i && slices.ContainsFunc(other.waits, taken) {
			w.stick("alias-taken")
		}
	}
}

// stick makes an incident of a wait.
func (w *wait) stick(incident string) { w.kind, w.incident = "stuck", incident }

// text is a key as it is compared.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

// fire is what happens to the token of a wait when what it waits for has come.
func (i *instance) fire(w *wait, values map[string]any) {
	t := w.token
	switch {
	case w.boundary && w.on.interrupt:
		i.remove(t)
		i.pass(t.scope, w.on, values)
	case w.boundary:
		i.again(w)
		i.pass(t.scope, w.on, values)
	case t.at.kind == "eventBasedGateway":
		i.remove(t)
		i.pass(t.scope, w.on, values)
	default:
		i.withdraw(w)
		i.results(t, values)
		i.leave(t, t.at.out)
	}
	i.run()
}

// pass goes on behind an event that has happened.
func (i *instance) pass(s *scope, n *node, values map[string]any) {
	t := &token{scope: s, at: n}
	i.tokens = append(i.tokens, t)
	i.results(t, values)
	i.leave(t, n.out)
}

// again keeps an event that does not interrupt: a message is waited for anew, behind the other waits, and a timer as often as it says.
func (i *instance) again(w *wait) {
	i.withdraw(w)
	next := *w
	if w.kind == "timer" {
		if next.repeats > 0 {
			next.repeats--
		}
		if next.repeats == 0 {
			return
		}
		next.due = i.engine.now + w.on.timer.seconds
	}
	i.waits = append(i.waits, &next)
}
