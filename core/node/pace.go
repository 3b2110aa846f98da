package node

import (
	"time"

	"github.com/millrace-dev/millrace/core/sched"
)

// pace lets one of many alike through in a while, and counts the others: what an operator must see, however often it happens.
type pace struct {
	now  func() time.Time
	mu   sched.Mutex
	seen map[string]*paced
}

type paced struct {
	next   time.Time
	others int
}

// How often alike things are let through, and how many different ones are told apart; what is beyond that is alike.
const (
	paceInterval = 10 * time.Second
	maxPaced     = 1000
)

func newPace(s sched.Scheduler, name string) *pace {
	return &pace{now: s.Now, mu: sched.NewMutex(s, name), seen: map[string]*paced{}}
}

// pass reports whether one of its kind is let through, and how many were not since the last one. It does not wait but for others in it.
func (p *pace) pass(kind string) (others int, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := p.seen[kind]
	if x == nil && len(p.seen) >= maxPaced {
		kind = ""
		x = p.seen[kind]
	}
	if x == nil {
		x = &paced{}
		p.seen[kind] = x
	}
	now := p.now()
	if now.Before(x.next) {
		x.others++
		return 0, false
	}
	others, x.others, x.next = x.others, 0, now.Add(paceInterval)
	return others, true
}
