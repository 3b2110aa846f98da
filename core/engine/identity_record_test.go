package engine_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/millrace-dev/millrace/core/flow"
	"github.com/millrace-dev/millrace/core/sched"
	"github.com/millrace-dev/millrace/core/store"
)

// recorder is a store that tells every step that it commits, in the words of the reference.
type recorder struct {
	store.Store
	actor     *actor
	names     map[store.InstanceID]string // the deliveries that started them
	instances map[string]*picture
	effects   map[string]string // of channel and delivery
	log       []string
}

// picture is what an instance was after its last commit.
type picture struct {
	snapshot *flow.Snapshot
	waits    map[uint64]store.Wait
	paths    map[uint64]string // of all waits that ever were
}

// Commit tells the step when it has happened. The engine sees what the store says and nothing else.
func (r *recorder) Commit(scope *sched.Scope, s *store.Step) (store.Ticket, error) {
	ticket, err := r.Store.Commit(scope, s)
	if err == nil {
		r.record(s)
	}
	return ticket, err
}

func (r *recorder) record(s *store.Step) {
	name := r.names[s.Claim.Instance]
	p := r.instances[name]
	if p == nil {
		p = &picture{waits: map[uint64]store.Wait{}, paths: map[uint64]string{}}
		r.instances[name] = p
	}
	snapshot, err := flow.Decode(s.Snapshot)
	r.actor.NoError(err)
	var generation uint64
	if n, _ := fmt.Sscanf(s.Cause, "timer/"+string(s.Claim.Instance)+"/%d", &generation); n == 1 {
		r.log = append(r.log, fmt.Sprintf("fired %s %s at %d", name, p.paths[generation], r.seconds(p.waits[generation].Due)))
	}
	p.snapshot = snapshot
	for _, g := range s.Close {
		delete(p.waits, g)
	}
	for _, w := range s.Open {
		p.waits[w.Generation] = w
	}
	for i := range snapshot.Tokens {
		if t := &snapshot.Tokens[i]; t.Phase == flow.Waiting {
			p.paths[t.Wait] = p.pathOf(t)
		}
	}
	if s.Inbox != nil {
		channel, _, _ := strings.Cut(s.Inbox.Channel, "\x1f")
		if r.effects == nil {
			r.effects = map[string]string{}
		}
		r.effects[channel+" "+s.Inbox.ID] = map[bool]string{true: "started", false: "resumed " + name}[s.Spawn]
	}
	r.log = append(r.log, "commit "+name)
	r.log = append(r.log, r.state(p, s.Status)...)
}

// seconds is a time as the reference counts it.
func (r *recorder) seconds(t time.Time) int {
	if t.IsZero() {
		return 0
	}
	return int(t.Sub(r.actor.begun) / time.Second)
}

func (p *picture) token(id uint64) *flow.Token {
	i := slices.IndexFunc(p.snapshot.Tokens, func(t flow.Token) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	return &p.snapshot.Tokens[i]
}

func (p *picture) pathOf(t *flow.Token) string {
	path := "/" + t.Element
	for at := p.token(t.Scope); at != nil; at = p.token(at.Scope) {
		path = "/" + at.Element + path
	}
	return path
}

func (p *picture) path(generation uint64) string { return p.paths[generation] }

// task is the generation of the first wait at a path, of an external task that is held under a lock, or one that is not there.
func (p *picture) task(path string, lock uint64, now time.Time) uint64 {
	if p == nil {
		return 0
	}
	first := uint64(0)
	for i := range p.snapshot.Tokens {
		t := &p.snapshot.Tokens[i]
		held := t.Job == nil || t.Job.Lease.Number == lock && t.Job.Lease.Held(now)
		if t.Phase == flow.Waiting && p.pathOf(t) == path && held && (first == 0 || t.Wait < first) {
			first = t.Wait
		}
	}
	return first
}

// stuck is the token that is stuck at a path, or one that is not there.
func (p *picture) stuck(path string) uint64 {
	if p == nil {
		return 0
	}
	for i := range p.snapshot.Tokens {
		if t := &p.snapshot.Tokens[i]; t.Incident != nil && p.pathOf(t) == path {
			return t.ID
		}
	}
	return 0
}

// state is the picture in the reference's words.
func (r *recorder) state(p *picture, status store.Status) []string {
	lines := variablesOf("", &p.snapshot.Variables)
	if status.Terminal() {
		lines = append(lines, "  "+status.String())
	}
	for i := range p.snapshot.Tokens {
		t := &p.snapshot.Tokens[i]
		path := p.pathOf(t)
		lines = append(lines, variablesOf(path, t.Local)...)
		switch {
		case t.Incident != nil:
			lines = append(lines, fmt.Sprintf("  stuck %s %s", path, t.Incident.Code))
		case t.Phase == flow.Joining:
			lines = append(lines, fmt.Sprintf("  held %s by %s", path, t.Via))
		case t.Phase == flow.Waiting:
			lines = append(lines, "  wait "+path+" "+r.wait(p, t))
		}
	}
	slices.Sort(lines)
	return lines
}

func (r *recorder) wait(p *picture, t *flow.Token) string {
	w := p.waits[t.Wait]
	switch flow.WaitKind(w.Data) {
	case flow.ForTime:
		return fmt.Sprintf("timer due %d", r.seconds(w.Due))
	case flow.ForMessage:
		key, err := json.Marshal(t.Key)
		r.actor.NoError(err)
		return fmt.Sprintf("message %s key %s", t.Message, key)
	case flow.ForWorker:
		j := t.Job
		return fmt.Sprintf("task %s retries %d offered %d lock %d until %d", j.Type, j.Retries, r.seconds(j.At), j.Lease.Number, r.seconds(j.Lease.Until))
	default:
		return "user"
	}
}

func variablesOf(path string, v *flow.Variables) []string {
	if v == nil || v.Context == nil {
		return nil
	}
	var lines []string
	for i := range v.Len() {
		e := v.At(i)
		lines = append(lines, fmt.Sprintf("  variable %s.%s = %s", path, e.Key, e.Value))
	}
	return lines
}
