package graph

import (
	"slices"
	"strings"
)

// edge is a processor's edge between two relays, by name.
type edge struct {
	from, to  string
	processor entry
}

func (l *loader) produce(relay string) {
	l.placed.produced = append(l.placed.produced, relay)
}

func (l *loader) consume(relay string) {
	l.placed.consumed = append(l.placed.consumed, relay)
}

// checkRelays reports relays without one of their ends. Uses count by name, also those by parts that
// are faulty in another way.
func (l *loader) checkRelays() {
	for _, name := range l.relays.names {
		n := l.relays.nodes[name]
		if !slices.Contains(l.placed.produced, name) {
			l.at(n, join("relays", name), "no source, processor or emit feeds this relay")
		}
		if !slices.Contains(l.placed.consumed, name) {
			l.at(n, join("relays", name), "no processor, sink or channel consumes this relay: its records would be lost")
		}
	}
}

// checkCycles reports each processor that closes a cycle of the ones before it. In a cycle a batch
// would hold the acknowledgement that it waits for, and full queues would wait for each other. A way
// from a flow back into a relay is no such cycle: an emission leaves by the outbox, after its commit.
func (l *loader) checkCycles() {
	for i, u := range l.edges {
		if way := l.way(u.to, u.from, l.edges[:i]); way != nil {
			l.at(u.processor.key, join("processors", u.processor.name),
				"closes a cycle: "+strings.Join(append([]string{u.from}, way...), " → "))
		}
	}
}

// way returns a shortest way of relays between two, both included, or nil. Each relay is visited once.
func (l *loader) way(from, to string, edges []edge) []string {
	if from == "" || to == "" {
		return nil
	}
	before := map[string]string{from: ""}
	queue := []string{from}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if at == to {
			var way []string
			for ; at != ""; at = before[at] {
				way = append(way, at)
			}
			slices.Reverse(way)
			return way
		}
		for _, e := range edges {
			if _, seen := before[e.to]; e.from == at && !seen {
				before[e.to] = at
				queue = append(queue, e.to)
			}
		}
	}
	return nil
}
