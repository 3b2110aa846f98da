package relay_test

import (
	"errors"
	"testing"

	"github.com/millrace-dev/millrace/core/ack"
	"github.com/millrace-dev/millrace/core/relay"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/models"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// queueMachine drives a queue and its model side by side.
type queueMachine struct {
	inventory.Judge

	model models.Queue
	queue *relay.Queue[int]
	next  int
}

func (m *queueMachine) push(t *rapid.T) {
	m.next++
	wantOK, wantClosed := m.model.Push(m.next)
	ok, err := m.queue.TryPush(m.next)
	if ok != wantOK || errors.Is(err, relay.ErrClosed) != wantClosed {
		m.Wrong(t, "push: %t, %v; model %t, closed %t", ok, err, wantOK, wantClosed)
	}
}

func (m *queueMachine) post(t *rapid.T) {
	m.next++
	if got, want := m.queue.Post(m.next), m.model.Post(m.next); got != want {
		m.Wrong(t, "post: %t, model %t", got, want)
	}
}

func (m *queueMachine) take(t *rapid.T) {
	want, wantOK := m.model.Take()
	if got, ok := m.queue.Take(); got != want || ok != wantOK {
		m.Wrong(t, "take: %d, %t; model %d, %t", got, ok, want, wantOK)
	}
}

func (m *queueMachine) resize(t *rapid.T) {
	m.model.Capacity = rapid.IntRange(1, 4).Draw(t, "capacity")
	m.queue.Resize(m.model.Capacity)
}

func (m *queueMachine) close(*rapid.T) {
	m.model.Closed = true
	m.queue.Close()
}

func (m *queueMachine) check(t *rapid.T) {
	if m.queue.Len() != len(m.model.Items) || m.queue.Capacity() != m.model.Capacity {
		m.Wrong(t, "%d of %d, model %d of %d", m.queue.Len(), m.queue.Capacity(), len(m.model.Items), m.model.Capacity)
	}
	if len(m.model.Items) > 0 {
		return
	}
	scope := sched.Scheduler{}.NewScope("never")
	scope.Cancel(errStop)
	want := errStop
	if m.model.Closed {
		want = relay.ErrClosed
	}
	if _, err := m.queue.Receive(scope, nil); !errors.Is(err, want) {
		m.Wrong(t, "receive from an empty queue: %v, want %v", err, want)
	}
}

func TestModelC6Queue(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "C6/queue-model", func(test *testing.T) int {
		cases := 0
		rapid.Check(test, func(t *rapid.T) {
			cases++
			m := &queueMachine{Judge: inventory.Judge{Test: test, ID: "C6.model"}, model: models.Queue{Capacity: 2}, queue: relay.NewQueue[int](sched.Scheduler{}, "q", 2)}
			t.Repeat(map[string]func(*rapid.T){
				"push": m.push, "push again": m.push, "post": m.post, "take": m.take, "take again": m.take,
				"resize": m.resize, "close": m.close, "": m.check,
			})
		})
		return cases
	})
}

// fanoutMachine drives a relay and its model: who gets which batch, and how many shares that takes.
type fanoutMachine struct {
	inventory.Judge

	model     models.Fanout
	relay     *relay.Relay[rows]
	consumers []*relay.Consumer[rows]
	next      int
}

func (m *fanoutMachine) attach(*rapid.T) {
	m.model.Attach()
	m.consumers = append(m.consumers, m.relay.Attach("consumer", 1000))
}

func (m *fanoutMachine) remove(t *rapid.T) {
	if len(m.consumers) == 0 {
		t.Skip("nobody attached yet")
	}
	i := rapid.IntRange(0, len(m.consumers)-1).Draw(t, "consumer")
	m.model.Attached[i] = false
	m.consumers[i].Remove()
}

func (m *fanoutMachine) publish(t *rapid.T) {
	m.next++
	want := m.model.Publish(m.next)
	root := ack.New(sched.Scheduler{}, nil)
	if err := m.relay.Publish(nil, root, batch(sched.Scheduler{}, m.next)); err != nil {
		m.Wrong(t, "publish: %v", err)
	}
	if got := root.Tree().Active() - 1; got != want {
		m.Wrong(t, "%d shares, model %d", got, want)
	}
}

func (m *fanoutMachine) check(t *rapid.T) {
	for i, c := range m.consumers {
		if n, _ := c.Queued(); n != len(m.model.Handed[i]) {
			m.Wrong(t, "consumer %d has %d batches, model %d", i, n, len(m.model.Handed[i]))
		}
	}
}

// drain compares order and content at the end.
func (m *fanoutMachine) drain(t *rapid.T) {
	for i, c := range m.consumers {
		for _, want := range m.model.Handed[i] {
			if d, err := c.Receive(nil, nil); err != nil || d.Rows.id != want {
				m.Wrong(t, "consumer %d received %d, %v, model %d", i, d.Rows.id, err, want)
			}
		}
	}
}

func TestModelC6FanOut(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "C6/fan-out-model", func(test *testing.T) int {
		cases := 0
		rapid.Check(test, func(t *rapid.T) {
			cases++
			m := &fanoutMachine{Judge: inventory.Judge{Test: test, ID: "C6.model"}, relay: relay.New[rows](sched.Scheduler{}, "r")}
			t.Repeat(map[string]func(*rapid.T){
				"attach": m.attach, "remove": m.remove, "publish": m.publish, "": m.check,
			})
			m.drain(t)
		})
		return cases
	})
}
