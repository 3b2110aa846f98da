package oneactor

import (
	"encoding/json"
	"fmt"
	"slices"
)

// state is what a commit writes, one fact a line, sorted: variables by scope, waits, incidents, and what joins hold. Numbers
// of tokens and waits are no part of it.
func (i *instance) state() []string {
	lines := variables("", i.root.variables)
	if i.status != running {
		lines = append(lines, "  "+i.status)
	}
	for _, t := range i.tokens {
		path := t.path()
		switch {
		case t.inside != nil && t.inside.called:
			lines = append(lines, variables(path, t.inside.variables)...)
		case t.local != nil:
			lines = append(lines, variables(path, t.local.variables)...)
		default:
		}
		switch {
		case t.incident != "":
			lines = append(lines, fmt.Sprintf("  stuck %s %s", path, t.incident))
		case t.held:
			lines = append(lines, fmt.Sprintf("  held %s by %s", path, t.via.id))
		default:
		}
	}
	for _, w := range i.waits {
		if w.incident != "" {
			lines = append(lines, fmt.Sprintf("  stuck %s %s", w.path(), w.incident))
			continue
		}
		lines = append(lines, "  wait "+w.path()+" "+w.what())
	}
	slices.Sort(lines)
	return lines
}

func variables(path string, values map[string]any) []string {
	var lines []string
	for name, value := range values { //order:the lines are sorted
		lines = append(lines, fmt.Sprintf("  variable %s.%s = %s", path, name, literal(value)))
	}
	return lines
}

// literal is a value as JSON. Values come from programs and deliveries, so they have a form.
func literal(v any) string {
	written, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("value %v has no JSON: %v", v, err))
	}
	return string(written)
}

func (w *wait) what() string {
	switch w.kind {
	case "timer":
		return fmt.Sprintf("timer due %d", w.due)
	case "message":
		return fmt.Sprintf("message %s key %s", w.name, literal(w.key))
	case "task":
		return fmt.Sprintf("task %s retries %d offered %d lock %d until %d", w.name, w.retries, w.since(), w.lock.Number, w.lock.Until)
	default:
		return w.kind
	}
}

// Open is something that an instance waits for, for whoever wants to go on.
type Open struct {
	Instance, Path, Kind string
	Name, Key            string
	Due, Until           int
	Lock                 uint64
}

// Waits are the open waits in their order.
func (e *Engine) Waits() []Open {
	var open []Open
	for _, i := range e.instances {
		for _, w := range i.waits {
			if w.incident != "" {
				continue
			}
			open = append(open, Open{i.id, w.path(), w.kind, w.name, w.key, w.due, w.lock.Until, w.lock.Number})
		}
	}
	return open
}

// Stuck are the tokens and events with incidents, each as an instance and a path.
func (e *Engine) Stuck() []Open {
	var stuck []Open
	for _, i := range e.instances {
		for _, t := range i.tokens {
			if t.incident != "" {
				stuck = append(stuck, Open{Instance: i.id, Path: t.path(), Kind: t.incident})
			}
		}
		for _, w := range i.waits {
			if w.incident != "" {
				stuck = append(stuck, Open{Instance: i.id, Path: w.path(), Kind: w.incident})
			}
		}
	}
	return stuck
}

// Running are the instances that have not ended.
func (e *Engine) Running() []string {
	var ids []string
	for _, i := range e.instances {
		if i.status == running {
			ids = append(ids, i.id)
		}
	}
	return ids
}
