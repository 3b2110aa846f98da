package oneactor

import (
	"slices"

	"github.com/millrace-dev/millrace/models"
)

// The states of an instance.
const (
	running   = "running"
	completed = "completed"
	failed    = "failed"
)

const (
	maxVisits = 1000
	maxScopes = 64
)

// instance is one run of a process: tokens in scopes, and what they wait for. waits and tokens stand in the order in which they
// came to be.
type instance struct {
	engine *Engine
	id     string
	status string
	root   *scope
	tokens []*token
	waits  []*wait
	ready  []*token
	visits int // elements visited in this step
}

// scope is a process, a subprocess or a called process at work. A task with input mappings has one too, of its own variables.
type scope struct {
	outer     *scope // nil: the process itself
	owner     *token // that is at the activity, in the outer scope
	process   *process
	path      string
	called    bool           // variables outside are out of sight
	variables map[string]any // nil: it has none of its own
	arrived   map[*node]map[*flow]int
	depth     int
}

// token is somewhere in a scope: about to enter a node, waiting at it, inside of it, held at a join, or stuck.
type token struct {
	scope    *scope
	at       *node
	via      *flow
	local    *scope // of the activity, when it has mappings
	begun    bool   // the activity has been entered, boundary events are open
	inside   *scope // of the subprocess or called process
	incident string
	held     bool // at a join
	gone     bool
}

// wait is something from outside that a token waits for.
type wait struct {
	token    *token
	on       *node // the element, or its boundary event, or an event behind the gateway
	kind     string
	incident string // of a stuck one
	name     string // of the message or task type
	key      string
	due      int
	repeats  int
	retries  int
	offered  int
	order    int // of the offers
	lock     models.Task
	boundary bool
}

func (t *token) path() string { return t.scope.path + "/" + t.at.id }

func (w *wait) path() string { return w.token.scope.path + "/" + w.on.id }

func (i *instance) scope(outer *scope, owner *token, p *process, variables map[string]any) *scope {
	s := &scope{outer: outer, owner: owner, process: p, arrived: map[*node]map[*flow]int{}}
	if variables != nil {
		s.variables = map[string]any{}
		for name, value := range variables { //order:each name is set once
			s.variables[name] = value
		}
	}
	if outer == nil && variables == nil {
		s.variables = map[string]any{}
	}
	if owner != nil {
		s.path = owner.scope.path + "/" + owner.at.id
		s.depth = owner.scope.depth + 1
	}
	return s
}

// spawn makes a token that is about to enter a node.
func (i *instance) spawn(s *scope, n *node) *token {
	t := &token{scope: s, at: n}
	i.tokens, i.ready = append(i.tokens, t), append(i.ready, t)
	return t
}

// withdraw closes a wait.
func (i *instance) withdraw(w *wait) {
	i.waits = slices.DeleteFunc(i.waits, func(x *wait) bool { return x == w })
}

// remove takes a token away with its waits and everything inside of it.
func (i *instance) remove(t *token) {
	if t.gone {
		return
	}
	t.gone = true
	i.waits = slices.DeleteFunc(i.waits, func(w *wait) bool { return w.token == t })
	i.tokens = slices.DeleteFunc(i.tokens, func(x *token) bool { return x == t })
	i.clear(t.inside)
}

// clear takes every token of a scope away.
func (i *instance) clear(s *scope) {
	if s == nil {
		return
	}
	for _, t := range slices.Clone(i.tokens) {
		if t.scope == s {
			i.remove(t)
		}
	}
}

func (i *instance) end(status string) {
	i.clear(i.root)
	i.status = status
	i.ready = nil
}

// lookup is the value of a variable as a scope sees it.
func (s *scope) lookup(name string) any {
	for at := s; at != nil; at = at.outer {
		if value, is := at.variables[name]; is {
			return value
		}
		if at.called {
			return nil
		}
	}
	return nil
}

// assign sets the innermost variable of the name, or else one of the process.
func (s *scope) assign(name string, value any) {
	at := s
	for {
		_, is := at.variables[name]
		if is || at.outer == nil || at.called {
			break
		}
		at = at.outer
	}
	at.variables[name] = value
}

// all are the variables that a scope sees.
func (s *scope) all() map[string]any {
	seen := map[string]any{}
	for at := s; at != nil; at = at.outer {
		for name, value := range at.variables { //order:each name is set once
			if _, is := seen[name]; !is {
				seen[name] = value
			}
		}
		if at.called {
			break
		}
	}
	return seen
}
