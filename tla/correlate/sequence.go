package correlate

import (
	"github.com/millrace-dev/millrace/core/store"
	"github.com/millrace-dev/millrace/core/store/step"
	"github.com/millrace-dev/millrace/tla/trace"
	"github.com/millrace-dev/millrace/tla/value"
)

// Call is one call that a test makes: the delivery of ("paid", "k") is resolved, enters what it resolved to and ends that, or
// somebody else takes an instance, leaves it waiting for (Channel, Key), ended when that is empty, or gives it up.
type Call struct {
	Name         string // resolve, enter, resume, take, step or free
	Instance     store.InstanceID
	Channel, Key string
}

// Given is where the instances of the sequences wait in the beginning.
var Given = map[store.InstanceID][2]string{"a": {"paid", "k"}, "b": {"sent", "k"}}

// Sequences returns sequences of calls that together take every edge of the graph that they span in Correlate.
func Sequences() (*trace.Plan[Call], error) {
	spec, err := protocol.Sequences("Sequence")
	if err != nil {
		return nil, err
	}
	b := newBinding(spec)
	p := planner{spec: spec, b: b}
	p.delivery()
	for _, id := range []store.InstanceID{"a", "b"} {
		p.others(id)
	}
	d := step.Dump{Instances: map[store.InstanceID]store.Instance{}}
	for _, id := range []store.InstanceID{"a", "b"} {
		w := Given[id]
		d.Aliases = append(d.Aliases, store.Alias{Channel: w[0], Key: w[1], Instance: id, Generation: 1})
		d.Instances[id] = store.Instance{
			Head:       store.Head{Claim: store.Claim{Instance: id, Epoch: 1}, Status: store.Running},
			Generation: 1, Waits: []store.Wait{{Generation: 1, Channel: w[0], Key: w[1]}},
		}
	}
	return p.Cover(spec, b.state(d), nil, 50_000, 20)
}

type planner struct {
	trace.Planner[Call]
	spec *trace.Spec
	b    *binding
}

func (p *planner) add(c Call, events ...trace.Event) { p.Add(c.Name, c, events...) }

func event(action string, args ...value.Value) trace.Event {
	return trace.Event{Action: action, Args: args}
}

func (p *planner) delivery() {
	me, no, yes := value.MakeInt(1), value.Bool(false), value.Bool(true)
	for _, found := range []value.Value{no, yes} {
		p.add(Call{Name: "resolve"}, event("Resolve", me, p.b.key("paid", "k"), p.spec.Str("paid"), found))
	}
	p.add(Call{Name: "enter"}, event("Back", me, yes))
	for _, id := range []string{"a", "b"} {
		i := p.spec.Str(id)
		p.add(Call{Name: "enter"}, event("LandTake", me, i, yes))
		p.add(Call{Name: "enter"}, event("LandTake", me, i, no), event("LandFree", me, i), event("Back", me, no))
		p.add(Call{Name: "resume"}, event("LandCommit", me, i, p.b.none, p.b.none))
	}
}

func (p *planner) others(id store.InstanceID) {
	other, i := p.spec.Model("Other"), p.spec.Str(string(id))
	p.add(Call{Name: "take", Instance: id}, event("LandTake", other, i, value.Bool(false)))
	p.add(Call{Name: "free", Instance: id}, event("LandFree", other, i))
	p.add(Call{Name: "step", Instance: id}, event("LandCommit", other, i, p.b.none, p.b.none))
	for _, to := range [][2]string{{"paid", "k"}, {"sent", "k"}} {
		p.add(Call{"step", id, to[0], to[1]}, event("LandCommit", other, i, p.b.key(to[0], to[1]), p.spec.Str(to[0])))
	}
}
