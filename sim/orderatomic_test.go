package sim

import (
	"fmt"

	"github.com/millrace-dev/millrace/core/sched"
)

// atomicSet is one of each kind of atomic.
type atomicSet struct {
	b   sched.Bool
	i32 sched.Int32
	u32 sched.Uint32
	i64 sched.Int64
	u64 sched.Uint64
	p   sched.Pointer[int]
	pub sched.Publication[int]
}

func newAtomicSet(s sched.Scheduler) atomicSet {
	return atomicSet{
		sched.NewBool(s, "b", false), sched.NewInt32(s, "i32", 0), sched.NewUint32(s, "u32", 0), sched.NewInt64(s, "i64", 0),
		sched.NewUint64(s, "u64", 0), sched.NewPointer[int](s, "p", nil), sched.NewPublication[int](s, "pub", nil),
	}
}

// atomicOps is the operations of one kind: the value is 0 at first, and 1 after each that changes it.
type atomicOps struct {
	name                                   string
	load, store, swap, add, cas, failedCAS act // add is nil where there is none; cas goes from 1 to 1
}

var someValue = new(int)

func atomicKinds() []atomicOps {
	return []atomicOps{
		{
			"bool", func(e *orderWorld) { e.atomics.b.Load() }, func(e *orderWorld) { e.atomics.b.Store(true) }, func(e *orderWorld) { e.atomics.b.Swap(true) },
			nil, func(e *orderWorld) { must(e, e.atomics.b.CompareAndSwap(e.atomics.b.Peek(), true)) },
			func(e *orderWorld) { must(e, !e.atomics.b.CompareAndSwap(!e.atomics.b.Peek(), true)) },
		},
		numberOps("int32", func(e *orderWorld) number[int32] { return &e.atomics.i32 }),
		numberOps("uint32", func(e *orderWorld) number[uint32] { return &e.atomics.u32 }),
		numberOps("int64", func(e *orderWorld) number[int64] { return &e.atomics.i64 }),
		numberOps("uint64", func(e *orderWorld) number[uint64] { return &e.atomics.u64 }),
		{
			"pointer", func(e *orderWorld) { e.atomics.p.Load() }, func(e *orderWorld) { e.atomics.p.Store(someValue) },
			func(e *orderWorld) { e.atomics.p.Swap(someValue) }, nil,
			func(e *orderWorld) { must(e, e.atomics.p.CompareAndSwap(e.atomics.p.Peek(), someValue)) },
			func(e *orderWorld) { must(e, !e.atomics.p.CompareAndSwap(new(int), nil)) },
		},
	}
}

type number[T any] interface {
	Load() T
	Store(T)
	Swap(T) T
	Add(T) T
	CompareAndSwap(old, v T) bool
	Peek() T
}

func numberOps[T int32 | uint32 | int64 | uint64](name string, x func(*orderWorld) number[T]) atomicOps {
	return atomicOps{
		name, func(e *orderWorld) { x(e).Load() }, func(e *orderWorld) { x(e).Store(1) }, func(e *orderWorld) { x(e).Swap(1) },
		func(e *orderWorld) { x(e).Add(1) },
		func(e *orderWorld) { must(e, x(e).CompareAndSwap(x(e).Peek(), 1)) },
		func(e *orderWorld) { must(e, !x(e).CompareAndSwap(x(e).Peek()+1, 9)) },
	}
}

// atomicEdges: a write that was seen orders; a store overwrites what was there before, a read-modify-write adds to it, and a
// compare-and-swap that fails only sees.
func atomicEdges() (groups [][]edge) {
	for _, k := range atomicKinds() {
		name := func(format string) string { return fmt.Sprintf(format, k.name) }
		group := []edge{
			{name: name("%s store, store"), none: true, give: k.store, take: k.store},
			{name: name("%s load, load"), none: true, give: k.load, take: k.load},
			{name: name("%s load, swap"), none: true, give: k.load, take: k.swap},
			{name: name("%s failed cas, load"), none: true, give: k.failedCAS, take: k.load},
			{name: name("%s failed cas, swap"), none: true, give: k.failedCAS, take: k.swap},
			{name: name("%s store of another in between"), none: true, give: k.store, between: by("X", k.store), take: k.load},
			{name: name("%s swap, store of another in between"), none: true, give: k.swap, between: by("X", k.store), take: k.load},
		}
		writes, reads := map[string]act{"store": k.store, "swap": k.swap, "cas": k.cas}, map[string]act{
			"load": k.load, "swap": k.swap, "cas": k.cas,
			"failed cas": k.failedCAS,
		}
		if k.add != nil {
			writes["add"], reads["add"] = k.add, k.add
		}
		for w, give := range writes { //order:each is judged alone
			for r, take := range reads { //order:each is judged alone
				group = append(group, edge{name: k.name + " " + w + " → " + r, give: give, take: take})
			}
			for between, f := range writes { //order:each is judged alone
				if between != "store" {
					group = append(group, edge{name: k.name + " " + w + " → " + between + " of another → load", give: give, between: by("X", f), take: k.load})
				}
			}
			group = append(group, edge{name: k.name + " " + w + " → load of another, load", give: give, between: by("X", k.load), take: k.load})
		}
		groups = append(groups, group)
	}
	return append(groups, []edge{
		{name: "publish → observe", give: func(e *orderWorld) { e.atomics.pub.Publish(someValue) }, take: func(e *orderWorld) { e.atomics.pub.Observe() }},
		{name: "update → observe", give: update, take: func(e *orderWorld) { e.atomics.pub.Observe() }},
		{name: "publish → update", give: func(e *orderWorld) { e.atomics.pub.Publish(nil) }, take: update},
		{name: "update that changes nothing, observe", none: true, give: func(e *orderWorld) {
			e.atomics.pub.Update(func(p *int) *int { return p })
		}, take: func(e *orderWorld) { e.atomics.pub.Observe() }},
	})
}

func update(e *orderWorld) { e.atomics.pub.Update(func(*int) *int { return new(int) }) }
