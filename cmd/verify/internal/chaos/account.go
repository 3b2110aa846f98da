package chaos

import (
	"fmt"
	"slices"
	"strings"
)

// Evidence is what a run left behind, beside the history: what the account compares the acknowledgements with.
type Evidence struct {
	Stuck     []string   `json:"stuck"`     // keys that did not come to their end after the faults had stopped
	Instances []Instance `json:"instances"` // rows of the flow
	Files     [][]Effect `json:"files"`     // of each replica's file sink
	Posted    []Effect   `json:"posted"`    // at the web hook, once for each Idempotency-Key
	Claims    []Claim    `json:"claims"`    // held when everything was quiet
	Born      []int64    `json:"born"`      // incarnations up to this one are dead, by replica
	Left      Left       `json:"left"`
	Versions  Versions   `json:"versions"`
}

// Instance is a row of the flow.
type Instance struct {
	ID     string   `json:"id"`
	Status int      `json:"status"` // 3: completed
	Key    string   `json:"key"`
	Log    []string `json:"log"`
}

// Claim is one that somebody holds. Roles are claims too.
type Claim struct {
	Instance    string `json:"instance"`
	Replica     string `json:"replica"`
	Incarnation int64  `json:"incarnation"`
	Role        bool   `json:"role"`
}

// Left counts rows of which none may be left.
type Left struct {
	Outbox  int `json:"outbox"`
	Waits   int `json:"waits"`
	Offers  int `json:"offers"`
	Buried  int `json:"buried"` // lines in dead letters
	Running int `json:"running"`
}

// Versions are the positions in the history between which the second version of the package became active. 0: it did not.
type Versions struct {
	Before int64 `json:"before"` // what had ended here started with the first
	After  int64 `json:"after"`  // what began here started with the second
}

// account compares what clients were told with the evidence and returns every difference.
func account(ops []Operation, e Evidence) []string {
	a := accounting{e: e, completed: map[string]Instance{}}
	a.rows()
	a.claims()
	keys, of := byKey(ops)
	for i, file := range e.Files {
		a.exactly(fmt.Sprintf("file of replica %d", i), file)
	}
	a.exactly("web hook", e.Posted)
	filed := distinct(slices.Concat(e.Files...))
	posted := distinct(e.Posted)
	for _, key := range keys {
		a.key(key, of[key], filed[key], posted[key])
	}
	return a.faults
}

type accounting struct {
	e         Evidence
	completed map[string]Instance
	faults    []string
}

func (a *accounting) fault(format string, args ...any) {
	a.faults = append(a.faults, fmt.Sprintf(format, args...))
}

// rows are those of the database.
func (a *accounting) rows() {
	for _, key := range a.e.Stuck {
		a.fault("key %s: stuck after the faults had stopped", key)
	}
	for _, x := range a.e.Instances {
		if was, twice := a.completed[x.Key]; twice {
			a.fault("key %s: two instances, %s and %s", x.Key, was.ID, x.ID)
		}
		if x.Status != statusCompleted {
			a.fault("instance %s of key %s has status %d", x.ID, x.Key, x.Status)
		}
		a.completed[x.Key] = x
	}
	if a.e.Left != (Left{}) {
		a.fault("left behind: %+v", a.e.Left)
	}
}

// statusCompleted is how the database writes it.
const statusCompleted = 3

func (a *accounting) claims() {
	for _, c := range a.e.Claims {
		var number int
		_, err := fmt.Sscanf(c.Replica, "r%d", &number)
		switch {
		case !c.Role:
			a.fault("instance %s is claimed by %s#%d though nothing happens", c.Instance, c.Replica, c.Incarnation)
		case err != nil || number >= len(a.e.Born):
			a.fault("role %s is held by %q, which is no replica", c.Instance, c.Replica)
		case c.Incarnation <= a.e.Born[number]:
			a.fault("role %s is held by the dead: %s#%d", c.Instance, c.Replica, c.Incarnation)
		}
	}
}

// exactly: at one place each emission is once.
func (a *accounting) exactly(where string, effects []Effect) {
	seen := map[[2]string]int{}
	for _, e := range effects {
		if seen[[2]string{e.Key, e.ID}]++; seen[[2]string{e.Key, e.ID}] == 2 {
			a.fault("%s: effect %s/%s more than once", where, e.Key, e.ID)
		}
	}
}

// distinct are the different effects by key, in the order of their numbers.
func distinct(effects []Effect) map[string][]Effect {
	of := map[string][]Effect{}
	for _, e := range effects {
		if !slices.Contains(of[e.Key], e) {
			of[e.Key] = append(of[e.Key], e)
		}
	}
	for _, list := range of {
		slices.SortFunc(list, func(x, y Effect) int { return x.Number - y.Number })
	}
	return of
}

// key compares what its clients were told with its instance and with what came out.
func (a *accounting) key(key string, ops []Operation, filed, posted []Effect) {
	x, ended := a.completed[key]
	sent, opens := map[string]bool{}, 0
	for _, op := range ops {
		sent[op.ID] = sent[op.ID] || op.Kind == Step
		if op.Kind == Open && op.Outcome == Done {
			opens++
		}
		switch {
		case !op.acknowledged():
		case op.Kind == Open && !ended:
			a.fault("key %s: its start was acknowledged as completed, and it has no instance", key)
		case op.Kind == Step && countOf(x.Log, op.ID) != 1:
			a.fault("key %s: step %s was acknowledged and took effect %d times: %q", key, op.ID, countOf(x.Log, op.ID), x.Log)
		default:
		}
	}
	if opens > 1 {
		a.fault("key %s: %d starts were settled as the first", key, opens)
	}
	if !ended {
		return
	}
	for _, id := range x.Log {
		if !sent[id] {
			a.fault("key %s: %s took effect, and nobody sent it", key, id)
		}
	}
	a.came(key, "files", x.Log, filed)
	a.came(key, "web hook", x.Log, posted)
	a.version(key, ops, filed)
}

func countOf(log []string, id string) int {
	n := 0
	for _, x := range log {
		if x == id {
			n++
		}
	}
	return n
}

// came: each step and the end came out, in their order, and nothing else did.
func (a *accounting) came(key, where string, log []string, effects []Effect) {
	want := append(slices.Clone(log), "end")
	got := make([]string, 0, len(effects))
	for i, e := range effects {
		got = append(got, e.ID)
		if e.Number != i+1 || e.Version != effects[0].Version {
			a.fault("key %s: %s: %+v is number %d of an instance of version %d", key, where, e, i+1, effects[0].Version)
		}
	}
	if !slices.Equal(got, want) {
		a.fault("key %s: %s: came %s, want %s", key, where, strings.Join(got, " "), strings.Join(want, " "))
	}
}

// version: after an activation was answered everything new starts with it, and nothing did before it was asked for.
func (a *accounting) version(key string, ops []Operation, effects []Effect) {
	if len(effects) == 0 {
		return
	}
	first, took := int64(0), int64(0) // the first attempt to start; the first sign that it had started
	for _, op := range ops {
		if op.Kind == Open && (first == 0 || op.Call < first) {
			first = op.Call
		}
		if op.acknowledged() && (took == 0 || op.Return < took) {
			took = op.Return
		}
	}
	v := a.e.Versions
	version := effects[0].Version
	if v.Before > 0 && took > 0 && took < v.Before && version != 1 {
		a.fault("key %s had started before the activation began, with version %d", key, version)
	}
	if v.After > 0 && first > v.After && version != 2 {
		a.fault("key %s was started after the activation was answered, with version %d", key, version)
	}
}
