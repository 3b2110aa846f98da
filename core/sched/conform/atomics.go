package conform

import "github.com/millrace-dev/millrace/core/sched"

func atomics() []Script {
	return []Script{
		{Name: "bool", Run: boolScript, Want: []string{
			"load true", "swap true then false", "cas false→true true", "cas false→true false", "peek true", "one task won",
		}},
		{Name: "numbers", Run: numbersScript, Want: []string{
			"int32 -1 5 true false 9 9", "uint32 4294967295 5 true false 9 9", "int64 -1 5 true false 9 9",
			"uint64 18446744073709551615 5 true false 9 9", "two tasks added 2 2 2 2",
		}},
		{Name: "pointer", Run: pointerScript, Want: []string{
			"nil at first true", "stored one", "swapped one for two", "cas false then true", "peek one", "two tasks pushed 2",
		}},
		{Name: "publication", Run: publicationScript, Want: []string{
			"observed 1", "published 2", "updated 3", "unchanged 3", "two updates made 5", "peek 5",
		}},
		{Name: "cell", Run: cellScript, Want: []string{"view 1 peek 2", "handed over 4"}},
		{Name: "random", Run: randomScript, Want: []string{"in range true", "no range: sched: IntN of a number that is not positive"}},
		{Name: "wide random", Wide: true, Run: wideRandomScript, Want: []string{"any value"}},
		{Name: "external", Run: externalScript, Want: []string{"called 2"}},
	}
}

func boolScript(r *Run) {
	b := sched.NewBool(r.S, "b", true)
	r.Say("load %t", b.Load())
	r.Say("swap %t then %t", b.Swap(false), b.Load())
	r.Say("cas false→true %t", b.CompareAndSwap(false, true))
	r.Say("cas false→true %t", b.CompareAndSwap(false, true))
	r.Say("peek %t", b.Peek())
	b.Store(false)
	var won [2]bool
	r.Both(func() { won[0] = b.CompareAndSwap(false, true) }, func() { won[1] = b.CompareAndSwap(false, true) })
	if won[0] != won[1] {
		r.Say("one task won")
	}
}

func numbersScript(r *Run) {
	a, b := sched.NewInt32(r.S, "a", 0), sched.NewUint32(r.S, "b", 0)
	c, d := sched.NewInt64(r.S, "c", 0), sched.NewUint64(r.S, "d", 0)
	r.Say("int32 %d %s", a.Add(-1), number(&a))
	r.Say("uint32 %d %s", b.Add(^uint32(0)), number(&b))
	r.Say("int64 %d %s", c.Add(-1), number(&c))
	r.Say("uint64 %d %s", d.Add(^uint64(0)), number(&d))
	a.Store(0)
	b.Store(0)
	c.Store(0)
	d.Store(0)
	add := func() {
		a.Add(1)
		b.Add(1)
		c.Add(1)
		d.Add(1)
	}
	r.Both(add, add)
	r.Say("two tasks added %d %d %d %d", a.Load(), b.Load(), c.Load(), d.Load())
}

// integer is what the four counters share.
type integer[T any] interface {
	Load() T
	Store(T)
	Swap(T) T
	CompareAndSwap(old, v T) bool
	Peek() T
}

func number[T int32 | uint32 | int64 | uint64](x integer[T]) string {
	x.Store(5)
	old := x.Swap(7)
	won, lost := x.CompareAndSwap(7, 9), x.CompareAndSwap(7, 8)
	return sprint(old, won, lost, x.Load(), x.Peek())
}

func pointerScript(r *Run) {
	type node struct {
		name string
		next *node
	}
	one, two := &node{name: "one"}, &node{name: "two"}
	p := sched.NewPointer[node](r.S, "p", nil)
	r.Say("nil at first %t", p.Load() == nil)
	p.Store(one)
	r.Say("stored %s", p.Load().name)
	r.Say("swapped %s for %s", p.Swap(two).name, p.Load().name)
	r.Say("cas %t then %t", p.CompareAndSwap(one, two), p.CompareAndSwap(two, one))
	r.Say("peek %s", p.Peek().name)
	p.Store(nil)
	push := func() {
		for n := new(node); ; {
			n.next = p.Load()
			if p.CompareAndSwap(n.next, n) {
				return
			}
		}
	}
	r.Both(push, push)
	length := 0
	for n := p.Load(); n != nil; n = n.next {
		length++
	}
	r.Say("two tasks pushed %d", length)
}

func publicationScript(r *Run) {
	value := func(v int) *int { return &v }
	p := sched.NewPublication(r.S, "p", value(1))
	r.Say("observed %d", *p.Observe())
	p.Publish(value(2))
	r.Say("published %d", *p.Observe())
	next := func(v *int) *int { return value(*v + 1) }
	r.Say("updated %d", *p.Update(next))
	r.Say("unchanged %d", *p.Update(func(v *int) *int { return v }))
	r.Both(func() { p.Update(next) }, func() { p.Update(next) })
	r.Say("two updates made %d", *p.Observe())
	r.Say("peek %d", *p.Peek())
}

func cellScript(r *Run) {
	c := sched.NewCell(r.S, "c", 1)
	first := *c.View()
	*c.Edit()++
	r.Say("view %d peek %d", first, *c.Peek())
	r.Beside("editor", func() { *c.Edit() *= 2 })()
	r.Say("handed over %d", *c.View())
}

func randomScript(r *Run) {
	random := sched.NewRand(r.S, "random")
	n := random.IntN(3)
	r.Say("in range %t", n >= 0 && n < 3)
	r.Say("no range: %s", Panic(func() { random.IntN(0) }))
}

func wideRandomScript(r *Run) {
	random := sched.NewRand(r.S, "random")
	random.Uint64()
	r.Say("any value")
}

func externalScript(r *Run) {
	calls := sched.NewInt64(r.S, "calls", 0)
	call := func() {
		r.S.Yield()
		r.S.External("call", func() { calls.Add(1) })
	}
	r.Both(call, call)
	r.Say("called %d", calls.Load())
}
