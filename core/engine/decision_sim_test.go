package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/millrace-dev/millrace/core/deploy"
	"github.com/millrace-dev/millrace/core/engine"
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/memory"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/sim"
)

// decided is what the rows of the deployments say in a state of the store.
type decided struct {
	Number uint64            // of the decision
	Active string            // the deployment that it makes active
	By     map[string]uint64 // deployment: the decision that made it active last
}

func (x *outside) decided(peek func(func(step.View) error) error) decided {
	out := decided{By: map[string]uint64{}}
	for _, row := range x.dump(peek).Rows {
		switch id, known := strings.CutPrefix(row.Key, "info/"); {
		case row.Space != "deployment":
		case row.Key == "active":
			x.NoError(json.Unmarshal(row.Value, &out))
		case known:
			var of struct{ Number uint64 }
			x.NoError(json.Unmarshal(row.Value, &of))
			out.By[id] = of.Number
		}
	}
	return out
}

// retired plants what a store knows of more deployments than are kept. They retired one after the other, in another order than their names'.
func (x *outside) retired(more int) (names []string) {
	var rows []store.Row
	for i := range engine.MaxKept + more {
		id := fmt.Sprintf("old%03d", (i*7)%(engine.MaxKept+more))
		names = append(names, id)
		text := fmt.Appendf(nil, `{"pieces":1,"retired":%q}`, x.begun.Add(time.Duration(i)*time.Second).UTC().Format(time.RFC3339))
		rows = append(rows, store.Row{Space: "deployment", Key: "info/" + id, Value: text}, store.Row{Space: "deployment", Key: "source/" + id + "/000000", Value: []byte(id)})
	}
	_, err := x.st.Write(x.Scope(), rows)
	x.NoError(err)
	return names
}

// An activation makes the store forget deployments that retired, beyond those that are kept: the ones that retired first, whole.
func TestSimL17NewestRetiredAreKept(t *testing.T) {
	flows := definitions(t, "nap.bpmn")
	const more = 3
	sim.Check(t, "L17/newest-retired-are-kept", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{})
		e := x.node(w.Scope(), engine.Options{Retire: time.Hour})
		names := x.retired(more)
		w.NoError(e.Activate(w.Scope(), x.deployment("d2")))
		kept := map[string]int{}
		for _, row := range x.dump(x.engine.Peek).Rows {
			if _, id, is := strings.Cut(row.Key, "/"); is && row.Space == "deployment" {
				id, _, _ = strings.Cut(id, "/")
				kept[id]++
			}
		}
		for i, id := range names {
			w.Require(kept[id] == 2 == (i >= more) && kept[id] != 1, "L17.kept", "%d rows of %s are kept, which retired as number %d of %d", kept[id], id, i+1, len(names))
		}
		e.Close()
	}, sim.Runs(2), sim.Strategies("random"))
}

// Two operators activate two deployments at two replicas, the answers of what they write get lost, or come when others have built on it, and the
// store crashes. Each decision is made once: nobody's second try takes back what came after the first. An activation that was answered is
// durable, and one that was refused leaves nothing, then or later.
func TestSimL9LostAnswersOfDecisions(t *testing.T) {
	flows := definitions(t, "nap.bpmn")
	sim.Check(t, "L9/lost-answers-of-decisions", func(w *sim.World) {
		x := newOutside(w, flows, memory.Options{Refuse: 8, Lose: 2, Budget: 5, Scope: w.Scope(), Only: []string{"write", "row"}})
		var nodes []*engine.Engine
		for _, name := range []string{"a", "b"} {
			nodes = append(nodes, x.node(w.Scope(), engine.Options{Replica: name, Shared: true, Lanes: 1 + w.Choose("lanes", 2), Follow: time.Second, Retire: time.Second}))
		}
		begins := x.decided(x.engine.Peek)
		w.Require(begins.Number == 1, "L9.once", "two replicas that start with one deployment made %d decisions", begins.Number)
		wait := make([]bool, len(nodes))
		for i, id := range []string{"d2", "d3"} {
			w.Go("operator of "+id, func() {
				x.activates(nodes[i], id)
				wait[i] = true
			})
		}
		w.Go("power", func() {
			for range w.Choose("steps", 100) {
				w.Scheduler().Yield()
			}
			x.engine.Crash()
		})
		for range 100 {
			if wait[0] && wait[1] {
				break
			}
			w.NoError(w.Scheduler().Sleep(w.Scope(), "operators", time.Second))
		}
		w.Require(wait[0] && wait[1], "L9.progress", "the operators have no answers")
		w.StopFaults()
		x.engine.StopFaults()
		w.NoError(w.Scheduler().Sleep(w.Scope(), "settle", 2*time.Minute))
		end := x.decided(x.engine.Peek)
		// The first deployment, two activations, and each of the two that are not active has retired.
		w.Require(end.Number == 5, "L9.once", "%d decisions were made: %v", end.Number, end)
		for _, e := range nodes {
			active, draining := e.Active()
			w.Require(active == end.Active && len(draining) == 0, "L9.end", "active %s, draining %v, the store says %s", active, draining, end.Active)
			e.Close()
		}
	}, sim.Steps(60_000), sim.Runs(300))
}

// activates makes a deployment active, once it is answered.
func (x *outside) activates(e *engine.Engine, id string) {
	x.NoError(x.Scheduler().Sleep(x.Scope(), "begins", time.Duration(x.Choose("begins", 3))*time.Millisecond))
	for range 50 {
		err := e.Activate(x.Scope(), x.deployment(id))
		durable := x.decided(x.engine.PeekDurable)
		if err == nil {
			x.Require(durable.By[id] > 0, "L9.durable", "%s was answered as active, and its decision is not durable: %v", id, durable)
			return
		}
		x.Logf("activate %s: %v", id, err)
		x.Require(errors.Is(err, store.ErrUnavailable) || errors.Is(err, deploy.ErrUnknown), "L9.refused", "activate %s: %v", id, err)
		x.NoError(x.Scheduler().Sleep(x.Scope(), "again", time.Duration(x.Choose("again", 3))*time.Second))
		landed := x.decided(x.engine.Peek).By[id] > 0
		if errors.Is(err, deploy.ErrUnknown) && landed {
			return
		}
		x.Require(!landed, "L9.refused", "%s was refused, and is decided: %v", id, err)
	}
	x.Require(false, "L9.progress", "%s was never activated", id)
}
