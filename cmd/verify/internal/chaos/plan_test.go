package chaos

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

func planOf(seed uint64, length time.Duration) []Event {
	return newPlan(rand.New(rand.NewPCG(seed, 0)), replicaCount, length, claimTimeout)
}

// A plan is a function of its seed; however long it is, every fault has its turn once there is time, and one replica at least is
// left alone at any moment.
func TestPlanIsDrawnBySeed(t *testing.T) {
	for seed := range uint64(200) {
		plan := planOf(seed, 30*time.Second)
		if !reflect.DeepEqual(plan, planOf(seed, 30*time.Second)) {
			t.Fatalf("seed %d gives two plans", seed)
		}
		had := map[Fault]int{}
		for i, e := range plan {
			had[e.Fault]++
			if e.Fault == Pause && e.For <= claimTimeout {
				t.Errorf("seed %d: %v is shorter than the claim timeout", seed, e)
			}
			troubled := map[int]bool{}
			for _, before := range plan[:i] {
				if before.end() > e.At {
					if before.Replica == e.Replica {
						t.Errorf("seed %d: %v begins within %v", seed, e, before)
					}
					troubled[before.Replica] = true
				}
			}
			if len(troubled) >= replicaCount-1 {
				t.Errorf("seed %d: at %v nobody is left alone", seed, e)
			}
		}
		if had[Restart] != replicaCount || had[Activate] != 1 {
			t.Errorf("seed %d: %d restarts, %d activations", seed, had[Restart], had[Activate])
		}
		for _, f := range faults {
			if had[f] == 0 {
				t.Errorf("seed %d: no %s", seed, f)
			}
		}
	}
}
