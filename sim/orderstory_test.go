package sim

import "github.com/millrace-dev/millrace/core/sched"

// begins starts an actor in a scope.
func begins(who string, scope func(*orderWorld) *sched.Scope) act {
	return func(e *orderWorld) { e.s.Go(scope(e), who, e.actor(who)) }
}
func begin(who string) act { return func(e *orderWorld) { e.w.Go(who, e.actor(who)) } }
func beginOnNode(who string) act {
	return func(e *orderWorld) {
		e.node = e.w.Node("n")
		e.node.Go(who, e.actor(who))
		e.w.tasks[len(e.w.tasks)-1].name = who
	}
}

func join(scope func(*orderWorld) *sched.Scope) act { return func(e *orderWorld) { scope(e).Join() } }
func root(e *orderWorld) *sched.Scope               { return e.w.Scope() }
func joinAll(e *orderWorld)                         { e.w.Join() }
func rootEnds(e *orderWorld)                        { sched.Select2(e.d.OnReceive(), e.w.Scope().Done()) }
func finally(e *orderWorld)                         { e.w.Finally(func() { write(e) }) }
func store(i int) act                               { return func(e *orderWorld) { e.flag[i].Store(1) } }

func load(i int) act      { return func(e *orderWorld) { must(e, e.flag[i].Load() == 1) } }
func waits(e *orderWorld) { e.cond.Wait() }

func crash(e *orderWorld) { e.node.Crash() }

// stories are histories that are no hand-over by operations alone.
var stories = []struct {
	name  string
	born  string // actors that a step starts
	races bool
	history
}{
	{"go → start", "B", false, history{{"A", write}, {"A", begins("B", top)}, {"B", write}}},
	{"go → start of a task of the check", "B", false, history{{"A", write}, {"A", begin("B")}, {"B", write}}},
	{"go → start on a node", "B", false, history{{"A", write}, {"A", beginOnNode("B")}, {"B", write}}},
	{"after go", "B", true, history{{"A", begins("B", top)}, {"A", write}, {"B", write}}},
	{"after go, read", "B", true, history{{"A", begin("B")}, {"B", write}, {"A", read}}},
	{"what came to the starter → start", "B", false, history{
		{"Z", write}, {"Z", store(0)}, {"A", load(0)}, {"A", begins("B", top)}, {"B", write},
	}},
	{"one start, another", "BC", true, history{{"A", begin("B")}, {"A", begin("C")}, {"B", write}, {"C", write}}},
	{"the starts of two", "", true, history{{"A", write}, {"B", write}}},
	{"two reads", "", false, history{{"A", read}, {"B", read}}},

	{"end → join", "A", false, history{{"X", begins("A", top)}, {"A", write}, {"X", join(top)}, {"X", write}}},
	{"end → join that waits", "A", false, history{{"X", begins("A", top)}, {"X", join(top)}, {"A", write}, {"X", write}}},
	{"end → close", "A", false, history{{"X", begins("A", top)}, {"A", write}, {"X", func(e *orderWorld) { e.scope.Close() }}, {"X", write}}},
	{"end below → join above", "A", false, history{{"X", begins("A", low)}, {"A", write}, {"X", join(top)}, {"X", write}}},
	{"end above, join below", "A", true, history{{"X", begins("A", top)}, {"A", write}, {"X", join(low)}, {"X", write}}},
	{"end → join of both", "AB", false, history{
		{"X", begins("A", top)}, {"X", begins("B", top)}, {"A", read}, {"B", read}, {"X", join(top)}, {"X", write},
	}},
	{"end → the body's join", "", false, history{{"A", write}, {body, joinAll}, {body, write}}},
	{"without a join", "", true, history{{"A", write}, {body, write}}},
	{"end → finally", "", false, history{{body, finally}, {"A", write}, {"B", store(0)}}},
	{"end → end of the root scope", "O", false, history{{"X", begins("O", root)}, {"O", rootEnds}, {"A", write}, {"B", store(0)}, {"O", write}}},
	{"crash → finally", "N", false, history{
		{"X", beginOnNode("N")}, {body, finally}, {"N", write}, {"N", recv(1)}, {"X", crash}, {"X", store(1)},
	}},

	{"waiting on a condition frees its mutex", "", false, history{
		{"A", lock}, {"A", write}, {"A", waits}, {"B", lock}, {"B", write}, {"B", signal}, {"B", unlock}, {"A", write}, {"A", unlock},
	}},
	{"a condition's waiter locks again", "", false, history{
		{"A", lock}, {"A", waits}, {"B", signal}, {"B", lock}, {"B", write}, {"B", unlock}, {"A", unlock},
	}},
	{"one signal, another's wait", "", true, history{
		{"A", lock}, {"A", waits}, {"B", write}, {"C", signal}, {"A", write}, {"A", unlock},
	}},

	{"a release of too few, an acquire that ends", "", true, history{
		{"X", acquire(2)},
		{"A", write},
		{"A", units(1)},
		{"B", within(func(e *orderWorld) error { return e.sem.Acquire(e.scope, 2) })},
		{"Y", cancel},
		{"B", write},
	}},
	{"an acquire that ends lets another go on, then writes", "", true, history{
		{"X", acquire(1)},
		{"A", within(func(e *orderWorld) error { return e.sem.Acquire(e.scope, 2) })},
		{"B", acquire(1)},
		{"Y", cancel},
		{"A", write},
		{"B", write},
	}},

	{"the read of somebody else", "", true, history{{"A", read}, {"B", read}, {"A", store(0)}, {"C", load(0)}, {"C", write}}},
	{"the first read of two", "", true, history{{"A", read}, {"B", read}, {"B", store(0)}, {"C", load(0)}, {"C", write}}},
	{"a read after a release", "", true, history{{"A", read}, {"A", store(0)}, {"A", read}, {"B", load(0)}, {"B", write}}},
	{"a write after a release", "", true, history{{"A", write}, {"A", store(0)}, {"A", write}, {"B", load(0)}, {"B", read}}},
	{"the write before the last", "", false, history{
		{"A", write}, {"A", store(0)}, {"B", load(0)}, {"B", write}, {"B", store(1)}, {"C", load(1)}, {"C", write},
	}},
	{"a read behind an ordered write", "", true, history{
		{"A", write}, {"A", store(0)}, {"B", load(0)}, {"B", write}, {"C", read},
	}},
	{"one's own accesses", "", false, history{{"A", write}, {"A", read}, {"A", store(0)}, {"A", write}, {"A", read}}},
}
