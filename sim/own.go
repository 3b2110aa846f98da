package sim

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

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
	v.walk(reflect.ValueOf(owner), id)
	if len(v.faults) > 0 {
		slices.Sort(v.faults) // maps have no order
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
	walkLimit  = 1 << 12 // structures of one owner
	walkItems  = 64      // items of one slice, array or map: they are made alike
	modulePath = "github.com/millrace-dev/millrace/"
	schedPath  = modulePath + "core/sched"
	simPath    = modulePath + "sim"
)

var schedulerType = reflect.TypeFor[sched.Scheduler]()

// walker finds the primitives inside of an owner: through pointers, slices, arrays, structs, maps, interfaces that hold a
// type of this module, and what cells, pointers and publications hold now. What is inside of a channel is not reached.
type walker struct {
	w       *World
	visible bool
	seen    map[uintptr]bool
	structs int
	faults  []string
}

func (k *walker) walk(v reflect.Value, path string) {
	if !v.IsValid() || !mayHold(v.Type()) { // of a list that holds none, no item is looked at
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || k.seen[v.Pointer()] {
			return
		}
		k.seen[v.Pointer()] = true
		k.walk(v.Elem(), path)
	case reflect.Slice, reflect.Array:
		for i := range min(v.Len(), walkItems) {
			k.walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		for _, key := range keys[:min(len(keys), walkItems)] {
			k.inside(v.MapIndex(key), fmt.Sprintf("%s[%v]", path, key))
		}
	case reflect.Interface:
		if t := v.Elem(); t.IsValid() && ours(t.Type()) {
			k.inside(t, path)
		}
	case reflect.Struct:
		k.structure(v, path)
	}
}

// inside walks what an owner reaches through a map, an interface or a cell. Those objects keep their own owner: a store
// behind an interface has invariants of its own.
func (k *walker) inside(v reflect.Value, path string) {
	visible := k.visible
	k.visible = false
	k.walk(v, path)
	k.visible = visible
}

func (k *walker) structure(v reflect.Value, path string) {
	if k.structs++; k.structs > walkLimit {
		if k.structs == walkLimit+1 {
			k.faults = append(k.faults, fmt.Sprintf("%s (more than %d structures: not walked to the end)", path, walkLimit))
		}
		return
	}
	t := v.Type()
	if t.PkgPath() != schedPath {
		none := v.IsZero() // a place for what is not there yet needs no scheduler
		for i := range v.NumField() {
			if none && t.Field(i).Type == schedulerType {
				continue
			}
			if f := t.Field(i); mayHold(f.Type) { // most do not: no name is made for them
				k.walk(v.Field(i), path+"."+f.Name)
			}
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
			k.walk(v.Field(i), path)
		}
		k.pointee(v, path)
		return
	}
	k.hook(v.FieldByIndex(h.Index), path, t.Name())
	if strings.HasPrefix(t.Name(), "Cell[") {
		k.inside(v.FieldByName("v"), path)
	}
}

// pointee walks what a Pointer points to: the type stands in its first field.
func (k *walker) pointee(v reflect.Value, path string) {
	if t := v.Type(); strings.HasPrefix(t.Name(), "Pointer[") {
		if p := v.FieldByName("c").FieldByName("v").UnsafePointer(); p != nil {
			k.inside(reflect.NewAt(t.Field(0).Type.Elem().Elem(), p), path)
		}
	}
}

// ours reports whether a type behind an interface is of this module. Others are shared with what runs beside this world.
func ours(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return strings.HasPrefix(t.PkgPath(), modulePath) && t.PkgPath() != simPath
}

// holders remembers for each type what mayHold found.
var holders sync.Map

// mayHold reports whether a value of a type can reach a primitive. A type that contains itself may.
func mayHold(t reflect.Type) bool {
	if known, ok := holders.Load(t); ok {
		return known.(bool)
	}
	holders.Store(t, true)
	holds := holder(t)
	holders.Store(t, holds)
	return holds
}

func holder(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return mayHold(t.Elem())
	case reflect.Struct:
		if t.PkgPath() == schedPath {
			return true
		}
		for i := range t.NumField() {
			if mayHold(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
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
