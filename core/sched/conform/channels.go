package conform

import "github.com/millrace-dev/millrace/core/sched"

func channels() []Script {
	return []Script{
		{Name: "buffered channel", Run: bufferedScript, Want: []string{
			"empty 0 false false", "room true", "full false", "len 1 peek 1 cap 1", "received 1 true", "in order [2 3]",
			"ended: scope canceled scope canceled", "drained 9 true, then 0 false true", "send on closed channel", "close of closed channel",
		}},
		{Name: "unbuffered channel", Run: rendezvousScript, Want: []string{
			"nobody there false false", "met 1 true", "sent to a waiting receiver 2", "took from a waiting sender 3", "closed 0 false",
		}},
		{Name: "select", Run: selectScript, Want: []string{
			"off is never taken: 1 4", "send: 0 true", "three: 2 6 true", "four: 3 7 true", "closed: 0 0 false", "met by a select: 0 8 1",
		}},
		{Name: "select sends", Run: selectSendScript, Want: []string{
			"two: 0 true 1 true", "three: 0 true 1 true 2 true", "four: 0 true 1 true 2 true 3 true",
		}},
		{Name: "select takes any", Wide: true, Run: selectAnyScript, Want: []string{"two: both", "three: all", "four: all"}},
	}
}

func bufferedScript(r *Run) {
	c := sched.NewChan[int](r.S, "c", 1)
	v, ok, ready := c.TryReceive()
	r.Say("empty %d %t %t", v, ok, ready)
	r.Say("room %t", c.TrySend(1))
	r.Say("full %t", c.TrySend(2))
	r.Say("len %d peek %d cap %d", c.Len(), c.PeekLen(), c.Cap())
	v, ok = c.Receive()
	r.Say("received %d %t", v, ok)
	join := r.Beside("sender", func() {
		c.Send(2)
		c.Send(3)
	})
	a, _ := c.Receive()
	b, _ := c.Receive()
	join()
	r.Say("in order %v", []int{a, b})
	ended := r.endedScope()
	_, _, err := c.ReceiveWithin(ended)
	r.report(c.SendWithin(r.Scope, 9))
	r.Say("ended: %v %v", err, c.SendWithin(ended, 10))
	c.Close()
	v, ok, err = c.ReceiveWithin(r.Scope)
	r.report(err)
	w, open, ready := c.TryReceive()
	r.Say("drained %d %t, then %d %t %t", v, ok, w, open, ready)
	r.Say("%s", Panic(func() { c.Send(1) }))
	r.Say("%s", Panic(c.Close))
}

func rendezvousScript(r *Run) {
	c := sched.NewChan[int](r.S, "c", 0)
	_, _, ready := c.TryReceive()
	r.Say("nobody there %t %t", c.TrySend(1), ready)
	join := r.Beside("sender", func() { c.Send(1) })
	v, ok := c.Receive()
	r.Say("met %d %t", v, ok)
	join()
	got := 0
	join = r.Beside("receiver", func() { got, _ = c.Receive() })
	r.Await("the receiver waits", func() bool { return c.TrySend(2) })
	join()
	r.Say("sent to a waiting receiver %d", got)
	join = r.Beside("sender", func() { c.Send(3) })
	r.Await("the sender waits", func() bool {
		v, _, ready = c.TryReceive()
		return ready
	})
	join()
	r.Say("took from a waiting sender %d", v)
	c.Close()
	v, ok = c.Receive()
	r.Say("closed %d %t", v, ok)
}

func selectScript(r *Run) {
	a, b := sched.NewChan[int](r.S, "a", 1), sched.NewChan[int](r.S, "b", 1)
	var off sched.Case[int]
	b.Send(4)
	two := sched.Select2(off, b.OnReceive())
	r.Say("off is never taken: %d %d", two.Index, two.B)
	two = sched.Select2(a.OnSend(5), b.OnReceive())
	r.Say("send: %d %t", two.Index, two.OK)
	b.Send(6)
	three := sched.Select3(a.OnSend(1), off, b.OnReceive())
	r.Say("three: %d %d %t", three.Index, three.C, three.OK)
	b.Send(7)
	four := sched.Select4(off, a.OnSend(1), off, b.OnReceive())
	r.Say("four: %d %d %t", four.Index, four.D, four.OK)
	b.Close()
	two = sched.Select2(b.OnReceive(), off)
	r.Say("closed: %d %d %t", two.Index, two.A, two.OK)
	c, d := sched.NewChan[int](r.S, "c", 0), sched.NewChan[int](r.S, "d", 0)
	var sent sched.Chosen2[int, int]
	join := r.Beside("offer", func() { sent = sched.Select2(d.OnReceive(), c.OnSend(8)) })
	got := sched.Select2(c.OnReceive(), off)
	join()
	r.Say("met by a select: %d %d %d", got.Index, got.A, sent.Index)
}

// selectSendScript has room in one channel at a time, behind each alternative in turn.
func selectSendScript(r *Run) {
	full, room := sched.NewChan[int](r.S, "full", 1), sched.NewChan[int](r.S, "room", 1)
	full.Send(0)
	at := func(i, n int) []sched.Case[int] {
		cases := make([]sched.Case[int], n)
		for k := range cases {
			cases[k] = full.OnSend(1)
		}
		cases[i] = room.OnSend(2)
		return cases
	}
	taken := func(n int, choose func(k []sched.Case[int]) (int, bool)) (text string) {
		for i := range n {
			index, ok := choose(at(i, n))
			room.Receive()
			text += sprint("", index, ok)
		}
		return text
	}
	r.Say("two:%s", taken(2, func(k []sched.Case[int]) (int, bool) {
		got := sched.Select2(k[0], k[1])
		return got.Index, got.OK
	}))
	r.Say("three:%s", taken(3, func(k []sched.Case[int]) (int, bool) {
		got := sched.Select3(k[0], k[1], k[2])
		return got.Index, got.OK
	}))
	r.Say("four:%s", taken(4, func(k []sched.Case[int]) (int, bool) {
		got := sched.Select4(k[0], k[1], k[2], k[3])
		return got.Index, got.OK
	}))
}

// selectAnyScript takes each of several alternatives that are ready at some time: none is preferred for ever. That one of four is
// never drawn in 200 draws is less likely than a fault of the machine.
func selectAnyScript(r *Run) {
	const draws = 200
	var c [4]*sched.Chan[int]
	for i := range c {
		c[i] = sched.NewChan[int](r.S, "c", 1)
		c[i].Send(i)
	}
	all := func(n int, choose func() int) bool {
		seen := map[int]bool{}
		for range draws {
			i := choose()
			c[i].Send(i)
			seen[i] = true
		}
		return len(seen) == n
	}
	if all(2, func() int { return sched.Select2(c[0].OnReceive(), c[1].OnReceive()).Index }) {
		r.Say("two: both")
	}
	if all(3, func() int { return sched.Select3(c[0].OnReceive(), c[1].OnReceive(), c[2].OnReceive()).Index }) {
		r.Say("three: all")
	}
	if all(4, func() int {
		return sched.Select4(c[0].OnReceive(), c[1].OnReceive(), c[2].OnReceive(), c[3].OnReceive()).Index
	}) {
		r.Say("four: all")
	}
}
