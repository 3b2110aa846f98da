package inbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/inbox"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/models"
	"github.com/millrace-dev/millrace/sim/inventory"
	"pgregory.net/rapid"
)

// inboxMachine drives an inbox and its model side by side.
type inboxMachine struct {
	inventory.Judge

	lane  *lane
	model models.Inbox
	n     int
}

func drawDelivery(t *rapid.T) store.Delivery {
	return store.Delivery{
		Channel: rapid.SampledFrom([]string{"c", "d"}).Draw(t, "channel"),
		ID:      rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "id"),
	}
}

func (m *inboxMachine) attempt(t *rapid.T) {
	d, refused := drawDelivery(t), rapid.Bool().Draw(t, "refused")
	m.n++
	answer, err := m.lane.bring(nil, d, m.n, refused)
	acknowledged, first := m.model.Attempt(d.Channel, d.ID, m.n, refused)
	if (err == nil) != acknowledged {
		m.Wrong(t, "attempt %d at %v: error %v, model acknowledges: %t", m.n, d, err, acknowledged)
	}
	if acknowledged && (string(answer.Receipt.Reply) != fmt.Sprint(first) || answer.Duplicate != (first != m.n)) {
		m.Wrong(t, "attempt %d at %v: %+v, model was first with %d", m.n, d, answer, first)
	}
}

func (m *inboxMachine) seen(t *rapid.T) {
	d := drawDelivery(t)
	_, seen, err := m.lane.inbox.Seen(nil, d)
	if err != nil {
		t.Fatal(err)
	}
	if _, want := m.model.First[[2]string{d.Channel, d.ID}]; seen != want {
		m.Wrong(t, "%v seen %t, model %t", d, seen, want)
	}
}

// forgetNothing: receipts without an expiry stay, whatever the time.
func (m *inboxMachine) forgetNothing(t *rapid.T) {
	n, _, err := m.lane.st.Expire(nil, store.InboxSpace, time.Now(), 100)
	if err != nil || n != 0 {
		m.Wrong(t, "%d receipts that are kept for ever expired, %v", n, err)
	}
}

func TestModelL7InboxAgainstModel(t *testing.T) {
	inventory.Run(t, inventory.LaneModel, "L7/inbox-against-model", func(outer *testing.T) int {
		cases := 0
		rapid.Check(outer, func(t *rapid.T) {
			cases++
			r, err := newRig(sched.Scheduler{}, memory.Options{})
			if err != nil {
				t.Fatal(err)
			}
			m := &inboxMachine{Judge: inventory.Judge{Test: outer, ID: "L7.model"}, lane: r.lane(sched.Scheduler{}, 1), model: models.NewInbox()}
			t.Repeat(map[string]func(*rapid.T){"attempt": m.attempt, "seen": m.seen, "expire": m.forgetNothing})
		})
		return cases
	})
}

// A delivery is remembered for as long as it was asked to be, from its effect.
func TestReceiptExpires(t *testing.T) {
	s := sched.Scheduler{}
	r, err := newRig(s, memory.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var expires time.Time
	_, err = inbox.New(s, r.st).Attempt(nil, delivery(1), time.Hour, func(receipt *store.Receipt) error {
		expires = receipt.Expires
		return errGuard
	})
	if left := time.Until(expires); err == nil || left <= 59*time.Minute || left > time.Hour {
		t.Errorf("expires in %v, error %v", left, err)
	}
}
