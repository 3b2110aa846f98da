package sim

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/millrace-dev/millrace/core/sched"
)

// invariant is evaluated after every step.
type invariant struct {
	owner string
	check func() error
	node  *Node
}

// Own is called by an owner's constructor: it refuses primitives without a scheduler and takes the
// invariant.
func (b *backend) Own(id string, owner any, check func() error) {
	w := (*World)(b)
	if w.aborting {
		return
	}
	w.owned = append(w.owned, owned{owner, id})
	w.owners++
	w.claim(id, owner, check != nil)
	if check != nil {
		node := (*Node)(nil)
		if w.current != nil {
			node = w.current.node
		}
		w.invariants, w.alert = append(w.invariants, invariant{id, check, node}), true
	}
}

// Invariant adds an invariant of the check, evaluated after every step. It reads with Peek.
func (w *World) Invariant(id string, check func() error) {
	w.watched = true
	w.invariants, w.alert = append(w.invariants, invariant{owner: id, check: check}), true
}

// claim walks the owner's fields. A primitive that was never given a scheduler is the real one: this
// world would neither see nor explore it, so it fails the check.
func (w *World) claim(id string, owner any, visible bool) {
	if batons {
		return // it reads what may be guarded
	}
	v := walker{w: w, visible: visible, seen: map[uintptr]bool{}}
	v.walk(reflect.ValueOf(owner), id, 0)
	if len(v.faults) > 0 {
		w.fail("assertion", id+".hooks", "primitives made without a scheduler, or with another one: "+strings.Join(v.faults, ", "))
		w.yieldTo(w.current, nil)
	}
}

// Own fails the check unless owner registered itself with Scheduler.Own and all its primitives belong to
// this world.
func (w *World) Own(owner any) {
	i := slices.IndexFunc(w.owned, func(o owned) bool { return o.owner == owner })
	if i < 0 {
		w.fail("assertion", "own", fmt.Sprintf("%T did not register itself with Scheduler.Own", owner))
		w.yieldTo(w.current, nil)
	}
	w.claim(w.owned[i].id, owner, false)
}

// owned is an owner that registered itself.
type owned struct {
	owner any
	id    string
}

const (
	walkDepth = 6
	walkItems = 64
	schedPath = "github.com/millrace-dev/millrace/core/sched"
)

// walker finds the primitives inside of an owner.
type walker struct {
	w       *World
	visible bool
	seen    map[uintptr]bool
	faults  []string
}

func (k *walker) walk(v reflect.Value, path string, depth int) {
	if depth > walkDepth || !v.IsValid() {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || k.seen[v.Pointer()] {
			return
		}
		k.seen[v.Pointer()] = true
		k.walk(v.Elem(), path, depth+1)
	case reflect.Slice, reflect.Array:
		for i := range min(v.Len(), walkItems) {
			k.walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	case reflect.Struct:
		k.structure(v, path, depth)
	}
}

func (k *walker) structure(v reflect.Value, path string, depth int) {
	t := v.Type()
	if t.PkgPath() != schedPath {
		for i := range v.NumField() {
			k.walk(v.Field(i), path+"."+t.Field(i).Name, depth+1)
		}
		return
	}
	if t.Name() == "Scheduler" {
		if v.Field(0).IsNil() {
			k.faults = append(k.faults, path+" (zero Scheduler)")
		}
		return
	}
	h, ok := t.FieldByName("h")
	if !ok {
		for i := range v.NumField() {
			k.walk(v.Field(i), path, depth+1)
		}
		return
	}
	k.hook(v.FieldByIndex(h.Index), path, t.Name())
}

func (k *walker) hook(h reflect.Value, path, kind string) {
	if h.Kind() != reflect.Pointer {
		return
	}
	if h.IsNil() {
		if !strings.HasPrefix(kind, "Case") {
			k.faults = append(k.faults, path)
		}
		return
	}
	id := h.Elem().FieldByName("ID").Uint()
	if int(id) >= len(k.w.objects) || reflect.ValueOf(&k.w.objects[id].hook).Pointer() != h.Pointer() {
		k.faults = append(k.faults, path+" (of another execution)")
		return
	}
	if k.visible {
		k.w.objects[id].owner = k.w.owners
	}
}

// holdInvariants evaluates every invariant. It reports false when one is broken: the execution ends.
func (w *World) holdInvariants() bool {
	if batons {
		return true
	}
	for i := range w.invariants {
		x := &w.invariants[i]
		if err := x.check(); err != nil {
			w.violation(x.owner, err)
			return false
		}
	}
	return true
}

func (w *World) violation(owner string, err error) {
	id := owner
	if v := (*sched.Violation)(nil); errors.As(err, &v) {
		id = v.ID
	}
	w.fail("invariant", id, err.Error())
}
