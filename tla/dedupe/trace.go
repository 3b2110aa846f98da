// Package dedupe is the binding of the specification Dedupe to the deduplicator E2 and the commit point of G6: which event of which
// Go value is which action of Dedupe.tla, and how the rows of the store and the lines of the file are its variables.
package dedupe

import (
	"bytes"
	"embed"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace-dev/millrace/core/branch"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sink"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/trace/bind"
	"github.com/millrace-dev/millrace/tla/value"
)

//go:embed *.tla *.cfg
var files embed.FS

// The actions of Dedupe that executions report: those of the branch, of the commit point without and with units, and of the store.
var (
	branches = []string{"Begin", "Pass", "Answer", "Learn"}
	points   = []string{"Open", "Write", "WriteFails", "Sync", "SyncFails", "Recorded", "Refused", "Unknown", "CutBack", "CutFails"}
	units    = []string{"Take", "Submit", "Drop", "Settled", "Late"}
	stores   = []string{"Land", "StoreSync", "Crash"}
)

var protocol = bind.New(trace.Options{
	Files: files, Module: "TraceDedupe", Config: "TraceDedupe.cfg", Name: "Dedupe", Prefix: "Trace",
	Actions: slices.Concat(branches, points, units, stores),
})

// Load compiles Dedupe for traces; replace maps names of modules to other texts, those of a mutant.
func Load(replace map[string]string) (*trace.Spec, error) { return protocol.Load(replace) }

// Outside is what survives a node: a store, and the file, whose lines are keys.
type Outside struct {
	Engine  *memory.Engine
	File    string
	Content func() []byte
}

// Attach checks w's execution against Dedupe from now on, one life after the other: a deduplicator with one branch, whose keys are
// those of TraceDedupe.cfg, and a commit point with one file.
func Attach(w *sim.World, o Outside) { protocol.Attach(w, starts(o)) }

// AttachTo is Attach to a specification that was loaded before.
func AttachTo(w *sim.World, spec *trace.Spec, o Outside) { bind.To(w, spec, starts(o)) }

func starts(o Outside) func(*trace.Spec) (bind.Handler, error) {
	return func(spec *trace.Spec) (bind.Handler, error) {
		b := &binding{
			spec: spec, outside: o, rows: spec.Index("rows"), kept: spec.Index("kept"), file: spec.Index("file"),
			shape: spec.Shape("keys", "len"), attempts: bind.Numbers{}, of: map[relay.Settler]value.Value{},
		}
		first, err := b.shown(true)
		if err != nil {
			return nil, err
		}
		b.run, err = spec.Start(first)
		return b.event, err
	}
}

// binding maps one execution.
type binding struct {
	spec             *trace.Spec
	run              *trace.Run
	outside          Outside
	rows, kept, file int
	shape            trace.Shape
	attempts         bind.Numbers                  // reservations, in the order in which they passed
	of               map[relay.Settler]value.Value // the attempt whose unit is settled with it
}

// event takes one event. Those of other specifications are not its business.
func (b *binding) event(owner any, action string, args []any) error {
	action, vals, mine := b.values(owner, action, args)
	if !mine {
		return nil
	}
	// The point alone changes the file, and tells afterwards: at another's event it may have changed already.
	shown, err := b.shown(slices.Contains(points, action))
	if err != nil {
		return err
	}
	return b.run.Step(action, vals, shown)
}

func (b *binding) values(owner any, action string, args []any) (as string, vals []value.Value, mine bool) {
	switch o := owner.(type) {
	case *branch.Keyspace:
		return action, []value.Value{b.set(args[0].([]string))}, true
	case *branch.Reservation:
		return action, b.reservation(o, args), true
	case *sink.Point:
		if settlers := args[0].([]relay.Settler); slices.Contains(units, action) {
			vals = append(vals, b.group(settlers))
		}
		if action == "Late" {
			vals = append(vals, value.Bool(args[1].(bool)))
		}
		return action, vals, true
	case *memory.Engine:
		return b.stored(action, args)
	default:
		return "", nil, false
	}
}

func (b *binding) attempt(r *branch.Reservation) value.Value {
	return b.spec.Str(strconv.Itoa(b.attempts.Of(r)))
}

// reservation maps an event of a delivery: which passes with its keys, or is told what became of it.
func (b *binding) reservation(r *branch.Reservation, args []any) []value.Value {
	a := b.attempt(r)
	if len(args) == 0 {
		return []value.Value{a}
	}
	b.of[args[0].(relay.Settler)] = a
	var holders []value.Value
	for _, h := range args[3].([]*branch.Reservation) {
		holders = append(holders, b.attempt(h))
	}
	return []value.Value{a, b.set(args[1].([]string)), value.NewTuple(b.keys(args[2].([]string))), value.NewSet(holders)}
}

func (b *binding) group(settlers []relay.Settler) value.Value {
	vals := make([]value.Value, len(settlers))
	for i, s := range settlers {
		vals[i] = b.of[s]
	}
	return value.NewTuple(vals)
}

// stored maps an event of the store. The only commit of rows with keys is that of a group.
func (b *binding) stored(action string, args []any) (as string, vals []value.Value, mine bool) {
	switch action {
	case "LandWrite":
		keys := func(r store.Row) bool { return r.Space != sink.LengthSpace }
		return "Land", nil, slices.ContainsFunc(args[0].([]store.Row), keys)
	case "Sync":
		return "StoreSync", nil, true
	default:
		return action, nil, action == "Crash"
	}
}

func (b *binding) set(keys []string) value.Value { return value.NewSet(b.keys(keys)) }

// keys maps keys as the store has them.
func (b *binding) keys(stored []string) []value.Value {
	vals := make([]value.Value, len(stored))
	for i, k := range stored {
		_, key, _ := strings.Cut(k, "=")
		vals[i] = b.spec.Str(key)
	}
	return vals
}

// shown maps the store, visible and durable, and the file.
func (b *binding) shown(withFile bool) (s trace.State, err error) {
	s = make(trace.State, len(b.spec.Vars))
	content := b.outside.Content()
	if withFile {
		s[b.file] = b.lines(content)
	}
	if s[b.rows], err = b.stores(b.outside.Engine.Peek, content); err != nil {
		return nil, err
	}
	s[b.kept], err = b.stores(b.outside.Engine.PeekDurable, content)
	return s, err
}

func (b *binding) lines(content []byte) value.Value {
	var lines []value.Value
	for line := range bytes.Lines(content) {
		if key, whole := bytes.CutSuffix(line, []byte("\n")); whole {
			lines = append(lines, b.spec.Str(string(key)))
		} else {
			lines = append(lines, b.spec.Model("Torn"))
		}
	}
	return value.NewTuple(lines)
}

// stores maps the keys and the committed length, counted in lines: that many bytes of content.
func (b *binding) stores(peek func(func(step.View) error) error, content []byte) (value.Value, error) {
	d, err := step.InspectIn(peek)
	if err != nil {
		return nil, err
	}
	var keys []string
	length := 0
	for _, r := range d.Rows {
		switch {
		case r.Space != sink.LengthSpace:
			keys = append(keys, r.Key)
		case r.Key == b.outside.File:
			length = int(binary.BigEndian.Uint64(r.Value))
		}
	}
	if length > len(content) {
		return nil, fmt.Errorf("dedupe: %d bytes are committed, the file has %d", length, len(content))
	}
	return b.shape.Record(b.set(keys), value.MakeInt(int64(bytes.Count(content[:length], []byte("\n"))))), nil
}
