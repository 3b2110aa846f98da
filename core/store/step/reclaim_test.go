package step_test

import (
	"fmt"
	"testing"

	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
)

// A store with many claims and records, of an engine that writes what it holds, is reclaimed in several transactions.
func TestReclaimOfManyClaims(t *testing.T) {
	const n = 2500
	st, e := memory.Open(sched.Scheduler{}, memory.Options{})
	me := store.Owner{Replica: "a", Lane: 1, Incarnation: 1}
	for i := range n {
		id := store.InstanceID(fmt.Sprintf("i%04d", i))
		_, err := st.Commit(nil, &store.Step{
			Cause: "spawn", Spawn: true, Status: store.Running, Claim: store.Claim{Instance: id, Owner: me},
			Inbox: &store.Receipt{Delivery: store.Delivery{Channel: "c", ID: string(id)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := st.Take(nil, id, 1, me); err != nil {
			t.Fatal(err)
		}
	}
	st, err := step.Reclaim(nil, e)
	if err != nil {
		t.Fatal(err)
	}
	heads, _, err := st.Claimed(nil, "", 10)
	if len(heads) != 0 || err != nil {
		t.Errorf("claims after the restart: %v, %v", heads, err)
	}
	dump, err := step.InspectIn(e.Peek)
	if len(dump.Records) != 0 || len(dump.Instances) != n || err != nil {
		t.Errorf("%d records of %d instances after the restart, %v", len(dump.Records), len(dump.Instances), err)
	}
	for _, id := range []store.InstanceID{"i0000", "i1234", "i2499"} {
		if h, _, err := st.Head(nil, id); h.Epoch != 3 || err != nil {
			t.Errorf("%v after the restart, %v", h.Claim, err)
		}
	}
}
