package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// load is the clients of a run: each takes one key after the other through its whole life.
type load struct {
	*Client
	seed  uint64
	pause time.Duration   // of a client between two of its requests, at most
	start context.Context // ends when no new key is begun
	run   context.Context // ends when the run is given up

	mu         sync.Mutex // guards the rest
	next       int
	keys       []string // begun
	unfinished map[string]bool
}

// begin takes the next key, unless no new ones are begun.
func (l *load) begin() (key string, number int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.start.Err() != nil {
		return "", 0, false
	}
	l.next++
	key = fmt.Sprintf("k%05d", l.next)
	l.keys = append(l.keys, key)
	l.unfinished[key] = true
	return key, l.next, true
}

func (l *load) finished(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.unfinished, key)
}

// stuck are the keys whose life did not come to its end.
func (l *load) stuck() (keys []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range l.keys {
		if l.unfinished[key] {
			keys = append(keys, key)
		}
	}
	return keys
}

// client takes keys until no new ones are begun.
func (l *load) client(number int) {
	for {
		key, n, ok := l.begin()
		if !ok {
			return
		}
		x := &life{load: l, client: number, key: key, r: rand.New(rand.NewPCG(l.seed, uint64(n)))}
		if x.live() {
			l.finished(key)
		}
	}
}

// life is one key's.
type life struct {
	*load
	client int
	key    string
	r      *rand.Rand // of the client's own task

	mu       sync.Mutex
	instance string
}

// live takes a key from its start to its end, and reports whether it came there. While its start is held, steps come: each until it is
// acknowledged, often to another replica, now and then to two at once, and sometimes again though it was acknowledged.
func (x *life) live() bool {
	var held sync.WaitGroup
	ended := false
	first := x.r.IntN(len(x.replicas))
	held.Go(func() { ended = x.hold(first) })
	steps := 2 + x.r.IntN(4)
	done := true
	for i := 1; i <= steps && done; i++ {
		done = x.take(fmt.Sprintf("s%d", i), i == steps)
		if x.r.IntN(3) == 0 {
			x.look()
		}
	}
	if done && x.r.IntN(4) == 0 {
		x.send("s1", steps == 1) // long after it was acknowledged
	}
	held.Wait()
	if ended {
		x.look()
	}
	return ended && done
}

// hold starts the instance, again and again under the same id, until it is told that it has ended.
func (x *life) hold(replica int) bool {
	for n := 0; x.run.Err() == nil; n++ {
		op := x.open(x.run, holdTime, x.client, (replica+n)%len(x.replicas), x.key)
		x.learn(op)
		if op.acknowledged() {
			return true
		}
		x.rest(100 * time.Millisecond)
	}
	return false
}

// holdTime is how long a client holds the connection of a start.
const holdTime = 5 * time.Second

// take sends a step until it is acknowledged.
func (x *life) take(id string, last bool) bool {
	for x.run.Err() == nil {
		x.rest(x.pause/4 + time.Duration(x.r.Int64N(int64(x.pause))))
		if x.r.IntN(5) == 0 {
			var twin sync.WaitGroup
			replica := x.r.IntN(len(x.replicas))
			twin.Go(func() { x.learn(x.step(x.run, x.client+twins, replica, x.key, id, last)) })
			acknowledged := x.send(id, last)
			twin.Wait()
			if acknowledged {
				return true
			}
			continue
		}
		if x.send(id, last) {
			return true
		}
	}
	return false
}

// twins is what the numbers of clients that send a second time at once begin behind.
const twins = 1000

func (x *life) send(id string, last bool) bool {
	op := x.step(x.run, x.client, x.r.IntN(len(x.replicas)), x.key, id, last)
	x.learn(op)
	return op.acknowledged()
}

// look reads the instance, once it is known.
func (x *life) look() {
	x.mu.Lock()
	instance := x.instance
	x.mu.Unlock()
	if instance != "" {
		x.read(x.run, x.client, x.r.IntN(len(x.replicas)), x.key, instance)
	}
}

func (x *life) learn(op Operation) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if op.Instance != "" {
		x.instance = op.Instance
	}
}

// rest waits between two requests.
func (l *load) rest(d time.Duration) {
	select {
	case <-time.After(d):
	case <-l.run.Done():
	}
}

// worker stamps tasks until the run is over: it forgets one now and then, and completes one twice now and then.
func (l *load) worker(over context.Context, number int) {
	r := rand.New(rand.NewPCG(l.seed, 1<<40+uint64(number)))
	for over.Err() == nil {
		tasks := l.fetch(over, r.IntN(len(l.replicas)), fmt.Sprintf("w%d", number))
		for _, t := range tasks {
			if r.IntN(20) == 0 {
				continue // forgotten: its lock runs out
			}
			op := l.stamp(l.run, workers+number, r.IntN(len(l.replicas)), t)
			if op.Outcome == Lost || r.IntN(10) == 0 {
				l.stamp(l.run, workers+number, r.IntN(len(l.replicas)), t)
			}
		}
		if len(tasks) == 0 {
			select {
			case <-time.After(20 * time.Millisecond): // the node waits for tasks, unless it does not answer
			case <-over.Done():
			}
		}
	}
}

// workers is what the numbers of workers begin behind.
const workers = 2000
